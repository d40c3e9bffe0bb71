# SPDX-License-Identifier: Apache-2.0
"""Functions that are a user's own programs: every packet is accounted for, a program that fails is a finding
with its last words, and nothing of it stays."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric import markers, own_user
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

GENTLE_PPS, DURATION_S, DRAIN_MS = 500, 0.2, 300
ENDS = [f"{{{side}.{value}}}" for side in ("left", "right") for value in ("name", "mac", "gateway_mac")]
FORWARDER = [sys.executable, str(Path(__file__).with_name("forwarder.py")), *ENDS]
NET_ADMIN, NET_RAW = 12, 13  # capabilities(7)
TESTPMD = "dpdk-testpmd"
SLEEP = f"sleep {3600 + secrets.randbelow(10**6)}"
"""Of this run of the tests alone."""


def program_lab(command: list[str], technology: str = "linux-bridge", /, **program: Any) -> Lab:
    tiny = tiny_lab(technology)
    # Python, and what pytest makes, may be root's alone to read.
    options = {"command": command, "ready": "forwarding", "user": "root", **program}
    function = FunctionOptions.model_validate({"kind": "program", "program": options})
    traffic = tiny.traffic.model_copy(update={"frames": ("128",)})
    return tiny.model_copy(update={"functions": {DEFAULT_FUNCTION: function}, "traffic": traffic})


def lost(trial: Trial) -> dict[tuple[str, str], int]:
    return {(drop.place, drop.reason): drop.packets for drop in trial.drops if drop.packets}


@pytest.mark.parametrize("technology", ["linux-bridge", pytest.param("ovs", marks=pytest.mark.slow)])
def test_what_a_program_forwards_and_what_it_loses_is_accounted_for(technology: str, run_root: Path) -> None:
    (whole,) = trials_of(program_lab(FORWARDER, technology), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert whole.delivered == whole.offered > 0, whole.drops
    (trial,) = trials_of(
        program_lab([*FORWARDER, "drop=5"], technology), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS
    )
    assert lost(trial) == {("f1/program", "not_returned"): trial.offered - trial.delivered}
    assert trial.offered - trial.delivered == trial.offered // 5
    assert (whole.unaccounted, trial.unaccounted) == (0, 0)
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
def test_what_a_slow_program_still_holds_of_one_trial_is_waited_for_before_the_next(run_root: Path) -> None:
    slow = program_lab([*FORWARDER, "slow=150"])
    trials: list[Trial] = []
    with standing(slow, trials.append, drain_ms=DRAIN_MS) as (_, runner):
        runner.run("search", 20_000, 0.2)  # for more seconds than a trial drains
        runner.run("curve", 50, 1.0)
    flood, gentle = trials
    late = sum(packets for (_, reason), packets in lost(flood).items() if reason == "too_late")
    assert late > 100
    assert (flood.delivered + late, flood.unaccounted) == (flood.offered, 0)
    assert (gentle.delivered, gentle.unaccounted) == (gentle.offered, 0)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_what_is_ready_when_packets_come_through_loses_none_of_the_first_trial(run_root: Path) -> None:
    late = [*FORWARDER, "late=1"]
    (trial,) = trials_of(program_lab(late, ready_packets=True), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_where_no_packet_comes_through_the_side_is_said(run_root: Path) -> None:
    lab = program_lab([*FORWARDER, "late=60"], ready_packets=True, ready_time_limit_s=0.5)
    with pytest.raises(
        FabricError, match=r"no packet that was sent at tester\.left came through f1 in 0.5 s"
    ):
        trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_what_a_programs_child_does_is_the_programs_own(run_root: Path) -> None:
    """A shell that waits for the forwarder: the forwarder's time on the core is no neighbour's."""
    lab = program_lab(["sh", "-c", f"{shlex.join(FORWARDER)} drop=2 & wait"])
    trials: list[Trial] = []
    with standing(lab, trials.append, drain_ms=DRAIN_MS) as (deployment, runner):
        assert deployment.topology is not None
        (netns,) = {port.netns for port in deployment.topology.ports if port.node == "f1"}
        inside = {f"({pid})" for pid in markers.inside(netns or "")}
        with closing(deployment.core_watch()) as watch:
            watch.begin()
            runner.run("curve", GENTLE_PPS, DURATION_S)
            taken = [one for one in watch.end() if one.by.rpartition(" ")[2] in inside]
            assert watch.refused is not None or taken
    assert all(one.takes_part for one in taken)
    (trial,) = trials
    assert trial.delivered == trial.offered - trial.offered // 2
    assert any(area.name.startswith("program:f1") for area in trial.areas), trial.areas
    assert [*run_root.iterdir()] == []


def test_the_last_words_of_a_program_that_is_stopped_are_kept(run_root: Path) -> None:
    """It says them when the signal comes, and by then nobody may have ended who reads them."""
    last = "trap 'sleep 0.2; echo 20 frames in all >&2; exit 0' TERM"
    lab = program_lab(["bash", "-c", f"{last}; echo forwarding; while :; do sleep 0.05; done"])
    with standing(lab, lambda _trial: None) as (deployment, _):
        log = (deployment.run_dir / "f1.program.log").open()  # its directory goes, and it does not yet
    with log:
        assert "20 frames in all" in log.read()
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "program", "said"),
    [
        pytest.param(
            ["sh", "-c", "echo no card found; exit 3"], {}, ("exit code 3", "no card found"), id="exits"
        ),
        pytest.param(
            ["sh", "-c", f"echo waiting; exec {SLEEP}"],
            {"ready_time_limit_s": 0.3},
            ("has not said 'forwarding' in 0.3 s", "waiting"),
            id="is never ready",
        ),
        pytest.param(
            ["sh", "-c", "kill -SEGV $$"], {}, ("ended by SIGSEGV", "it said nothing"), id="crashes"
        ),
        pytest.param(
            ["sh", "-c", "yes"],
            {"output_mb": 1, "ready_time_limit_s": 0.5},
            ("has not said", "y | y"),
            id="babbles",
        ),
        pytest.param(
            ["sh", "-c", f"{SLEEP} & {SLEEP} & env -i {SLEEP} & exit 4"],
            {},
            ("exit code 4",),
            id="leaves others behind",
        ),
    ],
)
def test_a_program_that_does_not_come_up_is_said_and_leaves_nothing(
    command: list[str], program: dict[str, Any], said: tuple[str, ...], run_root: Path
) -> None:
    with pytest.raises(FabricError, match=r"program f1 \(default\)") as refused:
        trials_of(program_lab(command, **program), 1, GENTLE_PPS, DURATION_S)
    for text in said:
        assert text in str(refused.value)
    assert [*run_root.iterdir()] == []
    assert not subprocess.run(["pgrep", "-f", f"^{SLEEP}$"], capture_output=True, check=False).stdout


def test_it_runs_as_a_user_of_its_own_that_may_touch_packets_and_nothing_else(run_root: Path) -> None:
    told = "grep -E '^(Uid|CapEff|NoNewPrivs)' /proc/self/status; id -G"
    lab = program_lab(["sh", "-c", f"{told}; touch /usr/x 2>&1; echo forwarding; exec {SLEEP}"], user=None)
    with standing(lab, lambda _trial: None) as (deployment, _):
        said = (deployment.run_dir / "f1.program.log").read_text()
        number = own_user.unused_id(f"{deployment.id}/f1")
    assert re.search(rf"^Uid:\s+{number}\s+{number}\s+{number}\s+{number}$", said, re.MULTILINE)
    assert re.search(rf"^{number}$", said, re.MULTILINE)
    assert re.search(rf"^CapEff:\s+{1 << NET_ADMIN | 1 << NET_RAW:016x}$", said, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", said, re.MULTILINE)
    assert "touch: cannot touch '/usr/x': Permission denied" in said
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_one_that_its_user_may_not_execute_is_told_the_way_out(run_root: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho forwarding; sleep 3600\n")
    program.chmod(0o700)
    with pytest.raises(FabricError, match="Permission denied") as refused:
        trials_of(program_lab([str(program)], user=None), 1, GENTLE_PPS, DURATION_S)
    assert "what needs more has program.user: root" in str(refused.value)
    assert [*run_root.iterdir()] == []


def test_a_command_before_it_that_fails_is_mended_where_the_lab_has_it(run_root: Path) -> None:
    with pytest.raises(FabricError, match="failed with exit code 1") as refused:
        trials_of(program_lab(FORWARDER, commands=["false"]), 1, GENTLE_PPS, DURATION_S)
    assert "mend it in program.commands" in str(refused.value)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_a_program_that_ends_in_the_middle_is_named_with_its_last_words(run_root: Path) -> None:
    with pytest.raises(FabricError, match="has ended with exit code 7 before it was taken down") as found:
        trials_of(program_lab([*FORWARDER, "stop=20"]), 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert "forwarding | out of licences" in str(found.value)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_one_that_ignores_its_signal_is_killed(run_root: Path) -> None:
    lab = program_lab([*FORWARDER, "deaf"], stop_time_limit_s=0.2)
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_what_it_shares_as_memory_is_its_own_and_goes_with_it(run_root: Path, tmp_path: Path) -> None:
    """Several of a kind call it the same, and a killed one takes nothing away."""
    script = "mkdir /dev/shm/weir-f1-global_vm && ls /dev/shm > said; echo forwarding; exec sleep 60"
    there = {*Path("/dev/shm").iterdir()}
    lab = program_lab(["sh", "-c", script], user="root", directory=str(tmp_path))
    with standing(lab, lambda _trial: None):
        assert (tmp_path / "said").read_text() == "weir-f1-global_vm\n"
        assert {*Path("/dev/shm").iterdir()} == there
    assert {*Path("/dev/shm").iterdir()} == there
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_it_runs_as_its_user_with_its_files_and_variables(run_root: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    script = "id -un > said; cat $CONF >> said; grep CapEff /proc/self/status > may; "
    script += f"echo forwarding; exec {SLEEP}"
    lab = program_lab(
        ["sh", "-c", script],
        user="nobody",
        files={"conf": "in={left.name} out={right.name} cores={cores}"},
        environment={"CONF": "{file.conf}"},
        commands=["cp {file.conf} checked"],
        directory=str(tmp_path),
    )
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    cores = ",".join(map(str, lab.cores_for("linux-bridge").functions or ()))
    assert (tmp_path / "said").read_text() == f"nobody\nin=left out=right cores={cores}"
    assert (tmp_path / "checked").read_text() == f"in=left out=right cores={cores}"
    assert int((tmp_path / "may").read_text().split()[1], 16) == 1 << NET_ADMIN | 1 << NET_RAW
    assert lost(trial) == {("f1/program", "not_returned"): trial.offered}
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which(TESTPMD) is None, reason="dpdk-testpmd is not installed")
def test_testpmd_forwards_by_af_packet(run_root: Path) -> None:
    devices = [f"--vdev=net_af_packet{at},iface={{{side}.name}}" for at, side in enumerate(("left", "right"))]
    command = [TESTPMD, "--no-pci", "--no-huge", "-m", "256", "--file-prefix", "weir-test", "-l", "0,1"]
    command += [*devices, "--", "--forward-mode=mac", "--total-num-mbufs=4096", "--no-lsc-interrupt"]
    command += ["--eth-peer=0,{left.gateway_mac}", "--eth-peer=1,{right.gateway_mac}", "--no-mlockall"]
    lab = program_lab(command, ready="Press enter|packet forwarding - ports=2")
    (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
    assert trial.delivered == trial.offered > 0, trial.drops
    assert trial.unaccounted == 0
    assert [*run_root.iterdir()] == []
