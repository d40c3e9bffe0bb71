# SPDX-License-Identifier: Apache-2.0
"""What the letters and columns of a throughput table mean, and what exactly counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from weir.lab.frames import frame_label
from weir.report import doubts, noise, numbers, rates, summary
from weir.report.rates import FLAGS, OLDER, NoRatio
from weir.results.result import Case, Result
from weir.results.rounds import given_up
from weir.results.slices import DISTURBED_SHARE
from weir.results.trial import left_out_s, left_out_share

COUNTED: dict[doubts.Kind | Literal["T", "M"], tuple[str, str]] = {
    "T": ("tester-bound", "the system may do more"),
    "M": ("most that the lab allows", "all of `measure.max_load_pps` was carried; the system may do more"),
    "L": ("out of time", "the answer is the interval"),
    "S": ("slower state", ""),
    "D": ("disturbed", "more than half of the time of the trials that bound it was left out"),
    "R": ("one round or repeat alone", "the others could not be measured, or were in a worse state"),
    "U": ("unsteady", "just above it packets were lost in pauses"),
    "I": ("irregular", ""),
    "X": ("given up", ""),
    "contradicted": ("contradicted by a valid trial", ""),
    "order": ("packets out of order", ""),
    "note": ("with a remark", ""),
}
"""Where a report only counts them, of letters and what has none: a name, and what it says."""
NAMED = 2
"""Cases without a letter in the table that are named there."""


def flags_used(result: Result) -> dict[str, str]:
    """Those of `FLAGS` that occur in the result."""
    used = {letter for row in summary.rows(result) for letter in row.flags}
    if any(given_up(case) for _, case in result.cases()):
        used.add("X")
    older = any(row.throughput.stall_labelled for row in summary.rows(result))
    return {
        letter: text + (OLDER if letter == "D" and older else "")
        for letter, text in FLAGS.items()
        if letter in used
    }


def flags_of(row: summary.Row | None, case: Case) -> str:
    """Letters beside one rate: its own, and that its case was given up."""
    return (row.flags if row is not None else "") + ("X" if given_up(case) else "")


def sentences(result: Result) -> Iterator[str]:
    """What the columns mean."""
    ratios = {row.throughput.goal: row.throughput.goal_loss_ratio for row in summary.rows(result)}
    for goal, ratio in ratios.items():
        bound = "is 0" if ratio == 0 else f"is at most {numbers.share(ratio)}"
        yield f"{goal}: the highest load whose loss ratio {bound} (MLRsearch)."
    yield from _verdict(result)
    yield from _slices(result)
    for frame in summary.frames(result):
        if frame.startswith("imix:"):
            genome, mean = frame.removeprefix("imix:"), mean_bytes(result, frame)
            yield f"{frame_label(frame)}: genome {genome} of RFC 6985, mean {mean:.1f} B."
    yield f"Rates are {directions(result)}, {_median(result)}."
    yield "Gbit/s is L2: the frame with FCS, without preamble and gap."
    if summary.compares(result):
        yield from _ratios(result)


def mean_bytes(result: Result, frame: str) -> float:
    """Mean size of that frame or mix, as the cases recorded it."""
    return next(case.mean_frame_bytes for _, case in result.cases() if case.frame == frame)


def _verdict(result: Result) -> Iterator[str]:
    """When a load counts as carried."""
    asked = summary.measure_of(result)
    exceed, trial = asked.get("exceed_ratio"), asked.get("trial")
    if exceed is None or not isinstance(trial, dict) or "duration_sum_s" not in trial:
        return
    share = "all" if exceed == 0 else f"at least {1 - exceed:.0%}"
    yield (
        f"A load is carried if {share} of {trial['duration_sum_s']:g} s of trials at it keep the loss ratio "
        f"(exceed_ratio {exceed:g})."
    )


def _slices(result: Result) -> Iterator[str]:
    """What of a trial counts."""
    ran = list(summary.trials(result))
    divided = [trial for trial in ran if trial.counted is not None]
    if not divided:
        if ran:
            yield "All of a trial counts, whatever the machine did: its time was not divided."
        return
    widths = {trial.slices.width_us for trial in divided if trial.slices is not None}
    width = f" of {min(widths) / 1e3:g} ms" if widths else ""
    out_s, whole_s = left_out_s(divided)
    share = numbers.percent(out_s / whole_s) if whole_s else numbers.NONE
    out = f"{numbers.time_s(out_s)} of {numbers.time_s(whole_s)} ({share})"
    yield (
        f"A trial is looked at in slices{width}, by when packets were due. Slices in which a core on their "
        "way was away, and what queued up behind them, are left out of the verdict, not of the record: here "
        f"{out}. In all others each lost packet counts, and a growing queue."
    )


def _median(result: Result) -> str:
    """Of what a rate is the median."""
    asked = summary.measure_of(result)
    repeats, rounds = asked.get("repeats"), asked.get("rounds", 1)
    if repeats is None:
        return "the median over the repeats"
    if rounds == 1:  # a quick run of a lab searches less often than the lab says
        repeats = max((row.throughput.searches for row in summary.rows(result)), default=repeats) or repeats
    searches = f"{repeats} searches" if repeats > 1 else "one search"
    if rounds == 1:
        return f"the median of {searches}" if repeats > 1 else f"of {searches}"
    return (
        f"the median of {rounds} rounds or more, those in the machine's best state alone; a round builds and "
        f"measures everything anew, with {searches} each"
    )


def _ratios(result: Result) -> Iterator[str]:
    paired = any(row.throughput.rounds for row in summary.rows(result))
    of = (
        "the median of the pairs measured in the same round and state of the machine, and the least and "
        "greatest of them; without such a pair of the medians"
        if paired
        else "of the medians, and the least and greatest that the repeats allow"
    )
    yield f"ratio: to {result.baseline} with the same chain, frame and goal: {of}."
    bounds = {row.ratio.bound for row in summary.rows(result) if row.ratio is not None}
    if bounds - {"="}:
        yield (
            "≥ and ≤: the tester, or what the lab lets be sent, was the limit of one of the two; the ratio "
            "may be more, or less."
        )
    if any(row.ratio is not None and row.ratio.slower for row in summary.rows(result)):
        yield (
            "S behind a ratio: of rounds in a slower state than the rates beside it, since in no other were "
            "both measured in the same state; it is not the ratio of those rates."
        )
    none = {row.no_ratio for row in summary.rows(result) if row.no_ratio is not None}
    if none:
        why = [str(reason) for reason in NoRatio if reason in none]
        yield f"A dash for a ratio: there is none, since {'; or '.join(why)}."


def directions(result: Result) -> str:
    """Of which packets rates are, in the words of a sentence about them."""
    trials = list(summary.trials(result))
    if len({stream.direction for trial in trials for stream in trial.streams}) > 1:
        return "totals over both directions"
    several = any(len(trial.streams) > 1 for trial in trials)
    return "totals over all that send, in one direction" if several else "of one direction"


def counted(result: Result) -> list[tuple[str, str]]:
    """A letter and one sentence for each kind: of how many cases, and what it says of them."""
    where: dict[doubts.Kind | Literal["T", "M"], dict[str, str]] = {kind: {} for kind in COUNTED}
    for row in summary.rows(result):
        place = doubts.place(row.setup.name, row.setup.chain, row.case)
        if row.throughput.tester_bound:
            where["T"][place] = ""
        if row.throughput.lab_bound:
            where["M"][place] = ""
    for doubt in doubts.doubts(result):
        where[doubt.kind].setdefault(doubt.place, doubt.short)
    lines: list[tuple[str, str]] = []
    for kind, places in where.items():
        if places:
            name, said = COUNTED[kind]
            cases = "1 case" if len(places) == 1 else f"{len(places)} cases"
            said = said or (_how_slow(result) if kind == "S" else _which(result, kind, places))
            lines.append((kind if len(kind) == 1 else "–", f"{name}, {cases}: {said}"))
    return lines


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
    of_each = [f"{where} ({share})" if kind == "order" else where for where, share in places.items()]
    names, rest = of_each[:NAMED], len(places) - NAMED
    return "; ".join([*names, *([f"and {rest} more"] if rest > 0 else [])])


def _disturbed(result: Result, places: Collection[str]) -> str | None:
    """Of the trials of all these cases together, where others had the cores for most of the time of more than
    half of them: each one's own reason may name somebody who had little."""
    trials = [
        summary.measured(case)
        for setup, case in result.cases()
        if doubts.place(setup.name, setup.chain, case) in places
    ]
    taken = [one for one in trials if left_out_share(one) > DISTURBED_SHARE]
    if 2 * len(taken) <= len(trials):
        return None
    every = [trial for one in taken for trial in one]
    of_them = "" if len(taken) == len(trials) else f" ({len(taken)} of them)"
    return f"{left_out_share(every):.0%} of their trials' time {noise.lost_to(every)}{of_them}"
