# SPDX-License-Identifier: Apache-2.0
"""A run that is killed is taken down at once, by itself; what is kept stays."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.fabric import lifeline

from .running import Run
from .surroundings import Surroundings
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SOON_S = 20.0
LONGER_THAN_IT_WAITS_S = 3.0


@pytest.fixture
def root(run_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(lifeline.OFF)
    return run_root


@pytest.fixture
def run(tmp_path: Path, root: Path) -> Iterator[Run]:
    started = Run("linux-bridge", tmp_path, root)
    yield started
    started.remove()


@pytest.mark.long
def test_of_a_killed_run_nothing_is_left_without_another_weir(run: Run, root: Path) -> None:
    run.until_trials(2)
    run.send(signal.SIGKILL)
    assert run.ended()[0] == -signal.SIGKILL
    deadline = time.monotonic() + SOON_S
    while list(root.glob("*.journal")) or list(root.glob("core-*.lock")):  # these last
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.surroundings.check("kill -9")


@pytest.mark.long
def test_what_is_kept_stays_when_its_maker_ends(
    surroundings: Surroundings, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "lab.yml").write_text(
        LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct")
    )
    program = [*WEIR]
    subprocess.run([*program, "deploy", str(tmp_path)], check=True)
    time.sleep(LONGER_THAN_IT_WAITS_S)
    (journal,) = root.glob("*.journal")
    surroundings.tokens.add(journal.stem.rsplit("-", 1)[1])
    subprocess.run([*program, "destroy", "--all"], check=True)
    assert not list(root.glob("*.journal"))
    surroundings.check("destroyed")


@pytest.mark.long
def test_what_a_killed_destroy_has_begun_is_ended(
    surroundings: Surroundings, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "lab.yml").write_text(
        LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "linux-bridge")
    )
    subprocess.run([*WEIR, "deploy", str(tmp_path)], check=True)
    (journal,) = root.glob("*.journal")
    surroundings.tokens.add(journal.stem.rsplit("-", 1)[1])
    program = subprocess.Popen([*WEIR, "destroy", journal.stem])
    deadline = time.monotonic() + SOON_S
    while '"ending"' not in journal.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    program.kill()
    program.wait()
    while list(root.glob("*.journal")) or list(root.glob("core-*.lock")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    surroundings.check("destroy was killed")
