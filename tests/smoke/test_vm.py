# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines, booted under emulation: every packet is accounted for, in the guest too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.fabric.vm.lacking import lacking
from weir.spec.function import FunctionOptions
from weir.spec.lab import DEFAULT_FUNCTION

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SMALL = {"forwarder": "kernel", "accel": "tcg", "memory_mb": 256}
KERNEL = {"kind": "vm", "vm": SMALL}
SEVERAL_QUEUES = {"kind": "vm", "vm": SMALL | {"queues": 2, "vcpus": 2}}
WEIR_DP = {"kind": "vm", "nf": "l2fwd", "options": {"mode": "mac-rewrite"}, "vm": {"accel": "tcg"}}


@pytest.mark.parametrize("technology", ["linux-bridge", "ovs-dpdk"])
@pytest.mark.parametrize("function", [KERNEL, SEVERAL_QUEUES, WEIR_DP], ids=["kernel", "queues", "weir-dp"])
@pytest.mark.parametrize("chain", ["PVP", "PVVP"])
def test_no_packet_is_lost_unseen(
    technology: str, function: dict[str, object], chain: str, run_root: Path
) -> None:
    options = FunctionOptions.model_validate(function)
    machine = options.machine()
    assert machine is not None
    missing = lacking([machine], technology)
    if missing is not None:
        pytest.skip(": ".join(missing))
    tiny = tiny_lab(technology)
    lab = tiny.model_copy(update={"chain": (chain,), "functions": {DEFAULT_FUNCTION: options}})
    (gentle,) = trials_of(lab, 1, 500, 0.5, drain_ms=2000)
    (hard,) = trials_of(lab, 1, AS_FAST_AS_IT_CAN, 0.2, drain_ms=2000)
    assert gentle.offered > 0
    assert gentle.delivered > 0
    assert (gentle.unaccounted, hard.unaccounted) == (0, 0)
    assert [*run_root.iterdir()] == []
