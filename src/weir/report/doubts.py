# SPDX-License-Identifier: Apache-2.0
"""What to read with care: cases given up, rates that were not found or are no plain rates, and rates that
trials of the same case contradict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.lab.frames import frame_label
from weir.report import numbers, rates, summary
from weir.results.fingerprint import SAME_DISTANCE_TIMES
from weir.results.result import Case, Result, Throughput, Trial
from weir.results.rounds import UNDER_WAY, given_up
from weir.results.trial import Doubted, Purpose

CONTRADICTED_SHARE = 0.9
"""A rate that is a smaller share of what a trial carried without loss is contradicted by it; so it is by one
that lost too much of at most this share of the rate."""

UNCONFIRMED_LOSS = 0.01
"""Beyond the goal's loss ratio: what trials at the found rate may lose without a remark, since half of the
trial time at a load may miss a goal."""

SIGMAS = 3.0
"""By chance a binomial count is this many standard deviations too high once in 700 times."""

ORDER_SHARE = 1e-4
"""Of the packets that arrived: more of them behind a later one are worth a word (RFC 4737, section 4)."""

SUSTAINED: frozenset[Purpose] = frozenset({"search", "curve", "confirm", "latency", "frame-loss"})
"""Trials of one rate for some time: what they carry, a search could have found. A burst is none."""

Kind = Literal["X", "I", "L", "S", "D", "R", "U", "contradicted", "order", "note"]
TITLES: dict[Kind, str] = {
    "X": "Given up",
    "I": "Irregular (I)",
    "L": "Out of time (L)",
    "S": "Slower state (S), against the cores' best on this machine",
    "D": "Disturbed (D), share of the time that was left out",
    "R": "One round or repeat alone (R)",
    "U": "Unsteady (U): just above it packets were lost in pauses, or far more than the load is too much",
    "contradicted": "Contradicted by a valid trial of the same case",
    "order": "Out of order, share of the packets",
}
"""Of those that a short report names."""
SET_ASIDE: Mapping[Doubted, str] = {
    "held": "with packets of an earlier one, or never empty",
    "accounting": "with unaccounted packets",
    "frames_changed": "with changed frames",
}


@dataclass(frozen=True)
class Doubt:
    """One of a case, of the goals that it is for."""

    kind: Kind
    place: str
    goals: tuple[str, ...]
    detail: str
    short: str = ""
    """The same in a list of its kind."""

    @property
    def sentence(self) -> str:
        """ "direct PVP, frame 64: NDR and PDR irregular: …"."""
        return f"{self.place}: {' and '.join(self.goals)}{' ' if self.goals else ''}{self.detail}"


def sentences(result: Result) -> list[str]:
    """One for each, those of given-up cases first."""
    return [doubt.sentence for doubt in doubts(result)]


def grouped(result: Result, goal: str) -> list[str]:
    """Of one goal, in few words: a sentence for each kind, without what only explains a flag."""
    kinds: dict[Kind, list[str]] = {}
    for doubt in doubts(result):
        if goal in doubt.goals or not doubt.goals:
            kinds.setdefault(doubt.kind, []).append(f"{doubt.place} ({doubt.short})")
    return [f"{title}: {'; '.join(kinds[kind])}." for kind, title in TITLES.items() if kind in kinds]


def doubts(result: Result) -> list[Doubt]:
    """All of a result; goals of a case with the same words stand together."""
    found = [
        Doubt("X", place(setup.name, setup.chain, case), (), f"given up: {case.problem}", case.problem or "")
        for setup, case in result.cases()
        if given_up(case)
    ]
    found += [
        Doubt("note", place(setup.name, setup.chain, case), (), f"not finished: {UNDER_WAY}", UNDER_WAY)
        for setup, case in result.cases()
        if case.problem is not None and not given_up(case)
    ]
    found += [
        Doubt("note", place(setup.name, setup.chain, case), (), f"however light the load, {said}", said)
        for setup, case in result.cases()
        if case.problem is None and (said := _always_dropped(case)) is not None
    ]
    found += [
        Doubt("note", place(setup.name, setup.chain, case), (), *words)
        for setup, case in result.cases()
        if (words := _set_aside(case)) is not None
    ]
    found += [
        Doubt(
            "order",
            place(setup.name, setup.chain, case),
            (),
            *order,
        )
        for setup, case in result.cases()
        if (order := _out_of_order(case)) is not None
    ]
    same: dict[tuple[str, Kind, str, str], list[str]] = {}
    for row in summary.rows(result):
        where = place(row.setup.name, row.setup.chain, row.case)
        for kind, detail, short in of_rate(row.throughput, row.case):
            same.setdefault((where, kind, detail, short), []).append(row.throughput.goal)
    found += [
        Doubt(kind, where, tuple(goals), detail, short)
        for (where, kind, detail, short), goals in same.items()
    ]
    return found


def _out_of_order(case: Case) -> tuple[str, str] | None:
    """Which share, in words and in few, of the valid trials, or of all where none is: nobody who takes a core
    changes the order. None where it is not worth a word."""
    every = summary.measured(case)
    valid = [trial for trial in every if trial.valid]
    trials = valid or every
    delivered = sum(trial.delivered for trial in trials)
    reordered = sum(trial.reordered for trial in trials)
    if reordered <= ORDER_SHARE * delivered:
        return None
    share = numbers.share(reordered / delivered)
    which = "the valid trials" if valid else "all trials, of which none is valid,"
    return f"{share} of the packets arrived behind one that was sent later, in {which} together", share


def _always_dropped(case: Case) -> str | None:
    """What functions drop by their own decision even of a light load, so that no rate is without loss."""
    looked = (one for one in reversed(case.trials) if one.purpose == "preflight" and one.valid)
    light = next((one for one in looked if one.offered), None)
    decided = [drop for drop in light.drops if drop.decided_by is not None] if light is not None else []
    if light is None or not decided:
        return None
    where = ", ".join(f"{drop.decided_by} ({drop.reason})" for drop in decided)
    return f"{sum(drop.packets for drop in decided) / light.offered:.1%} of the packets are dropped: {where}"


def _set_aside(case: Case) -> tuple[str, str] | None:
    """Trials that say nothing since packets could not be accounted for, were of an earlier trial, or had
    changed: that another one is whole does not mend it. In words, and in few."""
    doubted = [trial for trial in (*case.curve, *case.trials) if trial.doubted]
    if not doubted:
        return None
    count = f"{len(doubted)} of {len(case.curve) + len(case.trials)} trials"
    why = Counter(kind for trial in doubted for kind in trial.doubted).most_common(1)[0][0]
    first = next(trial for trial in doubted if why in trial.doubted)
    because = " ".join(first.invalid_because)
    return (
        f"{count} were set aside, the first of them since: {because}",
        f"{count} {SET_ASIDE[why]}",
    )


def place(name: str, chain: str, case: Case) -> str:
    """ "direct PVP, frame 64"."""
    return f"{name} {chain}, frame {frame_label(case.frame)}"


def of_rate(found: Throughput, case: Case) -> Iterator[tuple[Kind, str, str]]:
    """Kind, words, and few words."""
    if found.status == "irregular":
        why = found.why or "no reason was recorded"
        yield "I", f"irregular: {why}", why.rstrip(".")
        return
    if found.interval_pps is not None:
        between = rates.said(found, " to ")
        yield "L", f"out of time: {between}{'. ' if found.why else ''}{found.why or ''}", between
    elif found.why is not None:
        yield "note", f"found: {found.why}", found.why.rstrip(".")
    worse = rates.worse_state(found)
    if worse:
        yield "S", f"found, but only while cores were {worse} than at their best on this machine", worse
    if found.disturbed:
        share = f"{found.left_out_share:.0%}"
        yield "D", f"found, but {share} of the time of the trials that bound it was left out", share
    if rates.alone(found):
        others = [one for one in found.rounds if one.load_pps != found.load_pps]
        said = ", ".join(f"{numbers.rate(one.load_pps)} {rates.worse_state(one)}".rstrip() for one in others)
        few = f"another round: {said}" if said else "the others found none"
        yield "R", f"found, but by one of {found.searches} searches alone ({few})", few
    if case.ceiling is not None and case.ceiling.refuted_by(found.load_pps):
        alone = numbers.rate(case.ceiling.max_pps)
        yield (
            "note",
            f"found above the {alone} that the tester did alone: that was measured too low on a "
            "disturbed machine, and T says nothing of this rate",
            f"{rates.said(found)}, above the tester's own {alone}",
        )
    if found.unsteady:
        yield (
            "U",
            "found, but just above it packets were lost in pauses of milliseconds, or far more than that "
            "load is too much: the system or the machine changed its speed",
            rates.said(found),
        )
    lost = found.loss_ratio
    if lost is not None and lost > found.goal_loss_ratio + UNCONFIRMED_LOSS:
        shown = numbers.share(lost)
        yield (
            "note",
            f"found, but trials that were to confirm it lost {shown}",
            f"confirming trials lost {shown}",
        )
    best, most_pps = carried(case), contradicted_pps(found, case)
    if best is not None and most_pps is not None:
        rate, most = rates.said(found), numbers.rate(most_pps)
        yield (
            "contradicted",
            f"found at {rate}, but a valid trial carried {most} without loss ({_how(best)})",
            f"{rate}, a trial carried {most}",
        )

    worst = lost_below(found, case)
    if worst is not None:
        rate, less = rates.said(found), numbers.rate(worst.intended_load_pps)
        share = numbers.share(worst.counted_loss_ratio)
        yield (
            "contradicted",
            f"found at {rate}, but a valid trial lost {share} of {less} ({_how(worst)})",
            f"{rate}, a trial lost {share} of {less}",
        )


def _how(trial: Trial) -> str:
    """ "search, 0.19 s"."""
    paused = ", in pauses" if trial.counted is not None and trial.counted.in_pauses else ""
    return f"{trial.purpose}, {_counted_s(trial):.2f} s{paused}"


def contradicted_pps(found: Throughput, case: Case) -> float | None:
    """What a valid trial of the case carried without loss, if the rate is far below it."""
    ends, best = found.interval_pps, carried(case)
    highest_pps = ends[1] if ends is not None else found.load_pps
    if best is None or highest_pps is None or highest_pps >= CONTRADICTED_SHARE * best.intended_load_pps:
        return None
    return best.intended_load_pps


def carried(case: Case) -> Trial | None:
    """The valid trial with the highest load of which nothing was lost or left in a queue in the time that
    counts, in whatever round and state of the machine."""
    clean = [
        trial
        for trial in summary.measured(case)
        if trial.purpose in SUSTAINED and trial.valid and trial.counted_offered and not trial.counted_lost
    ]
    return max(clean, key=lambda trial: trial.intended_load_pps, default=None)


def _counted_s(trial: Trial) -> float:
    return trial.counted.seconds if trial.counted is not None else trial.duration_s


def lost_below(found: Throughput, case: Case) -> Trial | None:
    """The trial that lost the largest share of a load far below the rate, more than goal and chance allow;
    None where there is none, or where its load was carried for most of the time."""
    known = [*(found.interval_pps or (found.load_pps,)), found.load_min_pps]
    lowest_pps = min((pps for pps in known if pps is not None), default=0.0)
    alike = [
        trial
        for trial in summary.measured(case)
        if trial.purpose in SUSTAINED
        and trial.valid
        and trial.intended_load_pps <= CONTRADICTED_SHARE * lowest_pps
        and not _unlike(trial, found, case)
    ]
    lost = [trial for trial in alike if _lost_too_much(trial, found)]
    decided = [trial for trial in lost if 2 * _time_s(lost, trial) >= _time_s(alike, trial)]
    return max(decided, key=lambda trial: trial.counted_loss_ratio, default=None)


def _time_s(trials: Sequence[Trial], of: Trial) -> float:
    """That counts, of those with the same load: a search takes it for carried where most of this is."""
    same = (one for one in trials if math.isclose(one.intended_load_pps, of.intended_load_pps, rel_tol=1e-3))
    return sum(map(_counted_s, same))


def _lost_too_much(trial: Trial, found: Throughput) -> bool:
    """More than the goal, what trials at a rate may lose without a remark, and what of so few packets is
    chance: SIGMAS standard deviations of a binomial distribution."""
    allowed = min(1.0, found.goal_loss_ratio + UNCONFIRMED_LOSS)
    packets = trial.counted_offered
    chance = SIGMAS * math.sqrt(packets * allowed * (1 - allowed))
    return trial.counted_lost > packets * allowed + chance


def _unlike(trial: Trial, found: Throughput, case: Case) -> bool:
    """Whether the machine was in a worse state than where the rate was found, or others had it."""
    if trial.disturbed or (trial.counted is None and trial.loss_during_stall):
        return True
    slower = (trial.slower_times or 1.0) / (found.slower_times or 1.0)
    near: dict[str, float] = {}
    for one in summary.measured(case):
        for pair, cycles in one.distances_cycles.items():
            near[pair] = min(cycles, near.get(pair, cycles))
    farther = max(
        (cycles / near[pair] for pair, cycles in trial.distances_cycles.items() if near[pair]), default=1
    )
    return slower >= rates.SAME_SPEED_TIMES or farther / (found.farther_times or 1.0) >= SAME_DISTANCE_TIMES
