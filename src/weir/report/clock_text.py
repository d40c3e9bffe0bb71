# SPDX-License-Identifier: Apache-2.0
"""What timed packets, and the least delay that the tester itself has, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.report import numbers
from weir.results.result import ArrivalClock, Result, Setup


def setup_clocks(setup: Setup) -> list[str]:
    """Of all its cases, each sentence once."""
    physical = setup.topology is not None and setup.topology.wire == "physical"
    said = (sentence for case in setup.cases for sentence in timing(case.clocks, physical=physical))
    return list(dict.fromkeys(said))


def timing(clocks: Sequence[ArrivalClock], *, physical: bool) -> list[str]:
    """One sentence for each direction that differs. `physical`: a card's clock might have done it."""
    told: dict[str, list[str]] = {}
    for clock in clocks:
        told.setdefault(_sentence(clock, physical=physical), []).append(clock.direction.replace("-", " "))
    return [
        sentence if len(told) == 1 else f"{' and '.join(directions).capitalize()}: {sentence}"
        for sentence, directions in told.items()
    ]


def floors(result: Result) -> Iterator[str]:
    """For each setup the latency of the tester wired to itself, over its frame sizes."""
    for setup in result.setups:
        ceilings = [case.ceiling for case in setup.cases if case.ceiling is not None]
        found = [one.latency_floor_us for one in ceilings if one.latency_floor_us is not None]
        if not found:
            continue
        least, most = numbers.us(min(found)), numbers.us(max(found))
        coarsest_ns = max(one.timestamp_resolution_ns for one in ceilings)
        yield (
            f"{setup.name} {setup.chain}: latency floor {least if least == most else f'{least} to {most}'}; "
            f"timestamps resolve {coarsest_ns:.2g} ns."
        )


def _sentence(clock: ArrivalClock, *, physical: bool) -> str:
    if clock.clock == "card":
        return (
            f"Arrivals by the network card's clock ({clock.driver}), which resolves "
            f"{clock.resolution_ns:.2g} ns and is known within {clock.uncertainty_ns:.0f} ns; times of "
            "sending by the time-stamp counter, before the card has the packet. This part of Weir was "
            "never run on hardware before."
        )
    why = f" The network card's own clock does not: {clock.why}." if physical and clock.why else ""
    return f"Software timestamps by the time-stamp counter, one for each burst.{why}"
