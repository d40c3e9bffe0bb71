# SPDX-License-Identifier: Apache-2.0
"""Chains of a suite's cases, as tables and sentences: rates, delays, and where every packet went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from weir.lab.frames import frame_label
from weir.report import doubts, numbers, rates
from weir.results.chains import ChainLoad
from weir.results.result import Throughput, Trial
from weir.results.verification import SuiteResult

_PLACES = 3
_BY_REMARK = ("S", "R")
"""Letters that leave something to say of each rate that has them."""


class Table(NamedTuple):
    """`words`: columns of text, the first ones."""

    title: str
    head: tuple[str, ...]
    rows: list[list[str]]
    words: int


def tables(suite: SuiteResult) -> Iterator[Table]:
    """Those that have rows; none of a suite without chains."""
    loads = [(case.name, load) for case in suite.cases for load in case.chains]
    for one in (
        Table("Rates", _RATES, list(_rates(loads)), 4),
        Table("Latency", _DELAYS, list(_delays(loads)), 4),
        Table("Where every packet of the trials went", _LEDGER, list(_ledger(loads)), 3),
    ):
        if one.rows:
            yield one


_Named = list[tuple[str, ChainLoad]]
_RATES = ("case", "frame", "goal", "letters", "flows", "pps", "Mbit/s (L1)", "times the first")
_DELAYS = ("case", "frame", "load", "direction", "flows", "pps", "P50, µs", "P99, µs", "max, µs", "lost")
_LEDGER = (
    "case", "frame", "most was lost at", "flows", "trials", "not used", "offered", "delivered", "lost",
    "unaccounted for",
)  # fmt: skip


def _rates(loads: _Named) -> Iterator[list[str]]:
    for name, load in loads:
        for one in load.case.throughput:
            yield [
                name,
                frame_label(load.case.frame),
                f"{one.goal} (loss {numbers.share(one.goal_loss_ratio)})",
                rates.flags(one) or numbers.NONE,
                str(load.flows),
                _pps(one),
                f"{one.l1_bps / 1e6:,.1f}" if one.l1_bps is not None else numbers.NONE,
                _ratio(one, _first(loads, load, one.goal)),
            ]


def _pps(one: Throughput) -> str:
    """ "11,240", or of a search that ran out of time "9,800–11,300"."""
    ends = one.interval_pps or ((one.load_pps,) if one.load_pps is not None else ())
    return "–".join(f"{end:,.0f}" for end in ends) or numbers.NONE


def _first(loads: _Named, load: ChainLoad, goal: str) -> Throughput | None:
    """Of the same chain, traffic and goal in the first way to build it."""
    return next(
        (
            each
            for _, other in loads
            if (other.chain, other.case.frame, other.flows) == (load.chain, load.case.frame, load.flows)
            for each in other.case.throughput
            if each.goal == goal
        ),
        None,
    )


def _ratio(one: Throughput, base: Throughput | None) -> str:
    times = rates.compared(one, base)
    return times.text if isinstance(times, rates.Ratio) and times is not rates.ITSELF else numbers.NONE


def _delays(loads: _Named) -> Iterator[list[str]]:
    """Of repeats the worst, by which the service level is judged; it judges no first packets."""
    for name, load in loads:
        for point in load.case.delays:
            used = [trial for trial in point.trials if trial.valid and not trial.disturbed]
            streams = [stream for trial in used or point.trials[-1:] for stream in trial.streams]
            for number in dict.fromkeys(one.stream for one in streams):
                its = [one for one in streams if one.stream == number]
                late = [one.latency for one in its if one.latency is not None]
                times = (
                    [one.p50_us for one in late],
                    [one.p99_us for one in late],
                    [one.max_us for one in late],
                )
                lost = (1 - one.delivered / one.offered for one in its if one.offered)
                yield [
                    name,
                    frame_label(load.case.frame),
                    f"{point.label}{_of_repeats(point.trials, used)}",
                    its[0].direction,
                    str(load.flows),
                    f"{point.load_pps:,.0f}",
                    *(numbers.in_us(_worst(each)) for each in times),
                    numbers.share(_worst(lost)),
                ]


def _of_repeats(trials: Sequence[Trial], used: Sequence[Trial]) -> str:
    """Which of them a row is of, where that is not plain."""
    if not used:
        return " (disturbed)" if any(trial.valid for trial in trials) else " (not valid)"
    if len(trials) == 1:
        return ""
    left = len(trials) - len(used)
    return f" (worst of {len(used)}{f', {left} not used' if left else ''})"


def _worst(values: Iterable[float | None]) -> float | None:
    return max((one for one in values if one is not None), default=None)


def _ledger(loads: _Named) -> Iterator[list[str]]:
    for name, load in loads:
        its = load.ledger()
        lost = its.offered - its.delivered
        places = [f"{one.place} ({one.reason}) {one.packets:,}" for one in its.lost[:_PLACES]]
        yield [
            name,
            frame_label(load.case.frame),
            ", ".join(places) or "nowhere",
            str(load.flows),
            str(its.trials),
            str(its.not_used),
            *(numbers.count(packets) for packets in (its.offered, its.delivered, lost, its.residual)),
        ]


def sentences(suite: SuiteResult) -> list[str]:
    """What to bear in mind of rates, what the letters mean, and what all of it rests on."""
    loads = [load for case in suite.cases for load in case.chains]
    every = [(load, one) for load in loads for one in load.case.throughput]
    said = [f"{load.title}, {one.goal}: {one.why}" for load, one in every if one.why]
    said += [
        f"{load.title}, {one.goal}: {remark}."
        for load, one in every
        for kind, remark, _ in doubts.of_rate(one, load.case)
        if kind in _BY_REMARK
    ]
    letters = dict.fromkeys(letter for _, one in every for letter in rates.flags(one))
    said += [f"{letter}: {rates.FLAGS[letter]}." for letter in rates.FLAGS if letter in letters]
    ceilings = {
        (load.case.frame, load.case.ceiling.max_pps) for load in loads if load.case.ceiling is not None
    }
    said += [
        f"The tester alone, in loopback, with frames of {frame_label(frame)}: {pps:,.0f} pps."
        for frame, pps in sorted(ceilings)
    ]
    said += [sentence for load in loads for sentence in load.fidelity]
    return list(dict.fromkeys(said))


def found(load: ChainLoad) -> str:
    """ "NDR 11.24 kpps, PDR ≥12.00 kpps (T)", with the letters of the table; an answer that is none by its
    reason."""
    return load.case.problem or ", ".join(map(_said, load.case.throughput)) or "nothing was found"


def _said(one: Throughput) -> str:
    rate = f"{one.goal} {rates.bounded(one)}" if one.load_pps is not None else f"no {one.goal}"
    letters = rates.flags(one)
    return f"{rate} ({letters})" if letters else rate


def summary(load: ChainLoad) -> str:
    """ "PVP generic, 64 B, 1 flow: NDR 11.24 kpps, PDR 12.00 kpps; 81 trials, …"."""
    its = load.ledger()
    return (
        f"{load.title}: {found(load)}; {its.trials} trials, "
        f"{its.offered:,} offered = {its.delivered:,} delivered + "
        f"{its.offered - its.delivered - its.residual:,} lost, {its.residual} unaccounted for"
    )
