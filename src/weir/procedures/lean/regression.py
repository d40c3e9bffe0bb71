# SPDX-License-Identifier: Apache-2.0
"""Did it get slower? Change detection (jumpavg) on the repeats of two programs, and an interval of the ratio.

The unit is the launch: within one, memory lies where it lies, and repeats are not independent. Launches of
the two programs that ran side by side, their repeats in turn, make a pair, in which what drifts cancels out.
The farthest pair on either side is left out, for the host's sake.

Cycles are means over thousands of readings that begin anywhere in a step of the clock, so a change below
a step shows in them. Between two stages the processor works on both, and reads the clock meanwhile: a stage
that became slower moves its neighbours' cycles, by as much as it has in flight at most. What may be of that
kind is told as such, and is no regression of the neighbour."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Literal

import jumpavg  # type: ignore[import-untyped]
from scipy import stats

from weir.procedures.lean.numbers import BATCH, CHAIN, FASTPATH
from weir.results.lean import LeanSamples, StageVerdict

MINIMUM = 0.01
"""A smaller change is none: where a compiler happens to place code moves cycles as much."""
SEEN = 0.02
"""`same` means that a change of this size would have been seen."""
OVERLAP_CORE_CYCLES = 64
"""A batch: what processors have in flight, some 500 instructions, is done in about as many cycles."""
TRIMMED = 1
LAUNCHES_MIN = 2 * TRIMMED + 3

Logs = Sequence[float]
Word = Literal["slower", "faster", "same", "none", "neighbour"]
NOT_STAGES = (CHAIN, FASTPATH)


def verdicts(
    baseline: Sequence[LeanSamples],
    present: Sequence[LeanSamples],
    *,
    interleaved: bool,
    core_per_tsc: float,
    instructions_ratios: Mapping[str, float] | None = None,
) -> list[StageVerdict]:
    """Of what both have measured: the chain, then its stages in their order."""
    before = {one.name: one for one in baseline}
    ratios = instructions_ratios or {}
    found = [
        verdict(before[new.name], new, interleaved=interleaved, instructions_ratio=ratios.get(new.name))
        for new in present
        if new.name in before
    ]
    usual = {name: _usual(one) for name, one in before.items()}
    overlap = OVERLAP_CORE_CYCLES / core_per_tsc / BATCH
    return _attributed(found, usual, overlap)


def _usual(samples: LeanSamples) -> float:
    return statistics.median(cycles for launch in samples.launches for cycles in launch)


def _attributed(
    found: Sequence[StageVerdict], usual: Mapping[str, float], overlap: float
) -> list[StageVerdict]:
    """A stage that changed by no more than its neighbour, and by no more than `overlap` cycles a packet, may
    have been moved by it."""
    stages = [one for one in found if one.name not in NOT_STAGES]
    moved = {one.name: (one.ratio - 1) * usual[one.name] for one in stages}
    mover: dict[str, StageVerdict] = {}
    for one, other in [*itertools.pairwise(stages), *itertools.pairwise(stages[::-1])]:
        changed = {one.verdict, other.verdict} <= {"slower", "faster"}
        if changed and abs(moved[one.name]) <= min(overlap, abs(moved[other.name])):
            mover[one.name] = other
    return [_moved_by(mover[one.name], one) if one.name in mover else one for one in found]


def _moved_by(other: StageVerdict, one: StageVerdict) -> StageVerdict:
    change = f"{one.ratio - 1:+.1%} cycles (95 %: {one.low - 1:+.1%} to {one.high - 1:+.1%})"
    said = (
        f"{one.name}: no verdict beside {other.name}, which changed by more: {change}, so few that the "
        f"processor, which works on both at once, may count them to either"
    )
    return one.model_copy(
        update={"verdict": "neighbour", "sentence": said + _instructions(one.instructions_ratio)}
    )


def verdict(
    baseline: LeanSamples,
    present: LeanSamples,
    *,
    interleaved: bool,
    instructions_ratio: float | None = None,
) -> StageVerdict:
    """One stage, or the chain, of two programs. Both need LAUNCHES_MIN launches; interleaved: as many."""
    if interleaved:
        ratios = [_log_ratio(*pair) for pair in zip(baseline.launches, present.launches, strict=True)]
        kept = sorted(ratios)[TRIMMED:-TRIMMED]
        mean, half = _mean_of_pairs(ratios)
        groups = [math.exp(-one / 2) for one in kept], [math.exp(one / 2) for one in kept]
    else:
        old, new = (
            sorted(math.log(statistics.median(launch)) for launch in one.launches)
            for one in (baseline, present)
        )
        mean, half = _mean_of_groups(old, new)
        groups = (
            [math.exp(one) for one in old[TRIMMED:-TRIMMED]],
            [math.exp(one) for one in new[TRIMMED:-TRIMMED]],
        )
    changed = len(jumpavg.classify(list(groups))) > 1
    ratio, low, high = math.exp(mean), math.exp(mean - half), math.exp(mean + half)
    word = _word((ratio, low, high), changed)
    return StageVerdict(
        name=present.name,
        ratio=ratio,
        low=low,
        high=high,
        verdict=word,
        instructions_ratio=instructions_ratio,
        sentence=_sentence(present.name, word, (ratio, low, high), instructions_ratio),
    )


def _log_ratio(baseline: Sequence[float], present: Sequence[float]) -> float:
    return statistics.median(math.log(b / a) for a, b in zip(baseline, present, strict=True))


def _winsorised(values: Logs) -> tuple[float, float, int]:
    """Trimmed mean, its squared standard error after Yuen (1974), and how many values it is of."""
    ordered = sorted(values)
    inner = ordered[TRIMMED:-TRIMMED]
    pulled = [inner[0]] * TRIMMED + inner + [inner[-1]] * TRIMMED
    count = len(inner)
    squares = statistics.variance(pulled) * (len(pulled) - 1)
    return statistics.fmean(inner), squares / (count * (count - 1)), count


def _mean_of_pairs(ratios: Logs) -> tuple[float, float]:
    mean, error2, count = _winsorised(ratios)
    return mean, float(stats.t.ppf(0.975, count - 1)) * math.sqrt(error2)


def _mean_of_groups(old: Logs, new: Logs) -> tuple[float, float]:
    """Yuen's test: Welch's on trimmed means."""
    before, error2_before, count_before = _winsorised(old)
    after, error2_after, count_after = _winsorised(new)
    error2 = error2_before + error2_after
    if error2 == 0:
        return after - before, 0.0
    freedom = error2**2 / (error2_before**2 / (count_before - 1) + error2_after**2 / (count_after - 1))
    return after - before, float(stats.t.ppf(0.975, freedom)) * math.sqrt(error2)


def _word(interval: tuple[float, float, float], changed: bool) -> Word:
    ratio, low, high = interval
    apart = low > 1 or high < 1
    if changed and apart and abs(ratio - 1) >= MINIMUM:
        return "slower" if ratio > 1 else "faster"
    if low > 1 - SEEN and high < 1 + SEEN:
        return "same"
    return "none"


def _sentence(name: str, word: Word, interval: tuple[float, float, float], instructions: float | None) -> str:
    ratio, low, high = interval
    change = f"{ratio - 1:+.1%} cycles (95 %: {low - 1:+.1%} to {high - 1:+.1%})"
    said = {
        "slower": f"{name} is slower: {change}",
        "faster": f"{name} is faster: {change}",
        "same": f"{name} is unchanged: {change}",
    }.get(word, f"{name}: no verdict, the noise exceeds the effect: {change}")
    return said + _instructions(instructions)


def _instructions(ratio: float | None) -> str:
    """The second witness, behind the verdict."""
    if ratio is None:
        return "."
    if ratio == 1:
        return "; it executes exactly as many instructions."
    return f"; it executes {ratio - 1:+.2%} instructions, counted without noise."


def regressions(verdicts: Sequence[StageVerdict], chain: str) -> list[str]:
    """Stages that are slower; the chain, if it is and no stage by itself."""
    slower = [one.name for one in verdicts if one.verdict == "slower"]
    return [name for name in slower if name != chain] or slower
