# SPDX-License-Identifier: Apache-2.0
"""lean-detector: does `weir lean --baseline` find a stage that became slower by 5 or 2 %, and nothing else?

Both programs are the same build; in one of them weir-lean makes the stage slower (`--inject`). A run counts
as caught only if it names that stage and no other; one without a verdict on the stage is not caught. RUNS
runs of each kind take some 10 minutes on a quiet machine; set WEIR_DETECTOR_RUNS for fewer. `ratio` is the
worst of what was reached to what is asked: 95 % of 5 %, 80 % of 2 %, 98 % silent where nothing changed.
Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

from scipy import stats

from bench.lean_injection import CHAIN, STAGE, cost_percent, request
from bench.pairs import Line, SkipError
from weir.fabric import FabricError
from weir.jobs import lean
from weir.store.lean import Comparison, LeanTraffic

RETRIES, RETRY_S = 5, 10.0
RUNS = int(os.environ.get("WEIR_DETECTOR_RUNS", "100"))
WANTED = {5.0: 0.95, 2.0: 0.80, 0.0: 0.98}
SAID = {5.0: "5 % slower, caught", 2.0: "2 % slower, caught", 0.0: "unchanged, no alarm"}


def run() -> Line:
    """The shares, by injected percentage; 0: of runs without an alarm."""
    try:
        program = lean.present_program()
        costs = {percent: cost_percent(program.path, percent) for percent in WANTED if percent}
    except FabricError as error:
        raise SkipError(str(error)) from None
    right: dict[float, list[bool]] = {percent: [] for percent in WANTED}
    open_ = dict.fromkeys(WANTED, 0)
    for number in range(RUNS):  # all kinds in turn: the machine is not the same for long
        for percent in WANTED:
            inject = f"{STAGE}={percent}:{costs[percent]}" if percent else None
            found = _patiently(lambda: compared(program, inject))  # noqa: B023 -- called at once
            right[percent].append(found.regressions == ([STAGE] if percent else []))
            open_[percent] += any(one.verdict == "none" for one in found.verdicts if one.name == STAGE)
        if (number + 1) % 10 == 0:
            _say(f"{number + 1} of {RUNS} runs of each kind", right)
    for percent, caught in right.items():
        low, high = wilson(sum(caught), RUNS)
        print(
            f"  {SAID[percent]}: {sum(caught)} of {RUNS}, {low:.1%} to {high:.1%} (asked: "
            f"{WANTED[percent]:.0%}); no verdict on {STAGE} in {open_[percent]}"
        )
    reached = [statistics.fmean(right[percent]) / wanted for percent, wanted in WANTED.items()]
    return Line(
        name="lean-detector",
        ratio=min(reached),
        min=min(reached),
        max=max(reached),
        n=RUNS,
        target=1.0,
        detail={
            "caught_5_percent": statistics.fmean(right[5.0]),
            "caught_2_percent": statistics.fmean(right[2.0]),
            "false_alarms": 1 - statistics.fmean(right[0.0]),
            "intervals": {f"{percent:g}": wilson(sum(caught), RUNS) for percent, caught in right.items()},
            "no_verdict": {f"{percent:g}": count / RUNS for percent, count in open_.items()},
        },
    )


def compared(program: lean.Program, inject: str | None) -> Comparison:
    """One run against the same program, of which one is made slower."""
    cpu = max(os.sched_getaffinity(0))
    traffic = LeanTraffic(flows=1000, frame="64", frames=0)
    run_ = lean.LeanRun(CHAIN, request(cpu), cpu, traffic, inject=inject, count=False)
    comparison = run_.against_program(program, program).comparison
    assert comparison is not None
    return comparison


def wilson(right: int, runs: int) -> tuple[float, float]:
    """95 % interval of a share (E. B. Wilson 1927)."""
    found = stats.binomtest(right, runs).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def _patiently(run: Callable[[], Comparison]) -> Comparison:
    """Again after a while where another program had the memory: minutes of runs must not be lost to it."""
    for _ in range(RETRIES):
        try:
            return run()
        except FabricError:
            time.sleep(RETRY_S)
    return run()


def _say(text: str, right: dict[float, list[bool]]) -> None:
    so_far = ", ".join(f"{percent:g} %: {sum(caught)}/{len(caught)}" for percent, caught in right.items())
    print(f"  {text}: right {so_far}", file=sys.stderr, flush=True)
