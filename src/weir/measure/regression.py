# SPDX-License-Identifier: Apache-2.0
"""Did it get slower? Change detection (jumpavg) on the repeats of two programs, and an interval of the ratio.

The unit is the launch: within one, memory lies where it lies, and repeats are not independent. Launches of
the two programs that ran side by side, their repeats in turn, make a pair, in which what drifts cancels out.
The farthest pair on either side is left out, for the host's sake.

Between two stages the processor works on both, and reads the clock meanwhile: a stage that became slower
moves its neighbours' cycles, by less than a step of the clock a batch. So small a change is none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Literal

import jumpavg  # type: ignore[import-untyped]
from scipy import stats

from weir.store.lean import LeanSamples, StageVerdict

MINIMUM = 0.01
"""A smaller change is none: where a compiler happens to place code moves cycles as much."""
SEEN = 0.02
"""`same` means that a change of this size, or of a step of the clock, would have been seen."""
TRIMMED = 1
LAUNCHES_MIN = 2 * TRIMMED + 3

Logs = Sequence[float]
Word = Literal["slower", "faster", "same", "none"]


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
    step = _step(baseline, present)
    word = _word((ratio, low, high), changed, step)
    return StageVerdict(
        name=present.name,
        ratio=ratio,
        low=low,
        high=high,
        verdict=word,
        instructions_ratio=instructions_ratio,
        sentence=_sentence(present.name, word, (ratio, low, high), instructions_ratio, step),
    )


def _step(baseline: LeanSamples, present: LeanSamples) -> float:
    """Of the clock, as a share of what the stage took."""
    usual = statistics.median(cycles for launch in baseline.launches for cycles in launch)
    return max(baseline.step_cycles, present.step_cycles) / usual


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


def _word(interval: tuple[float, float, float], changed: bool, step: float) -> Word:
    ratio, low, high = interval
    apart = low > 1 or high < 1
    if changed and apart and abs(ratio - 1) >= MINIMUM:
        if abs(ratio - 1) < step:
            return "same"
        return "slower" if ratio > 1 else "faster"
    seen = max(SEEN, step)
    if low > 1 - seen and high < 1 + seen:
        return "same"
    return "none"


def _sentence(
    name: str, word: Word, interval: tuple[float, float, float], instructions: float | None, step: float
) -> str:
    ratio, low, high = interval
    within = f" within a step of the clock ({step:.1%})" if step > SEEN else ""
    change = f"{ratio - 1:+.1%} cycles (95 %: {low - 1:+.1%} to {high - 1:+.1%})"
    said = {
        "slower": f"{name} is slower: {change}",
        "faster": f"{name} is faster: {change}",
        "same": f"{name} is unchanged{within}: {change}",
        "none": f"{name}: no verdict, the noise exceeds the effect: {change}",
    }[word]
    if instructions is None:
        return said + "."
    if instructions == 1:
        return said + "; it executes exactly as many instructions."
    return f"{said}; it executes {instructions - 1:+.2%} instructions, counted without noise."


def regressions(verdicts: Sequence[StageVerdict], chain: str) -> list[str]:
    """Stages that are slower; the chain, if it is and no stage by itself."""
    slower = [one.name for one in verdicts if one.verdict == "slower"]
    return [name for name in slower if name != chain] or slower
