# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, as a terminal sends it to a run and its children: it ends, keeps what is done, leaves nothing."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weir import fabric
from weir.cli.exits import INTERRUPTED
from weir.results.result import Result
from weir.store.store import Store

from .surroundings import Surroundings
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SOON_S = 30.0
ENDLESS = "curve: {points: 1000, duration_s: 0.05}"


class Run:
    """`weir run` of a tiny lab that would not end soon, in a session of its own."""

    def __init__(self, technology: str, folder: Path, root: Path) -> None:
        lab = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", technology)
        (folder / "lab.yml").write_text(lab.replace("curve: {points: 1, duration_s: 0.002}", ENDLESS))
        self._store = folder / "results.db"
        self._root = root
        self.surroundings = Surroundings(root, "tiny", secrets.token_hex(4))
        words = ["run", str(folder), "--store", str(self._store), "--output", str(folder / "report")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from weir.cli.main import main; main()", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def until(self, happened: Callable[[], bool]) -> None:
        """Looks every few milliseconds, and at the deployments meanwhile."""
        deadline = time.monotonic() + SOON_S
        while not happened():
            assert self._process.poll() is None, self._process.stdout and self._process.stdout.read()
            assert time.monotonic() < deadline
            time.sleep(0.005)
            self.surroundings.tokens |= {path.stem.rsplit("-", 1)[1] for path in self._journals()}

    def journal(self) -> str:
        """What stands in all journals."""
        texts = ""
        for path in self._journals():
            try:
                texts += path.read_text()
            except FileNotFoundError:
                continue
        return texts

    def _journals(self) -> list[Path]:
        return list(self._root.glob("*.journal"))

    def press(self) -> None:
        os.killpg(self._process.pid, signal.SIGINT)

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it said."""
        said, _ = self._process.communicate(timeout=SOON_S)
        return self._process.returncode, said

    def stored(self) -> Result | None:
        if not self._store.exists():
            return None
        with Store(self._store) as store:
            return store.latest()

    def trials(self) -> int:
        """In the store."""
        result = self.stored()
        cases = [case for setup in result.setups for case in setup.cases] if result else []
        return sum(len(case.trials) + len(case.curve) for case in cases)

    def remove(self) -> None:
        """What a failed test may have left."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
        self.surroundings.remove()


@pytest.fixture(params=["linux-bridge", "ovs-dpdk"])
def run(request: pytest.FixtureRequest, tmp_path: Path, run_root: Path) -> Iterator[Run]:
    refusal = fabric.check(request.param)
    if refusal is not None:
        pytest.skip(f"{request.param} cannot run here: {refusal.missing}")
    started = Run(request.param, tmp_path, run_root)
    yield started
    started.remove()


def test_during_a_trial_and_again_while_everything_is_taken_down(run: Run, tmp_path: Path) -> None:
    run.until(lambda: '"do"' in run.journal())
    run.until(lambda: run.trials() >= 5)
    run.press()
    run.until(lambda: '"ending"' in run.journal())
    before = run.trials()
    run.press()
    code, said = run.ended()
    assert code == INTERRUPTED, said
    assert "interrupted" in said
    assert "Traceback" not in said
    result = run.stored()
    assert result is not None
    assert result.interrupted
    assert result.finished_at is not None
    assert run.trials() == before >= 5
    assert [case.problem for case in result.setups[0].cases] == ["Interrupted before it was finished."]
    assert (tmp_path / "report/report.html").exists()
    run.surroundings.check("Ctrl-C twice")


def test_while_the_chain_is_built(run: Run) -> None:
    run.until(lambda: '"do"' in run.journal())
    run.press()
    code, said = run.ended()
    assert code == INTERRUPTED, said
    assert "interrupted" in said
    run.surroundings.check("Ctrl-C while building")
