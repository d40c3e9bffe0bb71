# SPDX-License-Identifier: Apache-2.0
"""lean-detector: does `weir lean --baseline` find a stage that became slower by 5 or 2 %, and nothing else?

Both programs are the same build; in one of them weir-lean makes the stage slower (`--inject`). A run counts
as caught only if it names that stage and no other. RUNS runs of each kind take most of an hour; set
WEIR_DETECTOR_RUNS for fewer. `ratio` is the worst of what was reached to what is asked: 95 % of 5 %, 80 % of
2 %, 98 % silent where nothing changed.
"""

from __future__ import annotations

import os

from bench.pairs import Line, SkipError
from weir import lean
from weir.fabric import FabricError
from weir.plan.lean import chain_of_text, lean_request
from weir.spec.traffic import Flows, Traffic
from weir.store.lean import Comparison, LeanTraffic

CHAIN = "nat,l2fwd:mode=mac-swap"
STAGE = "nat"
RUNS = int(os.environ.get("WEIR_DETECTOR_RUNS", "100"))
WANTED = {5.0: 0.95, 2.0: 0.80, 0.0: 0.98}


def run() -> Line:
    """The shares, by injected percentage; 0: of runs without an alarm."""
    try:
        program = lean.present_program()
    except FabricError as error:
        raise SkipError(str(error)) from None
    right = dict.fromkeys(WANTED, 0)
    open_ = dict.fromkeys(WANTED, 0)
    for _ in range(RUNS):  # all kinds in turn: the machine is not the same for long
        for percent in WANTED:
            found = measured(program, percent)
            right[percent] += found.regressions == ([STAGE] if percent else [])
            open_[percent] += any(one.verdict == "none" for one in found.verdicts if one.name == STAGE)
    reached = [right[percent] / RUNS / wanted for percent, wanted in WANTED.items()]
    return Line(
        name="lean-detector",
        ratio=min(reached),
        min=min(reached),
        max=max(reached),
        n=RUNS,
        target=1.0,
        detail={
            "caught_5_percent": right[5.0] / RUNS,
            "caught_2_percent": right[2.0] / RUNS,
            "false_alarms": 1 - right[0.0] / RUNS,
            "no_verdict": {f"{percent:g}": count / RUNS for percent, count in open_.items()},
        },
    )


def measured(program: lean.Program, percent: float) -> Comparison:
    """One run against the same program, of which one is made slower."""
    cpu = max(os.sched_getaffinity(0))
    traffic = Traffic(flows=Flows(count=1000))
    run_ = lean.LeanRun(
        CHAIN,
        lean_request(chain_of_text(CHAIN), cpu, traffic=traffic, frame="64"),
        cpu,
        LeanTraffic(flows=1000, frame="64", frames=0),
        inject=f"{STAGE}={percent}" if percent else None,
        count=False,
    )
    comparison = run_.against_program(program, program).comparison
    assert comparison is not None
    return comparison
