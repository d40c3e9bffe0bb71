# SPDX-License-Identifier: Apache-2.0
"""Delay at given loads and verdicts on a service level, as rows for tables: worst direction, worst repeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weir.report import numbers
from weir.results.result import Case, DelayPoint, Result, Setup, StreamCount, Verdict

ARROWS = {"left-to-right": "→", "right-to-left": "←"}
HEAD = ("min", "mean", "P50", "P99", "P99.9", "max", "PDV P99.9", "IPDV P99", "jitter", "late P99")
MEANING = (
    "Delays in µs, one way, from when a packet was due, of the direction with the higher P99 (the arrow); "
    "of repeats all from the one trial with the highest P99. PDV: above the least delay (RFC 5481). IPDV: "
    "from one packet to the next, without sign (RFC 5481). jitter: RFC 3550, its highest value. late: how "
    "late the tester sent, which is part of the delay."
)


@dataclass(frozen=True)
class DelayRow:
    """One load of one case."""

    setup: Setup
    case: Case
    point: DelayPoint
    stream: StreamCount | None
    """None: no trial measured a delay."""
    valid: bool

    @property
    def load(self) -> str:
        """ "50% PDR →", "first packets, 50% PDR →"."""
        text = f"first packets, {self.point.load}" if self.point.first_packets else self.point.load
        return f"{text} {ARROWS[self.stream.direction]}" if self.stream is not None else text

    def cells(self) -> list[str]:
        """In the order of HEAD."""
        stream = self.stream
        if stream is None or stream.latency is None:
            return [numbers.NONE] * len(HEAD)
        latency, pdv, ipdv, jitter = stream.latency, stream.pdv, stream.ipdv, stream.jitter
        return [
            *(
                numbers.in_us(value)
                for value in (
                    latency.min_us,
                    latency.mean_us,
                    latency.p50_us,
                    latency.p99_us,
                    latency.p999_us,
                    latency.max_us,
                    pdv.p999_us if pdv else None,
                    ipdv.p99_size_us if ipdv else None,
                    jitter.max_us if jitter else None,
                    stream.lateness.p99_us if stream.lateness else None,
                )
            )
        ]


def delay_rows(result: Result) -> Iterator[DelayRow]:
    """All loads of all cases, in their order."""
    for setup in result.setups:
        for case in setup.cases:
            for point in case.delays:
                measured = [
                    (trial, stream)
                    for trial in point.trials
                    for stream in trial.streams
                    if stream.latency is not None and stream.direction == point.worst_direction
                ]
                worst = max(
                    (stream for _, stream in measured),
                    key=lambda stream: stream.latency.p99_us if stream.latency else 0.0,
                    default=None,
                )
                yield DelayRow(setup, case, point, worst, all(trial.valid for trial in point.trials))


def verdicts(result: Result) -> Iterator[tuple[Setup, Case, Verdict]]:
    """All of a run, those not met first."""
    every = [
        (setup, case, verdict) for setup in result.setups for case in setup.cases for verdict in case.verdicts
    ]
    yield from sorted(every, key=lambda each: each[2].met)


def verdict_cells(verdict: Verdict) -> list[str]:
    """Limit on what, where, found, limit, share of it, met."""
    where = f"{verdict.load or ''} {ARROWS.get(verdict.direction or '', '')}".strip()
    return [
        verdict.criterion,
        where,
        _value(verdict.found, verdict.unit),
        _value(verdict.limit, verdict.unit),
        numbers.NONE if verdict.share is None else f"{verdict.share:.0%}",
        "met" if verdict.met else "NOT met",
    ]


def _value(value: float | None, unit: str) -> str:
    if unit == "us":
        return numbers.us(value)
    if unit == "pps":
        return f"{numbers.mpps(value)} Mpps" if value is not None else numbers.NONE
    return numbers.share(value)
