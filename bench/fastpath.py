# SPDX-License-Identifier: Apache-2.0
"""What the fastpath-* benches measure: cycles a packet of whole chains, by two launches of weir-lean in turn.

Packets come from memory and go nowhere: what ports take is in no figure, reading headers is in all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.hugepages import hugepages
from bench.pairs import Line, SkipError, interleave, line
from weir.fabric import FabricError
from weir.fabric.built import built
from weir.fabric.lean import LeanProcess, request_file
from weir.lab import load_lab
from weir.lab.function import DEFAULT_FASTPATH_FLOWS
from weir.lab.traffic import Traffic
from weir.plan.lean import LeanChain, chain_of_lab, lean_request
from weir.procedures.lean.numbers import BATCH

LAB = Path(__file__).resolve().parent.parent / "labs/lean/lab.yml"
MEMORY_MB = 1024
BATCHES = 1024
REPEATS = 5


def chain_of_labs_lean(name: str) -> LeanChain:
    """A chain of labs/lean/lab.yml, without a fast path."""
    lab = load_lab(LAB)
    return chain_of_lab(lab, next(chain for chain in lab.chains() if chain.name == name))


def with_fastpath(chain: LeanChain) -> LeanChain:
    """The chain with room for as many flows as a lab gives."""
    return replace(chain, fastpath_flows=DEFAULT_FASTPATH_FLOWS)


def against(name: str, ours: LeanChain, peer: LeanChain, *, target: float) -> Line:
    """Ratio of the cycles of chain `peer` to those of chain `ours`, on packets of the lab's 10,000 flows."""
    traffic = load_lab(LAB).traffic
    try:
        with hugepages(2 * MEMORY_MB), _launched(ours, traffic) as one, _launched(peer, traffic) as other:
            taken = interleave(lambda: _cycles(one), lambda: _cycles(other))
    except FabricError as error:
        raise SkipError(str(error)) from None
    return line(name, taken, target=target, unit="cycles_a_packet", less_is_better=True)


@contextmanager
def _launched(chain: LeanChain, traffic: Traffic) -> Iterator[LeanProcess]:
    cpu = max(os.sched_getaffinity(0))
    request = lean_request(chain, cpu, traffic=traffic, frame="64")
    with (
        request_file(request) as path,
        LeanProcess(built("weir-lean"), path, cpu, memory_mb=MEMORY_MB, huge=True) as process,
    ):
        yield process


def _cycles(process: LeanProcess) -> float:
    """Cycles a packet; the quickest of some repeats: nothing makes code quicker than it is."""
    return min(float(process.time(BATCHES)["middle"]) for _ in range(REPEATS)) / BATCH
