# SPDX-License-Identifier: Apache-2.0
"""`weir verify` of the real OpenStack as tests run it: its file, and its processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.results.verification import CaseResult, Verification

from .harness import container, place

REAL = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("keystone-manage") is None, reason="no OpenStack is installed here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]
"""Of every file of tests here."""
SUT = """weir: 1
name: zed
description: OpenStack Zed on this host, servers emulated (QEMU TCG)
driver: openstack
openstack:
  cloud: {cloud}
  external_network: public
  image: {image}
  flavor: {flavor}
  ssh_user: root
  chains: {{interface: {interface}}}
suites: [{suite}]
case_time_limit_s: {limit_s}
"""
PERFORMANCE = """performance:
  chains: [PVP, PVVP]
  techniques: [generic, unfiltered, pinned]
  traffic: {frames: [64]}
  goals: [{name: PDR, loss_ratio: 0.005}]
  latency: {loads: [50% PDR], duration_s: 0.5, settle_s: 0.2}
  trial: {backlog_ms: 50}
"""
"""Of emulated servers: delays of 10 ms and more are their processors', and no queue's."""


def sut(folder: Path, *, cloud: str = place.CLOUD, limit_s: int = 240, suite: str = "healthcheck") -> Path:
    text = SUT.format(
        cloud=cloud, image=place.IMAGE, flavor=place.FLAVOR, limit_s=limit_s, suite=suite,
        interface=place.TESTER_LINK,
    )  # fmt: skip
    (folder / "sut.yml").write_text(text + (PERFORMANCE if suite == "performance" else ""))
    return folder


def began(folder: Path, *more: str) -> subprocess.Popen[str]:
    shutil.rmtree(folder / "out", ignore_errors=True)
    environment = os.environ | {"WEIR_CLOUD_JOURNALS": str(folder / "journals")}
    return subprocess.Popen(
        [*WEIR, "verify", str(folder), "--json", *more, "-o", str(folder / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def verified(folder: Path, *cases: str) -> tuple[int, dict[str, CaseResult], str]:
    """Exit code, cases, and all that was said and written."""
    run = began(folder, *[word for name in cases for word in ("--case", name)])
    said, complained = run.communicate(timeout=3000)
    found = Verification.model_validate_json(said)
    written = "".join(path.read_text() for path in (folder / "out").iterdir())
    return run.returncode, {one.name: one for one in found.suites[0].cases}, said + complained + written


class Processes:
    """Watches what the arguments of all processes of this host say, inside its namespaces too."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._over = threading.Event()
        self.seen: set[str] = set()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Processes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if self._secret in (words := path.read_bytes()):
                        self.seen.add(words.decode(errors="replace"))


def processes_of(name: str) -> list[int]:
    """Of a service of the harness, by this host's numbers."""
    pid = container.alive()
    assert pid is not None
    inside = container.inner(pid)
    space = Path(f"/proc/{inside}/ns/pid").readlink()
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "ns/pid").readlink() == space and name.encode() in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found
