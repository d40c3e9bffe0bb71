# SPDX-License-Identifier: Apache-2.0
"""Traffic both ways: what runs back answers what the left end sends, flow by flow. Through address
translation, of a lab that says nothing of it, the tester answers what it sees."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from weir import plan
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.lab.traffic import Flows, TupleField
from weir.procedures.driver import planned, running
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

GENTLE_PPS, DURATION_S, DRAIN_MS = 2000, 0.3, 300
NAT = {"nf": "nat", "options": {"external": "203.0.113.0/28"}}
NEEDS_NFT = pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed")


def lab_of(technology: str, **function: Any) -> Lab:
    tiny = tiny_lab(technology)
    made = FunctionOptions.model_validate({**NAT, **function})
    traffic = tiny.traffic.model_copy(update={"frames": ("128",)})
    return tiny.model_copy(update={"functions": {DEFAULT_FUNCTION: made}, "traffic": traffic})


def assert_both_ways(trials: list[Trial]) -> None:
    for trial in trials:
        assert trial.unaccounted == 0, trial.drops
        assert [drop for drop in trial.drops if drop.packets] == []
        assert {stream.direction for stream in trial.streams} == {"left-to-right", "right-to-left"}
        for stream in trial.streams:
            assert stream.offered == stream.delivered > 0, stream


@pytest.mark.long
@pytest.mark.parametrize("technology", ["direct", "linux-bridge"])
def test_all_flows_come_through_weirs_nat_and_back(technology: str) -> None:
    assert_both_ways(trials_of(lab_of(technology), 2, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS))


@pytest.mark.long
@NEEDS_NFT
def test_all_flows_come_through_linuxs_nat_and_back() -> None:
    lab = lab_of("linux-bridge", kind="kernel")
    assert_both_ways(trials_of(lab, 2, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS))


BALANCER = {
    "nf": "lb",
    "options": {"services": "198.19.0.1:1024/udp 10.0.0.1:5000, 198.19.0.1:1024/udp 10.0.0.2:5000"},
}


@pytest.mark.parametrize("kind", ["process", pytest.param("kernel", marks=[pytest.mark.long, NEEDS_NFT])])
def test_the_back_ends_of_a_balancer_answer_all_that_came_to_its_service(kind: str) -> None:
    lab = lab_of("linux-bridge", kind=kind, **BALANCER)
    traffic = lab.traffic.model_copy(update={"flows": Flows(count=100, vary=("src_ip",))})
    lab = lab.model_copy(update={"traffic": traffic})
    with running(lab, planned(lab, "linux-bridge", lab.chains()[0])) as chain:
        said = "\n".join(chain.fidelity())
    assert "100 of 100 flows from left to right are translated on the way" in said
    assert_both_ways(trials_of(lab, 2, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS))


@pytest.mark.parametrize("vary", [("src_ip",), ("src_ip", "dst_ip", "src_port", "dst_port")])
def test_a_firewall_that_lets_in_answers_alone_lets_in_all_that_runs_back(
    vary: tuple[TupleField, ...], tmp_path: Path
) -> None:
    rules = tmp_path / "left.rules"
    rules.write_text("permit udp 198.18.0.0/16 198.19.0.0/16 any any\n")
    options = {"rules": str(rules), "default": "deny"}
    lab = lab_of("direct", nf="firewall", options=options)
    traffic = lab.traffic.model_copy(update={"flows": Flows(count=100, vary=vary)})
    lab = lab.model_copy(update={"traffic": traffic})
    _, trial = trials_of(lab, 2, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)  # the first begins the sessions
    assert_both_ways([trial])


def test_a_result_says_that_the_tester_answered_translated_addresses() -> None:
    lab = lab_of("direct")
    with running(lab, planned(lab, "direct", lab.chains()[0])) as chain:
        said = "\n".join(chain.fidelity())
    assert "100 of 100 flows from left to right are translated on the way" in said
    assert plan.Plan.of(chain.topology, lab).streams["128"].streams[1].answers == 0
