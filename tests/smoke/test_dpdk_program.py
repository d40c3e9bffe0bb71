# SPDX-License-Identifier: Apache-2.0
"""DPDK programs with ports at sockets: a real dpdk-testpmd between ports of weir-dp, or of Open vSwitch.

What it forwards and what it loses is accounted for, its own counters are read, and one that fails is a
finding with its last words."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import ChainError
from weir.fabric.function.dpdk import Telemetry
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.results.result import Trial

from .test_program import DRAIN_MS, DURATION_S, GENTLE_PPS, TESTPMD, lost, program_lab
from .trials import standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]
installed = pytest.mark.skipif(shutil.which(TESTPMD) is None, reason="dpdk-testpmd is not installed")
READY = "Press enter|packet forwarding - ports=2"
WAYS = [
    ("direct", "virtio-user"),
    ("direct", "vhost-user"),
    ("direct", "memif"),
    pytest.param("ovs-dpdk", "virtio-user", marks=pytest.mark.slow),
    pytest.param("linux-bridge", "any", marks=pytest.mark.slow),
]


def forwarding(mode: str) -> list[str]:
    command = [TESTPMD, "{eal}", "--", f"--forward-mode={mode}", "--total-num-mbufs=16384", "--no-mlockall"]
    return [*command, "--eth-peer=0,{left.gateway_mac}", "--eth-peer=1,{right.gateway_mac}"]


def dpdk_lab(technology: str, ports: str, mode: str, **program: Any) -> Lab:
    options = {"ready": READY, "ports": ports, "memory_mb": 256, "user": None, **program}
    return program_lab(forwarding(mode), technology, **options)


@installed
@pytest.mark.parametrize(("technology", "ports"), WAYS)
def test_what_testpmd_forwards_arrives_and_its_threads_are_areas(
    technology: str, ports: str, run_root: Path
) -> None:
    (trial,) = trials_of(dpdk_lab(technology, ports, "mac"), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert (trial.unaccounted, trial.duplicates) == (0, 0)
    (area,) = [one for one in trial.areas if one.name.startswith("program:f1")]
    assert (area.kind, area.busy_cycles > 0) == ("guest", True)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
@pytest.mark.parametrize(("technology", "ports"), WAYS)
def test_what_testpmd_loses_is_its_own(technology: str, ports: str, run_root: Path) -> None:
    """rxonly takes every packet and sends none."""
    lab = dpdk_lab(technology, ports, "rxonly")
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert lost(trial) == {("f1/program", "not_returned"): trial.offered}
    assert (trial.delivered, trial.unaccounted) == (0, 0)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
def test_its_telemetry_counts_the_packets_that_weir_dp_sends(run_root: Path) -> None:
    trials: list[Trial] = []
    with standing(dpdk_lab("direct", "virtio-user", "mac"), trials.append, drain_ms=DRAIN_MS) as chain:
        deployment, runner = chain
        (path,) = deployment.run_dir.glob("f1.run/dpdk/f1/dpdk_telemetry.v2")
        telemetry = Telemetry("program f1", path)
        runner.run("curve", GENTLE_PPS, DURATION_S)  # behind the packets that tell the tester whom it answers
        before = [telemetry.ask(f"/ethdev/stats,{port}")["ipackets"] for port in (0, 1)]
        runner.run("curve", GENTLE_PPS, DURATION_S)
        after = [telemetry.ask(f"/ethdev/stats,{port}")["ipackets"] for port in (0, 1)]
        assert {one.reason for one in telemetry.lost()} >= {"rx_missed", "rx_errors", "tx_errors"}
        telemetry.close()
    assert sum(after) - sum(before) == trials[-1].offered
    assert not list(Path("/var/run/dpdk").glob("f1*"))
    assert [*run_root.iterdir()] == []


FAILURES = [
    pytest.param(["sh", "-c", "echo no hugepages; exit 3"], {}, ("exit code 3", "no hugepages"), id="exits"),
    pytest.param(
        ["sh", "-c", "echo waiting; exec sleep 3600"],
        {"ready_time_limit_s": 0.5},
        ("has not said", "waiting"),
        id="is never ready",
    ),
    pytest.param(
        ["sh", "-c", "exec sleep 3600"],
        {"ready": None, "ready_socket": "{left.socket}", "ready_time_limit_s": 0.5},
        ("takes no connections at", "f1.run/left.sock", "program.ready_socket"),
        id="opens no socket",
    ),
    pytest.param(
        ["sh", "-c", "echo Press enter; exec sleep 3600"],
        {"ready_time_limit_s": 0.5},
        ("makes no socket at", "f1.run/left.sock"),
        id="says that it is ready and is not",
    ),
    pytest.param(
        ["sh", "-c", "head -c 3000000 /dev/urandom; sleep 3600"],
        {"output_mb": 1, "ready_time_limit_s": 0.5},
        ("has not said",),
        id="spews garbage",
    ),
]


@pytest.mark.long
@pytest.mark.parametrize("ports", ["virtio-user", "vhost-user", "memif"])
@pytest.mark.parametrize(("command", "program", "said"), FAILURES)
def test_one_that_does_not_come_up_is_said_and_leaves_nothing(
    command: list[str], program: dict[str, Any], said: tuple[str, ...], ports: str, run_root: Path
) -> None:
    lab = program_lab(command, "direct", **{"ready": READY, "ports": ports, **program})
    with pytest.raises(ChainError) as refused:
        trials_of(lab, 1, GENTLE_PPS, DURATION_S)
    for text in said:
        assert text in str(refused.value)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
@pytest.mark.parametrize("ports", ["virtio-user", "vhost-user"])
def test_one_that_is_killed_in_the_middle_is_named_with_its_last_words(ports: str, run_root: Path) -> None:
    trials: list[Trial] = []
    with standing(dpdk_lab("direct", ports, "mac"), trials.append, drain_ms=DRAIN_MS) as (deployment, runner):
        runner.run("curve", GENTLE_PPS, DURATION_S)
        os.kill(deployment.processes()["program:f1"], signal.SIGKILL)
        with pytest.raises(ChainError, match=r"program f1 \(default\) was ended by SIGKILL before") as found:
            runner.run("curve", GENTLE_PPS, DURATION_S)
    assert re.search("Press enter|Port 1: link state change", str(found.value))
    assert len(trials) == 1
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
def test_one_that_ignores_its_signal_is_killed(run_root: Path) -> None:
    """Testpmd ends itself; the shell around it stays, and starts another one when that is gone."""
    deaf = ["sh", "-c", 'trap "" TERM; while :; do "$@"; done', "sh"]
    lab = program_lab(
        [*deaf, *forwarding("mac")], "direct", ready=READY, ports="virtio-user", stop_time_limit_s=0.5
    )
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
def test_it_runs_as_its_user_who_makes_the_sockets(run_root: Path) -> None:
    lab = dpdk_lab("direct", "virtio-user", "mac", user="nobody")
    lab = lab.model_copy(update={"host": lab.host.model_copy(update={"hugepages": "none"})})
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@installed
@pytest.mark.parametrize("mode", ["mac-swap", "mac-rewrite"])
def test_testpmd_stands_in_the_place_of_l2fwd(mode: str, run_root: Path) -> None:
    """Set up from l2fwd's own options alone."""
    lab = program_lab(["true"], "direct", ports="any")
    function = FunctionOptions.model_validate(
        {
            "kind": "program",
            "nf": "l2fwd",
            "options": {"mode": mode},
            "program": {"counterpart": "testpmd", "ports": "any", "memory_mb": 256},
        }
    )
    lab = lab.model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []


EXAMPLES = Path("/usr/share/dpdk/examples")  # of the Debian package dpdk-doc
CHECKS_IN_HARDWARE = (
    ".offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,"  # up to DPDK 22.11, and no virtual port has it
)


@pytest.fixture(scope="module", params=[("dpdk-l2fwd", "l2fwd"), ("dpdk-l3fwd", "l3fwd")])
def example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str, Path]:
    """A counterpart, whose place it takes, and the program."""
    counterpart, name = request.param
    folder = tmp_path_factory.mktemp(name)
    if not (EXAMPLES / name).is_dir():
        pytest.skip("dpdk-doc is not installed")
    for part in (name, "common"):
        shutil.copytree(EXAMPLES / part, folder / part)
    main = folder / name / "main.c"
    main.write_text(main.read_text().replace(CHECKS_IN_HARDWARE, ".offloads = 0,"))
    subprocess.run(["make", "-C", folder / name], check=True, capture_output=True)
    return counterpart, name, folder / name / "build" / name


@pytest.mark.slow
def test_an_example_of_dpdk_stands_in_the_place_of_a_function(
    example: tuple[str, str, Path], run_root: Path
) -> None:
    counterpart, nf, path = example
    lab = program_lab(["true"], "direct", ports="any")
    options = {"mode": "mac-rewrite"} if nf == "l2fwd" else {}
    program = {"counterpart": counterpart, "path": str(path), "ports": "any", "memory_mb": 256}
    program["user"] = "root"  # whose the folder is
    function = FunctionOptions.model_validate(
        {"kind": "program", "nf": nf, "options": options, "program": program}
    )
    lab = lab.model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []
