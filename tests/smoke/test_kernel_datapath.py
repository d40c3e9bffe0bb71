# SPDX-License-Identifier: Apache-2.0
"""Chains under Open vSwitch where the kernel has its datapath; `make test-other-kernel` runs it elsewhere."""

from __future__ import annotations

import pytest

from weir.fabric import probe
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, standing

pytestmark = [pytest.mark.usefixtures("run_root")]
GENTLE_PPS, DURATION_S = 1000, 0.5


def test_each_packet_has_its_place_and_nothing_of_the_switch_polls() -> None:
    if not probe.ovs_datapath():
        pytest.skip("this kernel has no Open vSwitch datapath: load its openvswitch module")
    trials: list[Trial] = []
    with standing(tiny_lab("ovs"), trials.append) as (chain, runner):
        assert "kernel datapath" in chain.datapath()
        runner.run("curve", GENTLE_PPS, DURATION_S)
        runner.run("curve", AS_FAST_AS_IT_CAN, DURATION_S)
    gentle, fast = trials
    assert gentle.delivered == gentle.offered > 0, gentle.drops
    assert fast.delivered > 0
    for trial in trials:
        assert trial.unaccounted == 0, trial.drops
        assert "pmd" not in {area.kind for area in trial.areas}, trial.areas
