# SPDX-License-Identifier: Apache-2.0
"""The letters beside a rate: what a reader must know of it before quoting it."""

from __future__ import annotations

from weir.results.result import RoundRate, Throughput

FLAGS = {
    "T": "tester-bound: within 10 % of what the tester itself can do; the system under test may do more",
    "L": "out of time: the search's time limit came first; the answer is the interval that is shown",
    "S": "slower state: only measured while cores were slower, or farther from each other, than at "
    "their best on this machine, in this run or in earlier ones; how much is said under Read with care",
    "D": "disturbed: more than half of the time of the trials that bound it was left out, since others had a "
    "core",
    "U": "unsteady: just above it packets were lost in pauses of milliseconds, or far more than that load is "
    "too much: the system or the machine changed its speed; another search may find more or less",
    "I": "irregular: the search found no valid rate; the reason is given",
    "X": "given up; the reason is given",
}
DISTURBED_SHARE = 0.5
"""Of the time of the trials at the loads that bound a rate: with more left out it is disturbed."""
OLDER = "; in this older result: stalls of the host can explain the loss that bounds it"


def flags(found: Throughput) -> str:
    """Letters of `FLAGS` that apply, in that order. X is of a case, not of a rate."""
    marks = {
        "T": found.tester_bound,
        "L": found.out_of_time,
        "S": found.worse_state,
        "D": disturbed(found),
        "U": found.unsteady,
        "I": found.status == "irregular",
    }
    return "".join(letter for letter, applies in marks.items() if applies)


def disturbed(found: Throughput) -> bool:
    """Whether others had cores for much of the time that it rests on."""
    return found.left_out_share > DISTURBED_SHARE or found.stall_labelled


def worse_state(found: Throughput | RoundRate) -> str:
    """ "1.40 times slower and 4.60 times farther from each other"; empty: neither."""
    said = []
    if found.slower_times is not None:
        said.append(f"{found.slower_times:.2f} times slower")
    if found.farther_times is not None:
        said.append(f"{found.farther_times:.2f} times farther from each other")
    return " and ".join(said)
