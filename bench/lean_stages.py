# SPDX-License-Identifier: Apache-2.0
"""stage-cycles: the cycles of all stages together, against those of the path that runs them.

Measured by weir-lean, which has no ports: what an area does besides (taking packets from a port and giving
them to one) is in no stage, and not in the path either.
"""

from __future__ import annotations

import os

from bench.pairs import Line, SkipError
from weir.fabric import FabricError
from weir.lab.traffic import Flows, Traffic
from weir.plan.lean import chain_of_text, lean_request
from weir.procedures.lean import run as lean
from weir.results.lean import LeanTraffic

CHAIN = "nat,l3fwd"


def run() -> Line:
    """Ratio of the sum of the stages' cycles to the path's; 1 - 5 % is asked for."""
    cpu = max(os.sched_getaffinity(0))
    request = lean_request(chain_of_text(CHAIN), cpu, traffic=Traffic(flows=Flows(count=10_000)), frame="64")
    traffic = LeanTraffic(flows=10_000, frame="64", frames=0)
    try:
        result = lean.LeanRun(CHAIN, request, cpu, traffic, count=False).measure(lean.present_program())
    except FabricError as error:
        raise SkipError(str(error)) from None
    launches = zip(*(sample.launches for sample in result.samples), strict=True)
    ratios = sorted(
        sum(parts) / path for path, *stages in launches for path, *parts in zip(path, *stages, strict=True)
    )
    return Line(
        name="stage-cycles",
        ratio=ratios[len(ratios) // 2],
        min=ratios[0],
        max=ratios[-1],
        n=len(ratios),
        pairs=tuple(ratios),
        target=0.95,
        detail={"chain": CHAIN, "cycles_per_packet": result.later.chain.cycles_per_packet.median},
    )
