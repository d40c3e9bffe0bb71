# SPDX-License-Identifier: Apache-2.0
"""What reports say of a soak's cores while others had them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weir.base.si import US_PER_S
from weir.report import numbers
from weir.results.soak import Soak, SoakInterval

TAKERS_SHOWN = 3
AWAY_SHOWN = 12
NOT_RECORDED = "somebody who was not recorded"


def away_text(soak: Soak) -> str:
    """For how long, with the shorter stalls, and who had them most."""
    had: Counter[str] = Counter()
    cores: Counter[int] = Counter()
    for core, by, us in (one for interval in soak.intervals for one in _taken(interval)):
        had[f"core {core} {by}"] += round(us)
        cores[core] += round(us)
    away_s = had.total() / US_PER_S
    known_s = {core: _known_s(soak, core) for core in cores}
    share = ", ".join(
        f"core {core}: {min(1.0, us / US_PER_S / known_s[core]):.1%} of the time{_that(soak, known_s[core])}"
        for core, us in cores.most_common(TAKERS_SHOWN)
        if known_s[core]
    )
    most = ", ".join(f"{who} {numbers.time_s(us / US_PER_S)}" for who, us in had.most_common(TAKERS_SHOWN))
    said = f"{numbers.time_s(away_s)} in all" + (f" ({share})" if share else "")
    return f"{said}; most had {most}" if most else said


def away_lines(soak: Soak) -> Iterator[list[str]]:
    """A line for each core and who had it, longest first: in all, as a share of the time under load of which
    it is known, the most in one interval, and when that was."""
    had: dict[tuple[int, str], list[tuple[float, SoakInterval]]] = {}
    for one in soak.intervals:
        for core, by, us in _taken(one):
            had.setdefault((core, by), []).append((us, one))
    ordered = sorted(had.items(), key=lambda item: -sum(us for us, _ in item[1]))
    for (core, by), spans in ordered[:AWAY_SHOWN]:
        whole_us = sum(us for us, _ in spans)
        most_us, when = max(spans, key=lambda each: each[0])
        known_s = _known_s(soak, core)
        yield [
            str(core),
            by,
            numbers.time_s(whole_us / US_PER_S),
            numbers.percent(min(1.0, whole_us / US_PER_S / known_s) if known_s else None),
            numbers.time_s(most_us / US_PER_S),
            f"{when.at[11:19]} UTC",
        ]


def unknown_text(soak: Soak) -> str | None:
    """Of which cores, and for how long, nobody knows who had them."""
    unknown: Counter[int] = Counter()
    for one in (one for interval in soak.intervals for one in interval.unrecorded):
        unknown[one.core] += round(one.us)
    if not unknown:
        return None
    cores = [f"core {core} for {numbers.time_s(us / US_PER_S)}" for core, us in sorted(unknown.items())]
    return (
        f"Who had it is not known of {', '.join(cores)}: it went from one to another more often than is kept."
    )


def _taken(interval: SoakInterval) -> Iterator[tuple[int, str, float]]:
    """Core, who, µs. What the host had is without what programs are known to have had, and without the time
    of which nobody knows."""
    known: Counter[int] = Counter()
    for one in interval.taken:
        known[one.core] += round(one.us)
        yield one.core, one.by, one.us
    unknown = {one.core: one.us for one in interval.unrecorded}
    for stall in interval.stalls:
        rest_us = stall.host_us - known[stall.core]
        unknown_us = min(rest_us, unknown.get(stall.core, 0.0))
        if unknown_us > 0:
            yield stall.core, NOT_RECORDED, unknown_us
        if rest_us > max(0.0, unknown_us):
            yield stall.core, "the host, or nobody known", rest_us - max(0.0, unknown_us)


def _known_s(soak: Soak, core: int) -> float:
    """For how long it is known whether others had the core: where a loop polls, always."""
    if any(stall.core == core for one in soak.intervals for stall in one.stalls):
        return soak.measured_s
    unknown_us = sum(gone.us for one in soak.intervals for gone in one.unrecorded if gone.core == core)
    return max(0.0, soak.measured_s - unknown_us / US_PER_S)


def _that(soak: Soak, known_s: float) -> str:
    return "" if known_s == soak.measured_s else f" that is known, {numbers.time_s(known_s)}"
