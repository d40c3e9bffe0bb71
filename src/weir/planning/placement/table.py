# SPDX-License-Identifier: Apache-2.0
"""The plan of a lab in the terminal: the best placement, why it is, and what else was near."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.base import packet_rate
from weir.base.cores import cpus_text
from weir.base.words import counted
from weir.report.columns import table
from weir.results.lab_plan import FrameFigures, LabPlan, PlannedPlacement

RUNNERS_UP = 5


def render(plan: LabPlan) -> str:
    """The plan as plain text; all runners-up are in its JSON."""
    return "\n".join(_lines(plan)) + "\n"


def heading(plan: LabPlan) -> str:
    """What was asked and what came of it, in one sentence."""
    asked, best = plan.asked, plan.best
    frames = ", ".join(one if ":" in one else f"{one} B" for one in asked.frames)
    required = "as much as possible" if asked.rate_pps is None else packet_rate.said(asked.rate_pps)
    within = "" if asked.latency_us is None else f" within {asked.latency_us:g} µs"
    link = "" if asked.link_bps is None else f", links of {asked.link_bps / 1e9:g} Gbit/s"
    said = f"{plan.lab} {plan.chain}: {required} of {frames}{within}, {asked.flows:,} flows{link}: "
    if asked.rate_pps is None:
        return f"{said}{_mpps(min(one.pps for one in best.figures))} Mpps on {counted(best.cores, 'core')}"
    if best.carries:
        carry = "carries" if best.cores == 1 else "carry"
        return f"{said}{counted(best.cores, 'core')} {carry} it, margin {best.margin:.0%}"
    return f"{said}nothing carries it on at most {counted(asked.cores, 'core')}; the best there is"


def figures_text(one: FrameFigures) -> str:
    """One frame size in a sentence's part."""
    frame = one.frame if ":" in one.frame else f"{one.frame} B"
    left = "" if one.margin is None else f", margin {one.margin:.0%}"
    return f"{_mpps(one.pps)} Mpps of {frame} ({_interval(one)} at 95 %){left}, limited by {one.limited_by}"


def _lines(plan: LabPlan) -> Iterator[str]:
    yield heading(plan)
    yield ""
    rows = [("", "", "cores")]
    rows += [(one.function, one.text(), ",".join(map(str, one.cores))) for one in plan.best.functions]
    yield from table([*rows, ("tester", "", ",".join(map(str, plan.best.tester)))])
    yield from (f"shares {text}" for text in plan.best.shares)
    yield ""
    yield from _table(plan, [_FIGURES, *(_figures(one) for one in plan.best.figures)])
    yield ""
    yield from plan.why
    if plan.runners_up:
        yield ""
        yield from _table(plan, [_OTHERS, *(_other(one) for one in plan.runners_up[:RUNNERS_UP])])
    yield ""
    every = "all there are" if plan.complete else "those with more areas were left out"
    carrying = "" if plan.asked.rate_pps is None else f"; {plan.carrying:,} carry it"
    yield f"{plan.placements:,} placements predicted, {every}{carrying}"
    yield f"model: {plan.model.lab}, {plan.model.created_at}, {plan.model.cpu}, {plan.model.ghz:.2f} GHz"
    if plan.written is not None:
        yield f"written: {plan.written}"
    yield from (f"– {text}" for text in dict.fromkeys((*plan.best.notices, *plan.notices)))


_P99 = "P99, µs"
_FIGURES = ("frame", "Mpps", "95 % interval", "margin", _P99, "limited by", "cores at that rate")
_OTHERS = ("next", "cores", "Mpps", "95 % interval", "margin", _P99, "limited by")


def _table(plan: LabPlan, rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Without the column of delays unless one was asked for."""
    left_out = rows[0].index(_P99) if plan.asked.latency_us is None else len(rows[0])
    return table([(*row[:left_out], *row[left_out + 1 :]) for row in rows])


def _figures(one: FrameFigures) -> tuple[str, ...]:
    return (
        one.frame,
        _mpps(one.pps),
        _interval(one),
        _share(one.margin),
        _p99([one]),
        one.limited_by,
        ", ".join(f"{core.core}: {core.utilisation:.0%}" for core in one.cores),
    )


def _other(one: PlannedPlacement) -> tuple[str, ...]:
    worst = min(one.figures, key=lambda figures: figures.low_pps)
    ways = "; ".join(f"{function.text()} on {cpus_text(function.cores)}" for function in one.functions)
    shared = " (shared)" if one.shares else ""
    return (
        ways + shared,
        str(one.cores),
        _mpps(worst.pps),
        _interval(worst),
        _share(one.margin),
        _p99(one.figures),
        worst.limited_by,
    )


def _interval(one: FrameFigures) -> str:
    return f"{one.low_pps / 1e6:.2f}–{one.high_pps / 1e6:.2f}"


def _p99(figures: Sequence[FrameFigures]) -> str:
    delays = [one.delay.p99_us for one in figures if one.delay is not None]
    return f"{max(delays):.3g}" if delays else "–"


def _share(margin: float | None) -> str:
    return "–" if margin is None else f"{margin:+.0%}"


def _mpps(pps: float) -> str:
    return f"{pps / 1e6:.3f}"
