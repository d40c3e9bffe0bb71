# SPDX-License-Identifier: Apache-2.0
"""A virtual machine that does not run any more is a finding, with its last words."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from weir import plan
from weir.base.error import FabricError
from weir.base.node import GUESTS
from weir.fabric import process
from weir.fabric.counters import Counter
from weir.fabric.journal import Journal
from weir.fabric.site import Site
from weir.fabric.vm.condition import last_words, require_running
from weir.fabric.vm.counters import machine_counters
from weir.fabric.vm.storage import Stored
from weir.lab import Lab
from weir.plan import Step

from .fake_qemu import FakeQemu

OWN_IMAGE: Mapping[str, Any] = {"node": "f1", "forwarder": "", "incoming": False, "failover": False}
KERNEL: Mapping[str, Any] = {**OWN_IMAGE, "forwarder": "kernel"}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wk", dir="/tmp") as path:  # short enough for unix sockets
        monkeypatch.setenv("WEIR_RUN_DIR", path)
        yield Path(path)


@pytest.fixture
def site(place: Path) -> Iterator[Site]:
    """Of a deployment with a guest, an overlay of 16 MiB, and what both said."""
    lab = Lab.model_validate({"weir": 1, "name": "x", "chain": "PVP", "technology": ["direct"]})
    journal = Journal.begin(plan.build_topology(lab, "direct", lab.chains()[0], "x-00000001"))
    made = Site("x-00000001", place / "x-00000001", journal)
    (made.directory / GUESTS).mkdir(parents=True)
    overlay = {"path": str(place / "f1.qcow2"), "bytes": 16 << 20}
    for name, facts in (("guests", {"guests": str(place), "user": 1}), ("vm-seed:f1", {"overlay": overlay})):
        step = Step(kind="vm-seed", name=name, params={}, text="", undo_text="")
        journal.write({"do": step.model_dump()})
        journal.write({"facts": facts, "step": name})
    (place / "f1.serial").write_text("Booting\nKernel panic - not syncing: Fatal exception\n")
    (place / "f1.qcow2").touch()
    yield made
    journal.remove()


def facts(pid: int | None = None, accel: str = "tcg") -> dict[str, Any]:
    return {"pid": os.getpid() if pid is None else pid, "accel": accel}


def ended(place: Path, *argv: str) -> int:
    pid = process.spawn(
        [*argv], marker="x-00000001/vm:f1", netns=None, env={}, cores=[], log=place / "f1.qemu.log"
    )
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("exit 0", r"has ended \(its guest rebooted or switched itself off, or somebody ended it\)"),
        (
            "echo no memory >&2; exit 1",
            r"has ended \(exit code 1 of QEMU\) .*: QEMU: no memory; its console: ",
        ),
        ("kill -SEGV $$", "was ended by SIGSEGV"),
        ("kill -40 $$", r"was ended by SIGRTMIN\+6"),
    ],
)
def test_one_that_has_ended_says_how_and_what_it_said_last(
    script: str, what: str, site: Site, place: Path
) -> None:
    pid = ended(place, "sh", "-c", script)
    with pytest.raises(FabricError, match=what) as caught:
        require_running(KERNEL, facts(pid), site)
    assert "its console: Booting | Kernel panic - not syncing: Fatal exception" in str(caught.value)


def test_one_that_waits_for_a_migration_may_end(site: Site, place: Path) -> None:
    require_running({**KERNEL, "incoming": True}, facts(ended(place, "true")), site)


def test_one_that_runs_is_asked_only_where_it_could_stand_still(site: Site) -> None:
    require_running(KERNEL, facts(), site)  # there is no monitor
    running = FakeQemu(
        site.directory / GUESTS / "f1.qmp", {"query-status": {"running": True, "status": "running"}}
    )
    require_running(OWN_IMAGE, facts(), site)
    assert running.commands() == ["query-status"]
    running.end()


@pytest.mark.parametrize("params", [OWN_IMAGE, KERNEL], ids=["own image", "kvm"])
def test_one_that_stands_still_is_a_finding(params: Mapping[str, Any], site: Site) -> None:
    FakeQemu(
        site.directory / GUESTS / "f1.qmp", {"query-status": {"running": False, "status": "internal-error"}}
    )
    with pytest.raises(FabricError, match=r"f1 stands still \(internal-error\): its console: Booting"):
        require_running(params, facts(accel="kvm"), site)


@pytest.mark.parametrize(
    ("written_bytes", "why"),
    [
        (14 << 20, "it has written 16 MiB, which is all that it may"),
        (1 << 20, r"\d+ MiB are free in /tmp/wk"),
    ],
)
def test_one_that_cannot_write_is_a_finding_with_the_reason(
    written_bytes: int, why: str, site: Site, place: Path
) -> None:
    os.truncate(place / "f1.qcow2", written_bytes)
    FakeQemu(site.directory / GUESTS / "f1.qmp", {"query-status": {"running": False, "status": "io-error"}})
    with pytest.raises(FabricError, match=rf"could not write to its disk: {why}.* raise vm\.overlay_mb"):
        require_running(OWN_IMAGE, facts(), site)


def test_last_words_are_the_last_lines_without_controls_of_a_terminal(tmp_path: Path) -> None:
    its = Stored(tmp_path, "f1")
    assert last_words(its) == "it said nothing"
    its.serial.write_bytes(
        b"x" * 100_000 + b"\none\n\n\x1b[31mtwo\x1b[0m\r\nthree\x07\n\x1b]0;title\x07\n\xfffour\n"
    )
    assert last_words(its) == "its console: two | three | 0;title | \ufffdfour"
    its.log.write_text("qemu: terminating on signal 15\n")
    assert last_words(its).startswith("QEMU: qemu: terminating on signal 15; its console: ")


def test_a_machine_that_counts_nothing_is_a_finding_with_its_last_words(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = {"default": {"kind": "vm", "vm": {"forwarder": "kernel"}}}
    lab = Lab.model_validate(
        {"weir": 1, "name": "x", "chain": "PVP", "technology": ["linux-bridge"], "functions": functions}
    )
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], "x-00000001")

    def silent(*_: object) -> list[Counter]:
        raise FabricError("f1 does not answer", "look at it")

    monkeypatch.setattr("weir.fabric.vm.counters._of", silent)
    with pytest.raises(FabricError, match="f1 does not answer; its last words: its console: Booting"):
        machine_counters(topology, site, [])
