# SPDX-License-Identifier: Apache-2.0
"""lean-detector: does `weir lean --baseline` find a stage that became slower by 5 or 2 %, and nothing else?

Both programs are the same build; in one of them weir-lean makes a stage slower (`--inject`): nat, or l3fwd,
whose 5 % are less than a step of the time-stamp counter a batch on some processors. A run counts as caught
only if it names that stage and no other; one without a verdict on the stage is not caught. RUNS runs of each
kind take some 20 minutes on a quiet machine; set WEIR_DETECTOR_RUNS for fewer. `ratio` is the worst of what
was reached to what is asked: 95 % of 5 %, 80 % of 2 %, 98 % silent where nothing changed. Intervals are
Wilson's, 95 %.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

from scipy import stats

from bench.lean_injection import CHAIN, SMALL_STAGE, STAGE, cost_percent, request
from bench.pairs import Line, SkipError
from weir.fabric import FabricError
from weir.procedures.lean import run as lean
from weir.results.lean import Comparison, LeanTraffic

RETRIES, RETRY_S = 5, 10.0
RUNS = int(os.environ.get("WEIR_DETECTOR_RUNS", "100"))
ALIKE = ("", 0.0)
WANTED = {(STAGE, 5.0): 0.95, (STAGE, 2.0): 0.80, (SMALL_STAGE, 5.0): 0.95, ALIKE: 0.98}


def run() -> Line:
    """The shares, by what was made slower."""
    try:
        program = lean.present_program()
        costs = {kind: cost_percent(program.path, kind[1], stage=kind[0]) for kind in WANTED if kind != ALIKE}
    except FabricError as error:
        raise SkipError(str(error)) from None
    right: dict[tuple[str, float], list[bool]] = {kind: [] for kind in WANTED}
    open_ = dict.fromkeys(WANTED, 0)
    for number in range(RUNS):  # all kinds in turn: the machine is not the same for long
        for kind in WANTED:
            stage, percent = kind
            inject = f"{stage}={percent}:{costs[kind]}" if kind in costs else None
            found = _patiently(lambda: compared(program, inject))  # noqa: B023 -- called at once
            right[kind].append(found.regressions == ([stage] if stage else []))
            open_[kind] += any(
                one.verdict == "none" for one in found.verdicts if one.name == (stage or STAGE)
            )
        if (number + 1) % 10 == 0:
            _say(f"{number + 1} of {RUNS} runs of each kind", right)
    for kind, caught in right.items():
        low, high = wilson(sum(caught), RUNS)
        print(
            f"  {_said(kind)}: {sum(caught)} of {RUNS}, {low:.1%} to {high:.1%} (asked: {WANTED[kind]:.0%}); "
            f"no verdict on {kind[0] or STAGE} in {open_[kind]}"
        )
    reached = [statistics.fmean(right[kind]) / wanted for kind, wanted in WANTED.items()]
    return Line(
        name="lean-detector",
        ratio=min(reached),
        min=min(reached),
        max=max(reached),
        n=RUNS,
        target=1.0,
        detail={
            "right": {_said(kind): statistics.fmean(caught) for kind, caught in right.items()},
            "intervals": {_said(kind): wilson(sum(caught), RUNS) for kind, caught in right.items()},
            "no_verdict": {_said(kind): count / RUNS for kind, count in open_.items()},
        },
    )


def _said(kind: tuple[str, float]) -> str:
    return f"{kind[0]} {kind[1]:g} % slower, caught" if kind != ALIKE else "unchanged, no alarm"


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


def _say(text: str, right: dict[tuple[str, float], list[bool]]) -> None:
    so_far = ", ".join(f"{_said(kind)}: {sum(caught)}/{len(caught)}" for kind, caught in right.items())
    print(f"  {text}: {so_far}", file=sys.stderr, flush=True)
