# SPDX-License-Identifier: Apache-2.0
"""A core that was taken away from its polling loop for a good part of the time, and who had it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir.base.si import US_PER_S
from weir.explain.evidence import share
from weir.explain.trial import Analysis
from weir.results import slices
from weir.results.explanation import Evidence, Limit
from weir.results.result import Trial
from weir.results.slices import HOST, SLOWED, Had

TAKEN_SHARE = 0.1
"""A core that the host has for a larger share of the time is oversubscribed."""
EXPLAINS = 0.5
"""Of the time that a core was away: programs that had it for so much of it are the cause."""
_NAMED = 3
_SAID = {
    HOST: "the host: a hypervisor, or a program that was not recorded",
    SLOWED: "worked slower than at its best: a neighbour on its physical core, or a lower clock",
}


def taken_away(one: Analysis) -> tuple[Limit, tuple[Evidence, ...]] | None:
    """The core that was away for longest, if that was long; with what shows it."""
    used = {core.number for core in one.cores}
    stalls = [stall for stall in one.trial.stalls if stall.core in used]
    worst = max(stalls, key=lambda stall: stall.host_us, default=None)
    if worst is None or worst.host_us < TAKEN_SHARE * one.trial.duration_s * US_PER_S:
        return None
    taken = min(1.0, worst.host_us / US_PER_S / one.trial.duration_s)  # stalls are counted in the drain too
    had = _had(one.trial, worst.core)
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


def _had(trial: Trial, core: int) -> dict[str, Had]:
    """By program, as the trial recorded; those with most first."""
    every = slices.takers(trial.left_out, trial.duration_s * US_PER_S).items()
    of_core = [(by, one) for (number, by), one in every if number == core]
    return dict(sorted(of_core, key=lambda item: -item[1].us))


def _who(trial: Trial, core: int, had: Mapping[str, Had], away_us: float) -> str:
    """In words. A program's time is in that of the host too."""
    programs = [(by, one) for by, one in had.items() if by not in _SAID]
    polled = any(area.kind == "pmd" and area.core == core for area in trial.areas)
    switch = ["the switch polls there too"] if polled else []
    if programs and sum(one.us for _, one in programs) >= EXPLAINS * away_us:
        by, longest = programs[0]
        who = slices.named(by, longest.threads)
        others = f", {len(programs) - 1} more for less" if programs[1:] else ""
        return "; ".join([f"{who} had it for {longest.us / 1e3:.1f} ms{others}", *switch])
    if switch:
        return switch[0]
    if HOST in had and had[HOST].us >= EXPLAINS * away_us:
        return f"by {_SAID[HOST]}"
    return "other programs, or guests, run there"


def _rows(core: int, had: Mapping[str, Had]) -> Iterator[Evidence]:
    for by, one in [*had.items()][:_NAMED]:
        who = f"core {core}: {slices.named(by, one.threads)}"
        what = {HOST: f"core {core} away", SLOWED: f"core {core} slowed"}.get(by, who)
        yield Evidence(what=what, value=round(one.us), unit="us", note=_SAID.get(by, "had the core"))
