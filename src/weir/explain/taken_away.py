# SPDX-License-Identifier: Apache-2.0
"""A core that was taken away from its polling loop for a good part of the time, and who had it meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from weir.base.si import US_PER_S
from weir.explain.evidence import share
from weir.explain.trial import Analysis
from weir.results.explanation import Evidence, Limit
from weir.results.result import Trial

TAKEN_SHARE = 0.1
"""A core that the host has for a larger share of the time is oversubscribed."""
EXPLAINS = 0.5
"""Of the time that a core was away: programs that had it for so much of it are the cause."""
_NAMED = 3
_HOST, _SLOWED = "host", "slowed"
_SAID = {
    _HOST: "the host: a hypervisor, or a program that was not recorded",
    _SLOWED: "worked slower than at its best: a neighbour on its physical core, or a lower clock",
}


def taken_away(one: Analysis) -> tuple[Limit, tuple[Evidence, ...]] | None:
    """The core that was away for longest, if that was long; with what shows it."""
    used = {core.number for core in one.cores}
    stalls = [stall for stall in one.trial.stalls if stall.core in used]
    worst = max(stalls, key=lambda stall: stall.host_us, default=None)
    if worst is None or worst.host_us < TAKEN_SHARE * one.trial.duration_s * US_PER_S:
        return None
    taken = min(1.0, worst.host_us / US_PER_S / one.trial.duration_s)  # stalls are counted in the drain too
    had = had_us(one.trial, worst.core)
    who = _who(one.trial, worst.core, had, taken * one.trial.duration_s * US_PER_S)
    limit = Limit(
        kind="oversubscription",
        name=f"core {worst.core}",
        core=worst.core,
        sentence=f"Core {worst.core} was taken away for {taken:.0%} of the time: {who}.",
    )
    return limit, (
        share(f"core {worst.core} taken away", taken, "the kernel's clock of the thread stood still"),
        Evidence(what="longest stall", value=worst.longest_us, unit="us"),
        *_rows(worst.core, had),
    )


def had_us(trial: Trial, core: int) -> Counter[str]:
    """By who had it, as the trial recorded: how long."""
    found: Counter[str] = Counter()
    end_us = trial.duration_s * US_PER_S
    for one in trial.left_out:
        if one.core == core:
            found[one.by] += max(0, round(min(one.to_us, end_us) - max(one.from_us, 0.0)))
    return found


def _who(trial: Trial, core: int, had: Counter[str], away_us: float) -> str:
    """In words. A program's time is in that of the host too."""
    programs = [(by, us) for by, us in had.most_common() if by not in _SAID and us]
    polled = any(area.kind == "pmd" and area.core == core for area in trial.areas)
    switch = ["the switch polls there too"] if polled else []
    if sum(us for _, us in programs) >= EXPLAINS * away_us:
        longest, us = programs[0]
        others = f", {len(programs) - 1} more for less" if programs[1:] else ""
        return "; ".join([f"{longest} had it for {us / 1e3:.1f} ms{others}", *switch])
    if switch:
        return switch[0]
    if had[_HOST] >= EXPLAINS * away_us:
        return f"by {_SAID[_HOST]}"
    return "other programs, or guests, run there"


def _rows(core: int, had: Counter[str]) -> Iterator[Evidence]:
    for by, us in had.most_common(_NAMED):
        what = {_HOST: f"core {core} away", _SLOWED: f"core {core} slowed"}.get(by, f"core {core}: {by}")
        yield Evidence(what=what, value=us, unit="us", note=_SAID.get(by, "had the core"))
