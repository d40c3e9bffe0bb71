# SPDX-License-Identifier: Apache-2.0
"""lean-injection: what `weir lean --inject` adds to a stage, against what was asked: 1 is wanted, within 1 %.

One launch measures the stage with and without what is injected, in turn; the value of a launch is the middle
half of its pairs. LAUNCHES launches, each of which measures anew what injecting itself costs.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

from bench.pairs import Line, SkipError, of_ratios
from weir.fabric import FabricError
from weir.fabric import lean as process
from weir.lab.traffic import Flows, Traffic
from weir.plan.lean import LeanRequest, chain_of_text, lean_request
from weir.procedures.lean import run as lean

CHAIN = "nat:external=203.0.113.1/32,l3fwd"  # one address: more of them take long to make ready
STAGE, SMALL_STAGE = "nat", "l3fwd"
PERCENT = 5.0
LAUNCHES = 15
PAIRS = 120
MEMORY_MB = 256


def run() -> Line:
    """Ratio of what was added to what was asked."""
    try:
        path = lean.present_program().path
        shares = [_share_added(path, PERCENT) for _ in range(LAUNCHES)]
    except FabricError as error:
        raise SkipError(str(error)) from None
    ratios = [share * 100 / PERCENT for share in shares]
    detail: dict[str, object] = {"percent": PERCENT, "mean": statistics.fmean(ratios)}
    return of_ratios("lean-injection", ratios, target=1.0, detail=detail)


def request(cpu: int) -> LeanRequest:
    """What weir-lean is to run."""
    return lean_request(chain_of_text(CHAIN), cpu, traffic=Traffic(flows=Flows(count=1000)), frame="64")


def cost_percent(path: Path, percent: float, launches: int = 9, stage: str = STAGE) -> float:
    """What injecting costs besides its cycles, percent of the stage's own; the median of some launches."""
    found = []
    cpu = max(os.sched_getaffinity(0))
    with process.request_file(request(cpu)) as file:
        for _ in range(launches):
            with process.LeanProcess(
                path, file, cpu, memory_mb=MEMORY_MB, inject=f"{stage}={percent}"
            ) as one:
                found.append(float(one.ready["inject_cost_percent"]))
    return statistics.median(found)


def _share_added(path: Path, percent: float) -> float:
    cpu = max(os.sched_getaffinity(0))
    inject = f"{STAGE}={percent}"
    with (
        process.request_file(request(cpu)) as file,
        process.LeanProcess(path, file, cpu, memory_mb=MEMORY_MB, inject=inject) as launch,
    ):
        pairs = sorted(
            _cycles(launch.time(lean.BATCHES)) / _cycles(launch.plain(lean.BATCHES)) - 1 for _ in range(PAIRS)
        )
    return statistics.fmean(pairs[PAIRS // 4 : -PAIRS // 4])


def _cycles(answer: dict[str, Any]) -> float:
    found = next(float(stage["cycles"]) for stage in answer["stages"] if stage["name"] == STAGE)
    return found / float(answer["cycled"])
