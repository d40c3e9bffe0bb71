# SPDX-License-Identifier: Apache-2.0
"""What to read with care: cases given up, rates that were not found or are no plain rates, and rates that
trials of the same case contradict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.report import flags, numbers, rates, summary
from weir.store.result import Case, Result, Throughput, Trial
from weir.store.trial import Purpose

CONTRADICTED_SHARE = 0.9
"""A rate that is a smaller share of what a trial carried without loss is contradicted by it."""

SUSTAINED: frozenset[Purpose] = frozenset({"search", "curve", "confirm", "latency", "frame-loss"})
"""Trials of one rate for some time: what they carry, a search could have found. A burst is none."""

Kind = Literal["X", "I", "L", "S", "D", "contradicted", "note"]
TITLES: dict[Kind, str] = {
    "X": "Given up",
    "I": "Irregular (I)",
    "L": "Out of time (L)",
    "S": "Slower state (S)",
    "D": "Disturbed (D)",
    "contradicted": "Contradicted by a trial of the same case",
    "note": "Found, but",
}


@dataclass(frozen=True)
class Doubt:
    """One of a case, of the goals that it is for."""

    kind: Kind
    place: str
    goals: tuple[str, ...]
    detail: str

    @property
    def sentence(self) -> str:
        """ "direct PVP, frame 64: NDR and PDR irregular: …"."""
        return f"{self.place}: {' and '.join(self.goals)}{' ' if self.goals else ''}{self.detail}"


def sentences(result: Result) -> list[str]:
    """One for each, those of given-up cases first."""
    return [doubt.sentence for doubt in doubts(result)]


def grouped(result: Result) -> list[str]:
    """One for each kind, without what only explains a flag that needs no words."""
    kinds: dict[Kind, list[str]] = {}
    for doubt in doubts(result):
        if doubt.kind != "note":
            kinds.setdefault(doubt.kind, []).append(doubt.sentence.rstrip("."))
    return [f"{TITLES[kind]}: {'; '.join(kinds[kind])}." for kind in TITLES if kind in kinds]


def doubts(result: Result) -> list[Doubt]:
    """All of a result; goals of a case with the same words stand together."""
    found = [
        Doubt("X", _place(setup.name, setup.chain, case), (), f"given up: {case.problem}")
        for setup in result.setups
        for case in setup.cases
        if case.problem is not None
    ]
    same: dict[tuple[str, Kind, str], list[str]] = {}
    for row in summary.rows(result):
        place = _place(row.setup.name, row.setup.chain, row.case)
        for kind, detail in _of(row.throughput, row.case):
            same.setdefault((place, kind, detail), []).append(row.throughput.goal)
    found += [Doubt(kind, place, tuple(goals), detail) for (place, kind, detail), goals in same.items()]
    return found


def _place(name: str, chain: str, case: Case) -> str:
    return f"{name} {chain}, frame {summary.frame_label(case.frame)}"


def _of(found: Throughput, case: Case) -> Iterator[tuple[Kind, str]]:
    if found.status == "irregular":
        yield "I", f"irregular: {found.why or 'no reason was recorded'}"
        return
    ends = rates.interval_pps(found)
    if ends is not None:
        why = f". {found.why}" if found.why else ""
        yield "L", f"out of time: between {' and '.join(map(numbers.mpps, ends))} Mpps{why}"
    elif found.why is not None:
        yield "note", f"found: {found.why}"
    worse = flags.worse_state(found)
    if worse:
        yield "S", f"found, but only while cores were {worse} than at their best in this run"
    if found.left_out_share > flags.DISTURBED_SHARE:
        yield (
            "D",
            f"found, but {found.left_out_share:.0%} of the time of the trials that bound it was left out",
        )
    elif found.stall_labelled:
        yield "D", "found, but stalls of the host can explain the loss that bounds it"
    best = carried(case)
    highest_pps = ends[1] if ends is not None else found.load_pps
    if best is not None and highest_pps is not None:
        most_pps = best.intended_load_pps
        if highest_pps < CONTRADICTED_SHARE * most_pps:
            yield (
                "contradicted",
                f"found at {rates.mpps(found)} Mpps, but a valid trial carried {numbers.mpps(most_pps)} Mpps "
                f"without loss ({best.purpose}, {_counted_s(best):.2f} s)",
            )


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
