# SPDX-License-Identifier: Apache-2.0
"""Areas outside weir-dp count the same packets as its ledger, and share each core's time out once."""

from __future__ import annotations

import os
import shutil

import pytest

from weir.results.result import AreaLoad, Trial

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.usefixtures("run_root"),
]

LOAD_PPS = 20_000.0
DURATION_S = 0.2
HOPS = 2
"""A packet of a PVP chain passes two networks; through each the kernel takes it up at two interfaces."""
ROUGH_S = 0.03
"""The kernel's ticks of 10 ms at both ends of a trial, and the time that reading takes."""
FOREIGN = 100
"""Frames of the machine's own interfaces meanwhile."""


def packets(trial: Trial, kind: str) -> int:
    return sum(path.packets_in for area in _of(trial, kind) for path in area.paths)


def _of(trial: Trial, kind: str) -> list[AreaLoad]:
    return [area for area in trial.areas if area.kind == kind]


def _at_each_hop(trial: Trial) -> int:
    """Delivered packets passed all networks; lost ones are of no use here."""
    if trial.delivered != trial.offered:
        pytest.skip("packets were lost: where each of them had been is not told")
    return HOPS * trial.delivered


def _shared_out_once(trial: Trial) -> None:
    """No core had more time than there was."""
    for core in trial.cores:
        assert 0.0 < core.accounted * core.window_s <= core.window_s + ROUGH_S, core


@pytest.mark.long
def test_a_polling_thread_takes_each_packet_at_each_network() -> None:
    (trial,) = trials_of(tiny_lab("ovs-dpdk"), 1, LOAD_PPS, DURATION_S)
    (pmd,) = _of(trial, "pmd")
    assert packets(trial, "pmd") == _at_each_hop(trial)
    assert pmd.paths[0].inputs
    assert pmd.idle_cycles > 0
    assert pmd.polling is not None
    assert pmd.polling.upcalls_lost == 0
    _shared_out_once(trial)


def test_the_softirq_takes_each_packet_up_at_both_ends_of_each_bridge() -> None:
    (trial,) = trials_of(tiny_lab("linux-bridge"), 1, LOAD_PPS, DURATION_S)
    frames = 2 * _at_each_hop(trial)
    assert frames <= sum(core.frames for core in trial.cores) <= frames + FOREIGN
    _shared_out_once(trial)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_sampled_stacks_find_the_bridge_in_the_softirq() -> None:
    lab = tiny_lab("linux-bridge")
    lab = lab.model_copy(update={"measure": lab.measure.model_copy(update={"sample_stacks": True})})
    (trial,) = trials_of(lab, 1, LOAD_PPS, DURATION_S)
    stages = {stage.nf for area in _of(trial, "softirq") for path in area.paths for stage in path.stages}
    assert stages & {"bridge", "netfilter", "NAPI receive", "AF_PACKET", "veth"}
    assert _of(trial, "syscalls")
