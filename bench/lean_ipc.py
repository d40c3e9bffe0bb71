# SPDX-License-Identifier: Apache-2.0
"""lean-ipc: does the chain's IPC follow from its stages', and can the processor reach it?

Instructions and cycles of the same packets: the IPC of the chain against that of its stages, each weighted
with its cycles, for first packets of flows and for later ones. What is in no stage is in the chain alone, so
it shows. `ratio` is the smaller to the larger of the two where they differ most: within 2 % is asked. An IPC
beyond what the core was seen to retire is refused by `weir lean` itself, and fails this bench.
"""

from __future__ import annotations

import os

from bench.fastpath import chain_of_labs_lean
from bench.pairs import Line, SkipError
from weir.fabric import FabricError
from weir.lab.traffic import Flows, Traffic
from weir.plan.lean import LeanChain, chain_of_text, lean_request
from weir.procedures.lean import run as lean
from weir.results.lean import LeanResult, LeanState, LeanTraffic

FLOWS = 10_000
TARGET = 0.98


def run() -> Line:
    """Of chains A and B of labs/lean, and of nat,l3fwd."""
    ratios: dict[str, float] = {}
    detail: dict[str, object] = {}
    for chain in (chain_of_labs_lean("a-rtc"), chain_of_labs_lean("b-rtc"), chain_of_text("nat,l3fwd")):
        try:
            result = measured(chain)
        except FabricError as error:
            raise SkipError(str(error)) from None
        if result.instructions_source is None:
            raise SkipError("; ".join(result.notes))
        for kind, state in (("later", result.later), ("first", result.first)):
            assert state is not None
            ratios[f"{chain.name}, {kind}"] = whole_to_stages(state)
            detail[f"{chain.name}, {kind}"] = {
                one.name: (one.instructions_per_packet, one.cycles_per_packet.median, one.ipc)
                for one in (*state.stages, state.outside, state.chain)
            }
    for name, ratio in ratios.items():
        print(f"  {name}: IPC of the chain to that of its stages {ratio:.4f}")
    near = [min(ratio, 1 / ratio) for ratio in ratios.values()]
    return Line(
        name="lean-ipc",
        ratio=min(near),
        min=min(near),
        max=max(near),
        n=len(near),
        target=TARGET,
        detail={"ratios": ratios, "instructions, cycles and ratio": detail},
    )


def measured(chain: LeanChain) -> LeanResult:
    """That chain, with the packets of labs/lean."""
    cpu = max(os.sched_getaffinity(0))
    traffic = Traffic(flows=Flows(count=FLOWS, vary=("src_ip", "src_port")))
    request = lean_request(chain, cpu, traffic=traffic, frame="64")
    sent = LeanTraffic(flows=FLOWS, frame="64", frames=0)
    return lean.LeanRun(chain.name, request, cpu, sent).measure(lean.present_program())


def whole_to_stages(state: LeanState) -> float:
    """The chain's IPC to that of its stages, each weighted with its cycles."""
    cycles = [stage.cycles_per_packet.median for stage in state.stages]
    ipc = [stage.ipc or 0 for stage in state.stages]
    weighted = sum(one * of for one, of in zip(ipc, cycles, strict=True)) / sum(cycles)
    return (state.chain.ipc or 0) / weighted
