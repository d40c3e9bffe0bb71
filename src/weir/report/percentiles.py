# SPDX-License-Identifier: Apache-2.0
"""Latency by percentile, as HdrHistogram's plots have it: how long the slowest tenth, hundredth, thousandth …
of the packets took. One curve for each load and direction, all valid trials of it together, as in .hgrm.

Levels are 0, 10 … 90, 91 … 99, 99.1 … %, as far as at least one packet is beyond; then the slowest packet. A
bucket of weir-dp, at most 1 % wide, counts at its middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from weir.report import Format
from weir.report.data_formats import written
from weir.report.hdr_histogram import Recorded, no_delays, recorded
from weir.report.sections import Cell, CsvTable
from weir.results.result import Case, Result, Setup

STEPS = 9
"""Levels in each decade: 90, 91 … 98 %, then 99 %."""
COLUMNS = (
    "run", "lab", "technology", "variant", "chain", "frame", "load", "load_pps", "direction", "percentile",
    "latency_us", "packets_above", "packets", "trials",
)  # fmt: skip


@dataclass(frozen=True)
class Level:
    """One point of a curve."""

    percentile: str
    """ "99.9": in per cent; "100" is the slowest packet."""
    nines: float
    """How many nines that are: 3 of 99.9 %; of the slowest packet as far as one packet in all is."""
    latency_us: float
    above: int
    """Packets beyond the level."""


@dataclass(frozen=True)
class PercentileCurve:
    """One load in one direction."""

    setup: Setup
    case: Case
    load: str
    """As the lab says it, or what the trials were for: "50% PDR", "latency"."""
    load_pps: float
    """Both directions together."""
    direction: str
    trials: int
    packets: int
    levels: tuple[Level, ...]


def curves(result: Result) -> list[PercentileCurve]:
    """All that trials kept histograms of, in stored order; empty where none did."""
    groups: dict[tuple[int, str, str], list[Recorded]] = {}
    for one in recorded(result):
        groups.setdefault((id(one.case), one.load, one.stream.direction), []).append(one)
    return [_curve(group) for group in groups.values()]


def _curve(group: list[Recorded]) -> PercentileCurve:
    buckets: dict[float, int] = {}
    for one in group:
        for from_us, to_us, packets in one.stream.histogram:
            middle_us = (from_us + to_us) / 2
            buckets[middle_us] = buckets.get(middle_us, 0) + packets
    first = group[0]
    return PercentileCurve(
        setup=first.setup,
        case=first.case,
        load=first.load,
        load_pps=first.trial.intended_load_pps,
        direction=first.stream.direction,
        trials=len(group),
        packets=sum(buckets.values()),
        levels=tuple(_levels(buckets)),
    )


def _levels(buckets: Mapping[float, int]) -> Iterator[Level]:
    total = sum(buckets.values())
    ordered = sorted(buckets.items())
    at, seen = 0, ordered[0][1]
    for percentile, nines, above_of, of in _percentiles():
        if above_of * total < of:
            break
        # Whole numbers: at 99.9 % of 1,000 packets exactly one is above.
        rank = max(1, total - above_of * total // of)
        while seen < rank:
            at += 1
            seen += ordered[at][1]
        yield Level(percentile, nines, ordered[at][0], total - rank)
    yield Level("100", math.log10(total), ordered[-1][0], 0)


def _percentiles() -> Iterator[tuple[str, float, int, int]]:
    """Without end: the level in per cent, its nines, and the part of the packets that is above it."""
    decade = 0
    while True:
        of = 10 ** (decade + 1)
        for step in range(STEPS):
            above = STEPS + 1 - step
            decimals = max(0, decade - 1 - (step == 0))
            percentile = f"{100 - 100 * above / of:.{decimals}f}"
            yield percentile, decade + 1 - math.log10(above), above, of
        decade += 1


def as_csv(result: Result) -> str:
    """A row for each level; a head alone where no trial kept its histogram."""
    return written(CsvTable(COLUMNS, _rows(result)))


def _rows(result: Result) -> Iterator[dict[str, Cell]]:
    for one in curves(result):
        place: dict[str, Cell] = {
            "run": result.id,
            "lab": result.lab,
            "technology": one.setup.technology,
            "variant": one.setup.variant,
            "chain": one.setup.chain,
            "frame": one.case.frame,
            "load": one.load,
            "load_pps": one.load_pps,
            "direction": one.direction,
            "packets": one.packets,
            "trials": one.trials,
        }
        for level in one.levels:
            found: dict[str, Cell] = {
                "percentile": level.percentile,
                "latency_us": round(level.latency_us, 4),
                "packets_above": level.above,
            }
            yield place | found


CSV = Format("percentiles", ".percentiles.csv", as_csv, no_delays)
