# SPDX-License-Identifier: Apache-2.0
"""What the letters and columns of a throughput table mean."""

from __future__ import annotations

from collections.abc import Iterator

from weir.report import numbers, summary
from weir.store.result import Result

FLAGS = {
    "T": "tester-bound: within 10 % of what the tester itself can do; the system under test may do more",
    "S": "stall: the host took a polling core away, which can explain the loss that bounds this rate",
    "I": "irregular: the search found no valid rate; the reason is given",
    "X": "given up; the reason is given",
}


def flags_used(result: Result) -> dict[str, str]:
    """Those of `FLAGS` that occur in the result."""
    used = {letter for row in summary.rows(result) for letter in row.flags}
    if any(case.problem is not None for setup in result.setups for case in setup.cases):
        used.add("X")
    return {letter: text for letter, text in FLAGS.items() if letter in used}


def sentences(result: Result) -> Iterator[str]:
    """What the columns mean."""
    ratios = {row.throughput.goal: row.throughput.goal_loss_ratio for row in summary.rows(result)}
    for goal, ratio in ratios.items():
        bound = "is 0" if ratio == 0 else f"is at most {numbers.share(ratio)}"
        yield f"{goal}: the highest load whose loss ratio {bound} (MLRsearch)."
    for frame in summary.frames(result):
        if frame.startswith("imix:"):
            genome, mean = frame.removeprefix("imix:"), mean_bytes(result, frame)
            yield f"{summary.frame_label(frame)}: genome {genome} of RFC 6985, mean {mean:.1f} B."
    direction = "totals over both directions" if _both_directions(result) else "of one direction"
    yield f"Rates are {direction}, the median over the repeats."
    yield "Gbit/s is L2: the frame with FCS, without preamble and gap."
    yield f"ratio: to {result.baseline} with the same chain, frame and goal."


def mean_bytes(result: Result, frame: str) -> float:
    """Mean size of that frame or mix, as the cases recorded it."""
    return next(
        case.mean_frame_bytes for setup in result.setups for case in setup.cases if case.frame == frame
    )


def _both_directions(result: Result) -> bool:
    return any(len(trial.streams) > 1 for trial in summary.trials(result))
