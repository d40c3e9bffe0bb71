# SPDX-License-Identifier: Apache-2.0
"""A made-up result of a lab whose variants are steps. None of its numbers was ever measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weir.results.campaign import CaseRound
from weir.results.result import AreaLoad, Case, PathLoad, Result, Setup, StageLoad, Trial

from .disturbed import MEASURE, found
from .synthetic import result

PACKETS = 1000
STEPS = ("plain", "index", "fast-path", "offload")
RATES = {"plain": (1e6, 1.1e6, 0.9e6), "index": (2e6, 2.2e6, 2.7e6), "fast-path": (4e6, 4e6, 4e6)}
"""By round; nobody has an interface for `offload`."""
CYCLES = {"plain": (400, 500, 400), "index": (200, 250, 100), "fast-path": (100, 100, 100)}
"""In the functions for each packet, by round; the way has these of ports and of the kernel besides."""
PORTS, KERNEL = 20, 30
OTHERS = PORTS + KERNEL
NO_OFFLOAD = "no clang here when weir-dp was built"


def stepped(**changes: Any) -> Result:
    """Four steps through one chain at 128 B, in three rounds; the last one is refused."""
    setups = [_setup(name) for name in RATES]
    setups.append(
        Setup(
            technology="linux-bridge",
            variant="offload",
            chain="ran-upf",
            datapath="Linux bridge (kernel)",
            refused=NO_OFFLOAD,
        )
    )
    spec = {"weir": 1, "name": "steps", "measure": MEASURE, "steps": list(STEPS)}
    return result(**{"setups": setups, "spec": spec, "baseline": "plain", "lab": "steps"} | changes)


def _setup(name: str) -> Setup:
    rates, cycles = RATES[name], CYCLES[name]
    one = found(sorted(rates)[1], rounds=rates)
    # Of each round a trial that searches, which is not to count, and one that confirms.
    at_pps = one.lower_bound_pps or 0.0
    trials = [
        trial
        for each in cycles
        for trial in (_trial("search", 9999, at_pps), _trial("confirm", each, at_pps))
    ]
    rounds = [CaseRound(round=number, throughput=[one], trials=2) for number in range(len(rates))]
    case = Case(frame="128", mean_frame_bytes=128, throughput=[one], trials=trials, rounds=rounds)
    return Setup(
        technology="linux-bridge",
        variant=name,
        chain="ran-upf",
        datapath="Linux bridge (kernel)",
        cases=[case],
    )


def _trial(purpose: str, cycles: int, at_pps: float) -> Trial:
    """Two functions, half of all in fast paths; the tester; the kernel, whose cycles in calls count once."""
    stages, kernel = cycles * PACKETS, KERNEL * PACKETS
    slow = PathLoad(
        name="outbound", inputs=[], outputs=[], packets_in=PACKETS, packets_out=PACKETS, dropped=0,
        fastpath_cycles=stages // 4,
        stages=[StageLoad(nf="acl", packets_in=PACKETS, cycles=stages // 4, dropped=0)],
    )  # fmt: skip
    half = slow.model_copy(update={"fastpath_cycles": stages // 2, "stages": [_idle()]})
    areas = [
        area("ran", "chain", stages // 2 + PORTS * PACKETS, paths=[slow]),
        area("upf", "dispatcher", stages // 2 + kernel, kernel, paths=[half]),
        area("tester.tx", "generator", 777 * PACKETS),
        area("tester.rx", "receiver", 777 * PACKETS),
        area("softirq.1", "softirq", kernel),
    ]
    return Trial.model_validate(
        {
            "purpose": purpose,
            "intended_load_pps": at_pps,
            "intended_duration_s": 0.001,
            "duration_s": 0.001,
            "intended": PACKETS,
            "offered": PACKETS,
            "delivered": PACKETS,
            "loss_ratio": 0.0,
            "valid": True,
            "areas": areas,
        }
    )


def _idle() -> StageLoad:
    """The fast path spared it all packets."""
    return StageLoad(nf="upf", packets_in=0, cycles=0, dropped=0)


def area(
    name: str, kind: str, busy_cycles: int, kernel_cycles: int = 0, paths: Sequence[PathLoad] = ()
) -> AreaLoad:
    """Nothing but its cycles."""
    return AreaLoad(
        name=name,
        core=1,
        kind=kind,
        busy_cycles=busy_cycles,
        idle_cycles=0,
        kernel_cycles=kernel_cycles,
        paths=list(paths),
    )
