# SPDX-License-Identifier: Apache-2.0
"""Chains under Open vSwitch where the kernel has its datapath; `make test-other-kernel` runs it elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from weir.fabric import probe
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, standing

pytestmark = [pytest.mark.usefixtures("run_root")]
GENTLE_PPS, DURATION_S = 1000, 0.5
DRAIN_MS = 3000
"""Two full backlogs (net.core.netdev_max_backlog), also where the processor is emulated."""
SLOW_RULES = 1000


def require_datapath() -> None:
    if not probe.ovs_datapath():
        pytest.skip("this kernel has no Open vSwitch datapath: load its openvswitch module")


def test_each_packet_has_its_place_and_nothing_of_the_switch_polls() -> None:
    require_datapath()
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


@pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed")
def test_what_a_slow_function_of_linuxs_has_no_backlog_for_is_told_once(tmp_path: Path) -> None:
    require_datapath()
    tiny = tiny_lab("ovs")
    passed_over = "    ip daddr 203.0.113.1 drop\n" * SLOW_RULES
    (tmp_path / "rules.nft").write_text(
        "table ip slow {\n  chain forward {\n    type filter hook forward priority filter\n"
        f"{passed_over}  }}\n}}\n"
    )
    kernel = {"commands": ["nft -f rules.nft"], "directory": str(tmp_path)}
    # A backlog fills from another core alone, and the switch's own has nothing to do.
    apart = {"kind": "kernel", "kernel": kernel, "cores": tiny.cores_for("ovs").switch}
    function = FunctionOptions.model_validate(apart)
    lab = tiny.model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    trials: list[Trial] = []
    with standing(lab, trials.append, drain_ms=DRAIN_MS) as (chain, runner):
        if chain.steered() != ["f1"]:
            pytest.skip("this kernel has no receive packet steering (CONFIG_RPS)")
        runner.run("curve", AS_FAST_AS_IT_CAN, DURATION_S)
    (trial,) = trials
    lost = {(drop.place, drop.reason): drop.packets for drop in trial.drops}
    assert lost.get(("switch:f1.left", "interface_tx_dropped"), 0) > 0, lost
    at_switch = {reason for place, reason in lost if place.startswith("switch:")}
    assert not at_switch & {"rx_dropped", "tx_queue_full"}, lost
    assert trial.unaccounted == 0, lost
