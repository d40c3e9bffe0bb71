# SPDX-License-Identifier: Apache-2.0
"""A guest of the user's image under QEMU: without rights, with a limit to its disk, and what
becomes of a measurement when that stops."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from weir import plan
from weir.base.error import FabricError
from weir.fabric import Deployment
from weir.fabric.vm.command_line import Files
from weir.fabric.vm.lacking import lacking
from weir.fabric.vm.monitor import execute
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.lab.vm import VmOptions

from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]
TECHNOLOGY, OVERLAY_MB, WAIT_S = "linux-bridge", 16, 60
# Says "login:" on the serial port, then writes to every cluster of its disk (BIOS, 0x13), for ever:
# xor ax,ax; mov ds,ax; cld; mov dx,0x3f8; mov si,message; next: lodsb; test al,al; jz write; out dx,al;
# jmp next; write: mov ax,0x4300; mov dl,0x80; mov si,packet; int 0x13; add word [packet+8],128;
# adc word [packet+10],0; jmp write; packet: 64 sectors from 0x8000 to sector 128; message.
WRITES = bytes.fromhex(
    "31c08ed8fcbaf803be3a7cac84c07403eeebf8b80043b280be2a7ccd138106327c80008316347c00"
    "ebe910004000008000008000000000000000"
)
WRITES += b"login:\0"


@contextmanager
def deployed(image: Path) -> Iterator[Deployment]:
    options = VmOptions(
        image=str(image),
        image_format="raw",
        accel="tcg",
        memory_mb=128,
        overlay_mb=OVERLAY_MB,
        boot_time_limit_s=WAIT_S,
    )
    missing = lacking([options], TECHNOLOGY)
    if missing is not None:
        pytest.skip(": ".join(missing))
    function = FunctionOptions(kind="vm", vm=options)
    lab = tiny_lab(TECHNOLOGY).model_copy(update={"functions": {DEFAULT_FUNCTION: function}})
    topology = plan.build_topology(lab, TECHNOLOGY, lab.chains()[0], "tiny-0badcafe")
    wanted = ("run-directory", "netns", "tap", "guests", "vm-seed", "vm", "vm-ready")
    steps = [step for step in plan.steps(topology, lab) if step.kind in wanted]
    deployment = Deployment.deploy(steps, topology)
    try:
        yield deployment
    finally:
        deployment.destroy()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "own.raw"
    with path.open("wb") as file:
        file.write(WRITES.ljust(510, b"\0") + b"\x55\xaa")
        file.truncate(64 << 20)
    path.chmod(0o600)
    return path


def fields(pid: int) -> dict[str, list[str]]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: words.split() for name, words in (line.split(":", 1) for line in lines)}


@pytest.mark.long
def test_a_guest_has_no_rights_and_a_full_disk_is_a_finding(
    image: Path, run_root: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of root's\n")
    secret.chmod(0o600)
    tmp_path.chmod(0o755)
    with deployed(image) as deployment:
        pid = deployment.processes()["vm:f1"]
        monitor = Files(deployment.run_dir, "f1").monitor
        status = fields(pid)
        assert "0" not in {*status["Uid"], *status["Gid"], *status["Groups"]}
        assert {*status["CapEff"], *status["CapPrm"]} == {"0" * 16}
        assert status["Seccomp"] == ["2"]
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert {one.partition(b"=")[0] for one in environment} <= {b"PATH", b"WEIR_RESOURCE", b""}
        with pytest.raises(FabricError, match="Permission denied"):
            execute(monitor, "blockdev-add", {"driver": "file", "node-name": "s", "filename": str(secret)})
        with pytest.raises(FabricError, match="Permission denied"):
            execute(monitor, "blockdev-add", {"driver": "file", "node-name": "s", "filename": str(image)})
        until = time.monotonic() + WAIT_S
        while execute(monitor, "query-status")["running"] and time.monotonic() < until:
            time.sleep(0.05)
        with pytest.raises(
            FabricError, match=r"it has written 16 MiB, which is all that it may; .*console: login:"
        ):
            deployment.counters({})
    assert [*run_root.iterdir()] == []


def test_a_guest_that_reboots_is_a_finding_with_its_last_words(image: Path, run_root: Path) -> None:
    with deployed(image) as deployment:
        pid = deployment.processes()["vm:f1"]
        with suppress(FabricError):  # it may be gone before it answers
            execute(Files(deployment.run_dir, "f1").monitor, "system_reset")
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(FabricError, match=r"f1 has ended \(its guest rebooted .*its console: login:"):
            deployment.counters({})
    assert [*run_root.iterdir()] == []
