# SPDX-License-Identifier: Apache-2.0
"""A core that was taken away for a good part of the time, and who had it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base import packet_rate
from weir.base.si import MS_PER_S, US_PER_S
from weir.explain.cores import others_s, waited_share, without_loop
from weir.explain.evidence import busy, lost, share
from weir.explain.trial import LOST_SHARE, Analysis, Overflow
from weir.results import slices
from weir.results.explanation import Evidence, Limit
from weir.results.result import Trial
from weir.results.slices import HOST, QUOTA, SLOWED, Had

TAKEN_SHARE = 0.1
"""A core that the host has for a larger share of the time is oversubscribed."""
EXPLAINS = 0.5
"""Of the time that a core was away: programs that had it for so much of it are the cause."""
_NAMED = 3
_SAID = {
    HOST: "the host: a hypervisor, or a program that was not recorded",
    SLOWED: "worked slower than at its best: a neighbour on its physical core, or a lower clock",
}

_NOTES = {**_SAID, QUOTA: "was spent: a loop that would go on had to leave the core"}


def taken_away(one: Analysis) -> tuple[Limit, tuple[Evidence, ...]] | None:
    """The core that was away for longest, if that was long; with what shows it."""
    trial = one.trial
    away = {core.number: away_s(trial, core.number) for core in one.cores if not _own(trial, core.number)}
    worst = max(away, key=lambda core: away[core], default=None)
    if worst is None or away[worst] < TAKEN_SHARE * trial.duration_s:
        return None
    taken = min(1.0, away[worst] / trial.duration_s)
    limit = Limit(
        kind="oversubscription",
        name=f"core {worst}",
        core=worst,
        sentence=f"Core {worst} was taken away for {taken:.0%} of the time: {who(trial, worst)}.",
    )
    return limit, (share(f"core {worst} taken away", taken, _shown_by(trial, worst)), *rows(trial, worst))


def moment(one: Analysis, core: int, overflow: Overflow) -> tuple[Limit, tuple[Evidence, ...]]:
    """A core that was away for less, but long enough for what a queue ahead of it lost."""
    trial, away = one.trial, away_s(one.trial, core)
    says = (
        f"Core {core} was taken away for {away * MS_PER_S:.1f} ms, and {overflow.queue} overflowed then: "
        f"{who(trial, core)}."
    )
    taken = Evidence(
        what=f"core {core} taken away", value=away * US_PER_S, unit="us", note=_shown_by(trial, core)
    )
    return _stall(core, says), (taken, *rows(trial, core))


def only_while_away(one: Analysis) -> tuple[Limit, tuple[Evidence, ...]]:
    """Of a trial that lost nothing that counts: who had the core that was away for longest, unless cores were
    slowed for longer."""
    trial, queues = one.trial, one.losses.overflows
    core = max((core.number for core in one.cores), key=lambda core: away_s(trial, core), default=None)
    slowed_us = max((_had(trial, each.number).get(SLOWED, Had()).us for each in one.cores), default=0.0)
    if core is None or away_s(trial, core) * US_PER_S <= slowed_us:
        says = (
            f"Nothing yet: all that counts of {packet_rate.said(one.offered_pps)} was carried; "
            f"{trial.offered - trial.delivered:,} packets were lost in time that does not count."
        )
        return Limit(kind="nothing", name="nothing", sentence=says), (*lost(one, queues), *busy(one))
    queue = queues[0].queue if queues else "a queue"
    says = (
        f"All was carried in the time that counts: {queue} overflowed only while core {core} was away: "
        f"{who(trial, core)}."
    )
    return _stall(core, says), (*lost(one, queues), *rows(trial, core), *busy(one))


def _stall(core: int, says: str) -> Limit:
    return Limit(kind="host-stall", name=f"core {core}", core=core, sentence=says)


def away_s(trial: Trial, core: int) -> float:
    """For how long a core was not there for its areas: as weir-dp's loop there noticed that somebody else had
    it, or as was recorded who."""
    return max(_stalled_s(trial, core), others_s(trial, core))


def _stalled_s(trial: Trial, core: int) -> float:
    """Stalls are counted until the last packet has come, which may be long after the last was sent."""
    stalls = [stall for stall in trial.stalls if stall.core == core]
    known = (stall.host_us if stall.host_sending_us is None else stall.host_sending_us for stall in stalls)
    return sum(known) / US_PER_S


def _own(trial: Trial, core: int) -> bool:
    """Whether a switch's or the kernel's core lost packets without others too: of the time that counts, which
    is known where who had the core is. Then it is full of what it had."""
    known = sum(one.us for by, one in _had(trial, core).items() if by not in _SAID) / US_PER_S
    return (
        without_loop(trial, core)
        and trial.counted is not None
        and trial.counted_lost >= LOST_SHARE * trial.counted_offered
        and known >= EXPLAINS * others_s(trial, core)
    )


def _shown_by(trial: Trial, core: int) -> str:
    if _stalled_s(trial, core) >= others_s(trial, core):
        return "the kernel's clock of the thread stood still"
    if waited_share(trial, core) >= TAKEN_SHARE:
        return "its polling thread waited for it"
    return "as the kernel recorded who had it"


def _had(trial: Trial, core: int) -> dict[str, Had]:
    """By program, as the trial recorded; those with most first."""
    every = slices.takers(trial.left_out, trial.duration_s * US_PER_S).items()
    of_core = [(by, one) for (number, by), one in every if number == core]
    return dict(sorted(of_core, key=lambda item: -item[1].us))


def who(trial: Trial, core: int) -> str:
    """Had a core while it was away, in words. A program's time is in that of the host too."""
    had, away_us = _had(trial, core), min(away_s(trial, core), trial.duration_s) * US_PER_S
    programs = [(by, one) for by, one in had.items() if by not in _SAID]
    polled = any(area.kind == "pmd" and area.core == core for area in trial.areas)
    switch = ["the switch polls there too"] if polled and not without_loop(trial, core) else []
    if programs and sum(one.us for _, one in programs) >= EXPLAINS * away_us:
        by, longest = programs[0]
        name = slices.named(by, longest.threads)
        others = f", {len(programs) - 1} more for less" if programs[1:] else ""
        return "; ".join([f"{name} had it for {longest.us / 1e3:.1f} ms{others}", *switch])
    if switch:
        return switch[0]
    if HOST in had and had[HOST].us >= EXPLAINS * away_us:
        return f"by {_SAID[HOST]}"
    return "other programs, or guests, run there"


def rows(trial: Trial, core: int) -> Iterator[Evidence]:
    """Of a core that was away: its longest stall, and who had it."""
    for stall in trial.stalls:
        if stall.core == core:
            yield Evidence(what="longest stall", value=stall.longest_us, unit="us")
    for by, one in [*_had(trial, core).items()][:_NAMED]:
        name = f"core {core}: {slices.named(by, one.threads)}"
        what = {HOST: f"core {core} away", SLOWED: f"core {core} slowed"}.get(by, name)
        yield Evidence(what=what, value=round(one.us), unit="us", note=_NOTES.get(by, "had the core"))
