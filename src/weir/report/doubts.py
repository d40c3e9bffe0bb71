# SPDX-License-Identifier: Apache-2.0
"""What to read with care: cases given up, rates that were not found or are no plain rates, and rates that
trials of the same case contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.report import noise, numbers, rates, summary
from weir.results.result import Case, Result, Throughput, Trial
from weir.results.slices import DISTURBED_SHARE
from weir.results.trial import Purpose

CONTRADICTED_SHARE = 0.9
"""A rate that is a smaller share of what a trial carried without loss is contradicted by it."""

UNCONFIRMED_LOSS = 0.01
"""Beyond the goal's loss ratio: what trials at the found rate may lose without a remark, since half of the
trial time at a load may miss a goal."""

SUSTAINED: frozenset[Purpose] = frozenset({"search", "curve", "confirm", "latency", "frame-loss"})
"""Trials of one rate for some time: what they carry, a search could have found. A burst is none."""

Kind = Literal["X", "I", "L", "S", "D", "R", "U", "contradicted", "note"]
TITLES: dict[Kind, str] = {
    "X": "Given up",
    "I": "Irregular (I)",
    "L": "Out of time (L)",
    "S": "Slower state (S), against the cores' best on this machine",
    "D": "Disturbed (D), share of the time that was left out",
    "R": "One round or repeat alone (R)",
    "U": "Unsteady (U): just above it packets were lost in pauses, or far more than the load is too much",
    "contradicted": "Contradicted by a valid trial of the same case that lost nothing",
}
"""Of those that a short report names."""
COUNTED: dict[Kind | Literal["T"], tuple[str, str]] = {
    "T": ("tester-bound", "the system may do more"),
    "L": ("out of time", "the answer is the interval"),
    "S": ("slower state", ""),
    "D": ("disturbed", "more than half of the time of the trials that bound it was left out"),
    "R": ("one round or repeat alone", "the others could not be measured, or were in a worse state"),
    "U": ("unsteady", "just above it packets were lost in pauses"),
    "I": ("irregular", ""),
    "X": ("given up", ""),
    "contradicted": ("contradicted by a trial that carried more without loss", ""),
    "note": ("with a remark", ""),
}
"""Where a report only counts them, of letters and what has none: a name, and what it says."""
EXPLAIN = "`weir explain RUN` names what limits each case, with its evidence"
SET_ASIDE = {"accounting": "with unaccounted packets", "frames_changed": "with changed frames"}
NAMED = 2
"""Cases without a letter in the table that are named there."""


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


def counted(result: Result) -> list[tuple[str, str]]:
    """A letter and one sentence for each kind: of how many cases, and what it says of them."""
    where: dict[Kind | Literal["T"], dict[str, str]] = {kind: {} for kind in COUNTED}
    for row in summary.rows(result):
        if row.throughput.tester_bound:
            where["T"][_place(row.setup.name, row.setup.chain, row.case)] = ""
    for doubt in doubts(result):
        where[doubt.kind].setdefault(doubt.place, doubt.short)
    lines: list[tuple[str, str]] = []
    for kind, places in where.items():
        if places:
            name, said = COUNTED[kind]
            cases = "1 case" if len(places) == 1 else f"{len(places)} cases"
            said = said or (_how_slow(result) if kind == "S" else _which(result, kind, places))
            lines.append((kind if len(kind) == 1 else "–", f"{name}, {cases}: {said}"))
    return lines


def next_step(result: Result) -> str | None:
    """What to do now: first what keeps the numbers from being used, then what explains them. None: nothing
    that the result tells."""
    kinds = {doubt.kind for doubt in doubts(result)}
    every = [case for _, case in result.cases()]
    if not every:
        return "Next: `weir doctor` says what this machine lacks." if summary.refusals(result) else None
    missed = any(verdict.outcome == "missed" for case in every for verdict in case.verdicts)
    bound = any(row.throughput.tester_bound for row in summary.rows(result))
    busy = "`weir doctor` names what disturbs cores here; run it again when they are free"
    steps = (
        (noise.mostly_disturbed(result), busy),
        (
            summary.left_out(result) is not None,
            f"`weir run --resume {result.id}` measures what was left out",
        ),
        (
            result.finished_at is None or result.interrupted,
            "run it again to its end; what had not finished is missing, or was not measured again",
        ),
        ("D" in kinds, busy),
        (bool(kinds & {"X", "I"}), "the reasons under Read with care say why some cases have no rate"),
        (missed and bool(summary.goals(result)), EXPLAIN),
        ("L" in kinds, "raise `time_limit_s` where the search ran out of time (L)"),
        (
            bool(kinds & {"U", "contradicted"}),
            "repeat before you quote rates that are unsteady (U) or that a trial contradicts",
        ),
        (bound, "give the tester more cores where it was the limit (T); the system may carry more"),
        (bool(summary.goals(result)), EXPLAIN),
    )
    return next((f"Next: {what}." for applies, what in steps if applies), None)


def _how_slow(result: Result) -> str:
    worse = [row.throughput for row in summary.rows(result) if row.throughput.worse_state]
    slowest = max(one.slower_times or 1.0 for one in worse)
    farthest = max(one.farther_times or 1.0 for one in worse)
    return f"cores up to {rates.state_text(slowest, farthest)} than at their best"


def _which(result: Result, kind: str, places: Mapping[str, str]) -> str:
    """The reason that most of them have, or where others took most of their time, who; of what has no letter
    in the table, the first of them."""
    if kind in ("I", "X"):
        (reason, count), *_ = Counter(places.values()).most_common()
        if count == len(places):
            return reason
        return (_disturbed(result, places) if kind == "I" else None) or f"{reason} ({count} of them)"
    names, rest = [*places][:NAMED], len(places) - NAMED
    return "; ".join([*names, *([f"and {rest} more"] if rest > 0 else [])])


def _disturbed(result: Result, places: Collection[str]) -> str | None:
    """Of the trials of all these cases together, where others had the cores for most of the time of more than
    half of them: each one's own reason may name somebody who had little."""
    trials = [
        summary.measured(case)
        for setup, case in result.cases()
        if _place(setup.name, setup.chain, case) in places
    ]
    taken = [one for one in trials if _share(one) > DISTURBED_SHARE]
    if 2 * len(taken) <= len(trials):
        return None
    every = [trial for one in taken for trial in one]
    of_them = "" if len(taken) == len(trials) else f" ({len(taken)} of them)"
    return f"{_share(every):.0%} of their trials' time {noise.lost_to(every)}{of_them}"


def _share(trials: Sequence[Trial]) -> float:
    """Of their time: left out."""
    out_s, whole_s = noise.left_out_s(trials)
    return out_s / whole_s if whole_s else 0.0


def doubts(result: Result) -> list[Doubt]:
    """All of a result; goals of a case with the same words stand together."""
    found = [
        Doubt("X", _place(setup.name, setup.chain, case), (), f"given up: {case.problem}", case.problem)
        for setup, case in result.cases()
        if case.problem is not None
    ]
    found += [
        Doubt("note", _place(setup.name, setup.chain, case), (), f"however light the load, {said}", said)
        for setup, case in result.cases()
        if case.problem is None and (said := _always_dropped(case)) is not None
    ]
    found += [
        Doubt("note", _place(setup.name, setup.chain, case), (), *words)
        for setup, case in result.cases()
        if (words := _set_aside(case)) is not None
    ]
    same: dict[tuple[str, Kind, str, str], list[str]] = {}
    for row in summary.rows(result):
        place = _place(row.setup.name, row.setup.chain, row.case)
        for kind, detail, short in _of(row.throughput, row.case):
            same.setdefault((place, kind, detail, short), []).append(row.throughput.goal)
    found += [
        Doubt(kind, place, tuple(goals), detail, short)
        for (place, kind, detail, short), goals in same.items()
    ]
    return found


def _always_dropped(case: Case) -> str | None:
    """What functions drop by their own decision even of a light load, so that no rate is without loss."""
    light = next((one for one in reversed(case.trials) if one.purpose == "preflight" and one.valid), None)
    decided = [drop for drop in light.drops if drop.decided_by is not None] if light is not None else []
    if light is None or not decided:
        return None
    where = ", ".join(f"{drop.decided_by} ({drop.reason})" for drop in decided)
    return f"{sum(drop.packets for drop in decided) / light.offered:.1%} of the packets are dropped: {where}"


def _set_aside(case: Case) -> tuple[str, str] | None:
    """Trials that were measured again since packets could not be accounted for, or had changed: that the next
    one was whole does not mend it. In words, and in few."""
    doubted = [trial for trial in (*case.curve, *case.trials) if trial.doubted]
    if not doubted:
        return None
    count = f"{len(doubted)} of {len(case.curve) + len(case.trials)} trials"
    why = Counter(kind for trial in doubted for kind in trial.doubted).most_common(1)[0][0]
    first = next(trial for trial in doubted if why in trial.doubted)
    because = " ".join(first.invalid_because)
    return (
        f"{count} were set aside and measured again, the first of them since: {because}",
        f"{count} {SET_ASIDE[why]}",
    )


def _place(name: str, chain: str, case: Case) -> str:
    return f"{name} {chain}, frame {summary.frame_label(case.frame)}"


def _of(found: Throughput, case: Case) -> Iterator[tuple[Kind, str, str]]:
    """Kind, words, and few words."""
    if found.status == "irregular":
        why = found.why or "no reason was recorded"
        yield "I", f"irregular: {why}", why.rstrip(".")
        return
    ends = rates.interval_pps(found)
    if ends is not None:
        between = f"{' to '.join(map(numbers.mpps, ends))} Mpps"
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
        said = ", ".join(
            f"{numbers.mpps(one.load_pps)} Mpps {rates.worse_state(one)}".rstrip() for one in others
        )
        few = f"another round: {said}" if said else "the others found none"
        yield "R", f"found, but by one of {found.searches} searches alone ({few})", few
    if found.unsteady:
        yield (
            "U",
            "found, but just above it packets were lost in pauses of milliseconds, or far more than that "
            "load is too much: the system or the machine changed its speed",
            f"{rates.mpps(found)} Mpps",
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
        mpps, most = rates.mpps(found), numbers.mpps(most_pps)
        how = f"{best.purpose}, {_counted_s(best):.2f} s"
        yield (
            "contradicted",
            f"found at {mpps} Mpps, but a valid trial carried {most} Mpps without loss ({how})",
            f"{mpps} Mpps, a trial {most}",
        )


def contradicted_pps(found: Throughput, case: Case) -> float | None:
    """What a valid trial of the case carried without loss, if the rate is far below it."""
    ends, best = rates.interval_pps(found), carried(case)
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
