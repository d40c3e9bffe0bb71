# SPDX-License-Identifier: Apache-2.0
"""What a case found, as runs are compared by it: rates, delays, and loads of connections, each with its
samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.results.case import Case
from weir.results.connections import of_case as connections_of

Unit = Literal["pps", "us", "per_s", "connections", "bps"]
"""Packets a second; microseconds; connections or transactions a second; connections at the same time; payload
in bit/s."""
LESS_IS_BETTER: frozenset[Unit] = frozenset({"us"})
UNITS_OF_GOALS: dict[str, Unit] = {
    "new-connections": "per_s",
    "concurrent-connections": "connections",
    "transactions": "per_s",
    "throughput": "bps",
}
"""Of connections."""


@dataclass(frozen=True)
class Figure:
    """One rate, delay or load."""

    what: str
    """A goal, "NDR"; a delay with its load, "latency P99 at 50% PDR"; or what a given load came to, "carried
    at 1Mpps"."""
    unit: Unit
    samples: tuple[float, ...] = ()
    """Of rounds, or of repeats where there is one round; none: it was not found."""
    tester_bound: bool = False
    lab_bound: bool = False
    worse_state: bool = False
    """All that there is was measured in a worse state of the machine."""
    disturbed: bool = False
    """Others had cores for much of the time that it rests on."""
    load_pps: float | None = None
    """Of a delay, or what was carried: at which rate."""
    out_of_time: bool = False
    """The search ended with an interval, in which the samples are."""
    why: str | None = None
    """Why there is none, or what to bear in mind."""


def figures(case: Case) -> Iterator[Figure]:
    """In the order in which they are stored."""
    for rate in case.throughput:
        yield Figure(
            rate.goal,
            "pps",
            rate.samples_pps,
            rate.tester_bound,
            rate.lab_bound,
            rate.worse_state,
            rate.beside_others,
            out_of_time=rate.out_of_time and rate.load_pps is not None,
            why=rate.why,
        )
    for point in case.delays:
        if not case.throughput and not point.first_packets:  # beside a search its goals say what is carried
            yield Figure(point.carried, "pps", point.carried_pps, load_pps=point.load_pps)
        yield Figure(point.name, "us", tuple(point.samples_us), load_pps=point.load_pps)
    if (record := connections_of(case.records)) is not None:
        for found in record.found:
            unit = UNITS_OF_GOALS.get(found.goal)
            if unit is not None:
                why = found.why or (f"of a table's size: {found.full_table}" if found.full_table else None)
                yield Figure(found.goal, unit, found.samples, found.tester_bound, found.lab_bound, why=why)
