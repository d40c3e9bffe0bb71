# SPDX-License-Identifier: Apache-2.0
"""Functions in virtual machines, booted under emulation: every packet is accounted for, in the guest too. One
that is reset forwards again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir import fabric
from weir.fabric import process
from weir.fabric.reset import resets
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.lacking import lacking
from weir.fabric.vm.monitor import execute
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.lab.vm import VmOptions
from weir.measure.one_case import Event
from weir.procedures.campaign import Campaign
from weir.procedures.rfc2544.recovery import recovery_s
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import Shape
from weir.results.result import Case, Trial
from weir.store.store import Store

from .tiny import tiny_lab
from .trials import AS_FAST_AS_IT_CAN, standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SMALL = {"forwarder": "kernel", "accel": "tcg", "memory_mb": 256}
KERNEL = {"kind": "vm", "vm": SMALL}
AFTER_S, RESET_S = 1.0, 20.0  # an emulated guest boots in less
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
    trials: list[Trial] = []
    with standing(lab, trials.append, drain_ms=2000) as (_, runner):
        runner.run("curve", 500, 0.5)
        runner.run("curve", AS_FAST_AS_IT_CAN, 0.2)
    gentle, hard = trials
    assert gentle.offered > 0
    assert gentle.delivered > 0
    assert (gentle.unaccounted, hard.unaccounted) == (0, 0)
    assert [*run_root.iterdir()] == []


@pytest.mark.parametrize("function", [KERNEL, WEIR_DP], ids=["kernel", "weir-dp"])
def test_a_guest_that_is_reset_forwards_again(function: dict[str, object], run_root: Path) -> None:
    technology = "linux-bridge"
    options = FunctionOptions.model_validate(function)
    machine = options.machine()
    assert machine is not None
    missing = lacking([machine], technology)
    if missing is not None:
        pytest.skip(": ".join(missing))
    lab = tiny_lab(technology).model_copy(update={"functions": {DEFAULT_FUNCTION: options}})
    trials: list[Trial] = []
    with standing(lab, trials.append, drain_ms=2000) as (deployment, runner):
        (reset,) = [one for one in resets(deployment) if "guest" in one.what]
        before = deployment.processes()
        runner.run("reset", 500, RESET_S, None, Shape(meanwhile=reset.do, meanwhile_after_s=AFTER_S))
        runner.run("curve", 500, 0.5)
        assert deployment.processes() == before
    through, after = trials
    assert through.unaccounted >= 0
    assert 0 < through.delivered < through.offered
    assert 0 < recovery_s(through, AFTER_S) < 0.95 * (RESET_S - AFTER_S)
    assert after.delivered > 0
    assert after.unaccounted == 0
    assert [*run_root.iterdir()] == []


class Silent:
    """Nobody watches the run."""

    def say(self, text: str) -> None: ...
    def planned(self, cases: int, budget_s: float | None = None) -> None: ...
    def skipped(self, cases: int) -> None: ...
    def setup(self, name: str) -> None: ...
    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...


def test_the_last_words_of_a_guest_that_ends_in_a_run_are_kept_in_the_result(
    run_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = FunctionOptions.model_validate(KERNEL)
    machine = options.machine()
    assert machine is not None
    missing = lacking([machine], "linux-bridge")
    if missing is not None:
        pytest.skip(": ".join(missing))
    lab = tiny_lab("linux-bridge").model_copy(update={"functions": {DEFAULT_FUNCTION: options}})
    wait = DataPlaneClient.wait

    def eventful_wait(client: DataPlaneClient, seconds: float) -> None:
        (deployment,) = fabric.deployments()
        pid = deployment.processes().get("vm:f1")
        if pid is not None and process.alive(pid):
            execute(Files(deployment.run_dir, "f1").monitor, "system_reset")
        wait(client, seconds)

    monkeypatch.setattr(DataPlaneClient, "wait", eventful_wait)
    with Store(tmp_path / "results.db") as store:
        run = Campaign(lab, quick=False, store=store, progress=Silent()).run()
        (case,) = store.load(run.id).setups[0].cases
    assert case.problem is not None
    assert "virtual machine f1 has ended" in case.problem
    assert "weir: the kernel forwards" in case.problem.partition("its console: ")[2]
    assert [*run_root.iterdir()] == []


# Says "login:" on the serial port, then halts: mov dx,0x3f8; cld; xor ax,ax; mov ds,ax; mov si,message;
# next: lodsb; test al,al; jz end; out dx,al; jmp next; end: hlt; jmp end.
BOOT_SECTOR = bytes.fromhex("baf803 fc 31c0 8ed8 be167c ac 84c0 7403 ee ebf8 f4 ebfd") + b"login:\0"


def test_an_image_of_the_users_boots_and_is_never_written_to(tmp_path: Path, run_root: Path) -> None:
    image, user_data = tmp_path / "own.raw", tmp_path / "user-data.yml"
    image.write_bytes(BOOT_SECTOR.ljust(510, b"\0") + b"\x55\xaa" + bytes(1 << 20))
    user_data.write_text("#cloud-config\n")
    before = image.read_bytes()
    options = VmOptions(
        image=str(image), image_format="raw", user_data=str(user_data), accel="tcg", memory_mb=128
    )
    missing = lacking([options], "linux-bridge")
    if missing is not None:
        pytest.skip(": ".join(missing))
    function = FunctionOptions(kind="vm", vm=options)
    lab = tiny_lab("linux-bridge").model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    (trial,) = trials_of(lab, 1, 2000, 0.2)
    # Its guest has no driver: all packets wait in the taps, or find them full.
    assert trial.delivered == 0
    assert trial.offered > 0
    assert {drop.reason for drop in trial.drops} <= {"not_read", "interface_tx_dropped"}
    assert trial.unaccounted == 0
    assert image.read_bytes() == before
    assert [*run_root.iterdir()] == []
