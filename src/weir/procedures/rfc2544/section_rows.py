# SPDX-License-Identifier: Apache-2.0
"""The RFC 2544 report as tables: one a test, with the rows that the RFCs ask for."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weir.lab.frames import frame_label
from weir.report import doubts, numbers, rates, summary
from weir.report.sections import PlainTable
from weir.results.result import Case, Result, Setup, Throughput
from weir.results.rfc2544 import Deviation, Rfc2544


@dataclass(frozen=True)
class Reported:
    """One frame size on one built chain."""

    setup: Setup
    case: Case
    report: Rfc2544

    @property
    def name(self) -> str:
        """ "direct PVP"."""
        return self.setup.title

    @property
    def frame(self) -> str:
        """ "64", "IMIX a7d4g"."""
        return frame_label(self.case.frame)


def reported(result: Result) -> list[Reported]:
    """All, in stored order; empty for a run that was no RFC 2544 run."""
    return [Reported(setup, case, case.rfc2544) for setup, case in result.cases() if case.rfc2544 is not None]


def tables(result: Result) -> Iterator[PlainTable]:
    """In the order of the RFC's sections; tests that were not made have none."""
    every = reported(result)
    for build in (_throughput, _latency, _frame_loss, _bursts, _recovery, _resets):
        table = build(every)
        if table.lines:
            yield table


def findings(result: Result) -> Iterator[str]:
    """The throughput as a share of the maximum, over frame sizes, and whether all was as the RFCs ask."""
    for name in dict.fromkeys(one.name for one in reported(result)):
        every = [one for one in reported(result) if one.name == name]
        shares = [
            (found.load_pps / one.report.max_pps, one, found)
            for one in every
            for found in one.case.throughput[:1]
            if found.load_pps and one.report.max_pps
        ]
        if shares:
            low, high = (pick(shares, key=lambda each: each[0]) for pick in (min, max))
            span = " to ".join(_named_share(*each[1:]) for each in ((low,) if low is high else (low, high)))
            yield f"{name} has a throughput without loss of {span} of the {every[0].report.max_is}'s maximum."
    found = len(deviations(result))
    if reported(result):
        differs = (
            f"differs from what the RFCs ask in {found} points, listed below"
            if found
            else "is as the RFCs ask"
        )
        yield f"The run {differs}."


def deviations(result: Result) -> list[tuple[Deviation, list[str]]]:
    """Each once, with the frame sizes that it is for; [] means all of them."""
    every = reported(result)
    where: dict[tuple[str, str, str], tuple[Deviation, list[str]]] = {}
    for one in every:
        for deviation in one.report.deviations:
            key = deviation.clause, deviation.asked, deviation.ran
            where.setdefault(key, (deviation, []))[1].append(f"{one.name} {one.frame}")
    return [(deviation, [] if len(at) == len(every) else at) for deviation, at in where.values()]


def _named_share(one: Reported, found: Throughput) -> str:
    """ "50.1 % (64 B)"; with what a reader must know before quoting it."""
    flags = rates.flags(found)
    where = summary.sizes(one.case.frame) + (f"; {flags}, read with care" if flags else "")
    return f"{_share(found, one.report.max_pps)} ({where})"


def _share(found: Throughput, max_pps: float) -> str:
    """Of the maximum; of a search that ran out of time the interval."""
    ends_pps = found.interval_pps or (found.load_pps,)
    return "–".join(numbers.percent(pps / max_pps if pps and max_pps else None) for pps in ends_pps)


def _lines(every: list[Reported], cells: Callable[[Reported], Iterator[list[str]]]) -> list[list[str]]:
    return [[one.name, one.frame, *line] for one in every for line in cells(one)]


def _throughput(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        for found in one.case.throughput:
            yield [
                "MLRsearch" if found.goal == "throughput" else "bisection",
                rates.mpps(found),
                numbers.mpps(one.report.max_pps),
                _share(found, one.report.max_pps),
                numbers.gbps(None if found.out_of_time else found.l1_bps),
                found.status,
                rates.flags(found),
            ]

    head = ("system", "frame", "search", "Mpps", "maximum, Mpps", "of it", "L1 Gbit/s", "", "")
    said = sorted({letter for one in every for found in one.case.throughput for letter in rates.flags(found)})
    meant = "".join(f" {letter}: {rates.FLAGS[letter].partition(':')[0]}." for letter in said)
    note = f"The fastest rate without loss, all directions together.{meant}"
    return PlainTable("Throughput (RFC 2544, 26.1)", head, _lines(every, cells), 3, note)


def _latency(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        test = one.report.latency
        for found in test.directions if test else ():
            latency = found.latency
            yield [
                numbers.ARROWS.get(found.direction, found.direction),
                numbers.mpps(test.load_pps if test else None),
                str(len(found.tagged_us)),
                *map(
                    numbers.in_us,
                    (
                        found.mean_us,
                        latency.min_us,
                        latency.mean_us,
                        latency.p50_us,
                        latency.p90_us,
                        latency.p99_us,
                        latency.p999_us,
                        latency.p9999_us,
                        latency.max_us,
                        found.late_max_us,
                    ),
                ),
            ]

    quantiles = ("min", "mean", "P50", "P90", "P99", "P99.9", "P99.99", "max", "late")
    head = ("system", "frame", "", "Mpps", "N", "tagged mean", *quantiles)
    note = (
        "µs, one way, at the throughput. N and tagged mean: one frame of each trial, as the RFC has it; "
        "the rest: all frames of the same trials together, from when each was due; late: the most by which "
        "the tester sent one too late, which is part of its latency."
    )
    return PlainTable("Latency (RFC 2544, 26.2)", head, _lines(every, cells), 3, note)


def _frame_loss(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        test = one.report.frame_loss
        for step in test.steps if test else ():
            lost = numbers.share(step.loss_ratio) if step.why is None else "no valid trial"
            others = numbers.percent(step.left_out_share) if step.left_out_share else ""
            rest = "" if step.counted_loss_ratio is None else numbers.share(step.counted_loss_ratio)
            yield [f"{step.share:.0%}", numbers.mpps(step.load_pps), lost, others, rest]

    head = ("system", "frame", "of maximum", "Mpps", "lost", "others had", "lost else")
    note = (
        "From the maximum rate down until two successive trials lose nothing. Others had: of the time, "
        "in which another program or the host had a core; lost else: of the frames of the rest of it."
    )
    return PlainTable("Frame loss rate (RFC 2544, 26.3)", head, _lines(every, cells), 2, note)


def _bursts(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        test = one.report.back_to_back
        if test is None:
            return
        spread = numbers.NONE
        if test.min_frames is not None and test.max_frames is not None:
            deviation = numbers.NONE if test.stdev_frames is None else f"{test.stdev_frames:.0f}"
            spread = f"{test.min_frames}, {test.max_frames}, {deviation}"
        yield [
            numbers.NONE if test.average_frames is None else f"{test.average_frames:.0f}",
            spread,
            numbers.time_s(test.implied_s),
            numbers.time_s(test.corrected_s),
            numbers.mpps(test.max_frame_rate_pps),
            numbers.mpps(test.throughput_pps),
            str(test.repeats),
            str(test.step_frames),
        ]

    head = (
        "system",
        "frame",
        "average, frames",
        "min, max, stdev",
        "buffer, implied",
        "corrected",
        "maximum, Mpps",
        "processed, Mpps",
        "N",
        "step, frames",
    )
    note = (
        "The longest burst without loss, of one direction while the other has the same. Rates are of one "
        "direction: the maximum, and the throughput, at which headers are processed."
    )
    return PlainTable("Back-to-back frames (RFC 2544, 26.4; RFC 9004)", head, _lines(every, cells), 2, note)


def _recovery(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        test = one.report.recovery
        if test is not None:
            yield [
                numbers.mpps(test.overload_pps),
                numbers.mpps(test.recovery_pps),
                numbers.time_s(test.average_s),
                numbers.time_s(max(test.times_s, default=None)),
                str(len(test.times_s)),
                str(test.unresolved),
            ]

    head = ("system", "frame", "overload, Mpps", "then, Mpps", "recovery", "longest", "N", "not recovered")
    note = "From the cut of the rate until the last lost frame was sent."
    return PlainTable("System recovery (RFC 2544, 26.5)", head, _lines(every, cells), 2, note)


def _resets(every: list[Reported]) -> PlainTable:
    def cells(one: Reported) -> Iterator[list[str]]:
        for test in one.report.resets:
            if test.what is None:
                continue
            yield [
                test.what,
                numbers.mpps(test.load_pps),
                f"{statistics.mean(test.lost_frames):.0f}" if test.lost_frames else numbers.NONE,
                numbers.time_s(test.loss_average_s),
                numbers.time_s(test.timestamp_average_s),
                _range(test.by_timestamp_s),
                str(len(test.by_loss_s)),
                str(test.unresolved),
            ]

    head = (
        "system",
        "frame",
        "reset",
        "Mpps",
        "lost",
        "by loss",
        "by time stamps",
        "least, most",
        "N",
        "not seen to end",
    )
    note = (
        "At the throughput, averages of N trials; times of the slower direction: lost frames by the offered "
        "rate, and from the last frame before to the first one after (RFC 6201, 1.3)."
    )
    return PlainTable("Reset (RFC 2544, 26.6; RFC 6201)", head, _lines(every, cells), 3, note)


def _range(times_s: list[float]) -> str:
    return f"{numbers.time_s(min(times_s))}, {numbers.time_s(max(times_s))}" if times_s else numbers.NONE


def remarks(result: Result) -> list[str]:
    """Why a test has no number, or what to bear in mind."""
    said: dict[str, list[str]] = {}
    for one in reported(result):
        tests = (
            ("latency", one.report.latency),
            ("back-to-back", one.report.back_to_back),
            ("recovery", one.report.recovery),
            *(("reset", test) for test in one.report.resets),
        )
        for name, test in tests:
            if test is not None and test.why is not None:
                said.setdefault(f"{name}: {test.why}", []).append(f"{one.name} {one.frame}")
    return [f"{', '.join(where)}: {sentence}" for sentence, where in said.items()] + doubts.sentences(result)
