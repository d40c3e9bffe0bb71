# SPDX-License-Identifier: Apache-2.0
"""A trend for people, for the annotations of GitHub's actions, and as JUnit's XML."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from weir.base.words import counted
from weir.comparison.lab_keys import named
from weir.lab.frames import frame_label
from weir.report.units import said
from weir.results.trend import LabChange, Series, Trend, TrendChange


def name(one: Series) -> str:
    """ "direct PVP 64 NDR on lab3"."""
    where = f" on {one.host}" if one.host else ""
    quick = " (quick)" if one.quick else ""
    return f"{one.way} {one.chain} {frame_label(one.frame)} {one.what}{where}{quick}"


def plain(trend: Trend) -> str:
    """Lines, regressions first."""
    changed = sum(bool(one.changes) for one in trend.series)
    worse = sum(one.regressed for one in trend.series)
    lines = [
        f"{trend.lab}: {counted(trend.runs, 'run')}, {counted(len(trend.series), 'figure')}: "
        f"{worse} on a worse level than before, {changed - worse} changed otherwise.{_without(trend)}",
        *(_lab_change(one) for one in trend.lab_changes),
    ]
    for one in trend.series:
        lines += ["", *_series(one)]
    return "\n".join(lines) + "\n"


def _without(trend: Trend) -> str:
    if not trend.without_figures:
        return ""
    runs = counted(trend.without_figures, "run")
    return f" Of {runs} besides there is none: of another kind, irregular, or out of time."


def _lab_change(one: LabChange) -> str:
    where = f" on {one.host}" if one.host else ""
    return (
        f"Keys of the lab changed with {one.run} of {one.started_at[:10]}{where}: {named(one.keys)}. A step"
        " there may be of them, and is no regression."
    )


def _series(one: Series) -> Iterator[str]:
    mark = "WORSE  " if one.regressed else ""
    level = "≥" * _at_bound(one) + _value(one, one.level)
    yield f"{mark}{name(one)}: {level}{_band(one)}, {counted(one.runs, 'run')}"
    for change in reversed(one.changes):
        yield f"  {sentence(one, change)}"
    if one.left_out:
        newest = f"{'≥' * one.latest_bound}{_value(one, one.latest)}"
        also = f"; the newest is, at {newest}" if one.latest_left_out and one.level != one.latest else ""
        yield f"  {counted(one.left_out, 'run')} left out: in a worse state of the machine, or bounds{also}"


def _at_bound(one: Series) -> bool:
    """Whether the level is no more than the newest run's bound."""
    return one.latest_bound and math.isclose(one.level, one.latest)


def _band(one: Series) -> str:
    if one.band_low is None or one.band_high is None:
        counts = " that counts" * (one.latest_left_out and one.level != one.latest)
        newest = f"the newest{counts}; " if one.runs > 1 else ""
        return f" ({newest}too few runs to tell its noise)"
    seen = f"; a step of {one.smallest_seen:.1%} would be seen" if one.smallest_seen is not None else ""
    return f" (noise band {_value(one, one.band_low)} to {_value(one, one.band_high)}{seen})"


def sentence(one: Series, change: TrendChange) -> str:
    """ "-3.1 % (9.50 to 9.21 Mpps), worse, since switching-… of 2026-01-05, Weir …"."""
    since = f"since {change.run} of {change.started_at[:10]}, Weir {change.weir}"
    keys = f": {named(change.lab_keys)}" if change.lab_keys else ""
    return (
        f"{change.change:+.1%} ({_value(one, change.before)} to {_value(one, change.after)}),"
        f" {change.outcome}, {since} (before: {change.weir_before}){keys}"
    )


def _value(one: Series, value: float) -> str:
    return said(one.unit, value)


def github(trend: Trend) -> str:
    """Workflow commands: an error for each figure on a worse level, a notice for each that
    changed otherwise: for the better, or with the lab."""
    lines = []
    for one in trend.series:
        if one.changes:
            kind = "error" if one.regressed else "notice"
            title = _escaped(f"{trend.lab}: {name(one)}").replace(":", "%3A").replace(",", "%2C")
            lines.append(f"::{kind} title={title}::{_escaped(sentence(one, one.changes[-1]))}")
    return "\n".join(lines) + ("\n" if lines else "")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def junit(trend: Trend) -> str:
    """A test case for each figure; those on a worse level failed, those with too few runs were skipped."""
    failed = sum(one.regressed for one in trend.series)
    skipped = sum(one.noise is None for one in trend.series)
    suite = ET.Element(
        "testsuite",
        name=f"weir trend {trend.lab}",
        tests=str(len(trend.series)),
        failures=str(failed),
        skipped=str(skipped),
    )
    for one in trend.series:
        case = ET.SubElement(suite, "testcase", classname=trend.lab, name=_written(name(one)))
        if one.regressed:
            said = _written(sentence(one, one.changes[-1]))
            ET.SubElement(case, "failure", message=said, type="regression").text = said
        elif one.noise is None:
            ET.SubElement(case, "skipped", message="too few runs")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _written(text: str) -> str:
    """Without what XML cannot have."""
    return "".join(one if one.isprintable() else "?" for one in text)
