# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a tiny lab in a process of its own, to be stopped in the middle."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from weir.results.result import Result
from weir.store.store import Store

from .surroundings import Surroundings
from .tiny import LAB

SOON_S = 120.0  # long past what a slowed machine takes: a test that waits so long says where the run stood
TRACED_S = 2.0
LOOKS_EVERY_S, READS_EVERY_S = 0.005, 0.1  # reading a store takes a core from the run
_TRACEABLE = (
    "import faulthandler, signal; faulthandler.register(signal.SIGUSR1, all_threads=True); "
    "from weir.cli.main import main; main()"
)
ENDLESS = {
    "curve: {points: 1, duration_s: 0.002}": "curve: {points: 1000, duration_s: 0.05}",
    # where others have the cores no trial may be valid, and the curve is given up
    "repeats: 1": "repeats: 100",
    "retries: 0": "retries: 100",
}


class Run:
    """`weir run` of a tiny lab that would not end soon, in a session of its own."""

    def __init__(self, technology: str, folder: Path, root: Path) -> None:
        lab = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", technology)
        for short, long in ENDLESS.items():
            assert short in lab
            lab = lab.replace(short, long)
        (folder / "lab.yml").write_text(lab)
        self._store = folder / "results.db"
        self._root = root
        self.surroundings = Surroundings(root, "tiny", secrets.token_hex(4))
        words = ["run", str(folder), "--store", str(self._store), "--output", str(folder / "report")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _TRACEABLE, *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def until(self, happened: Callable[[], bool], every_s: float = LOOKS_EVERY_S) -> None:
        """Looks every few milliseconds, and at the deployments meanwhile."""
        deadline = time.monotonic() + SOON_S
        while not happened():
            assert self._process.poll() is None, self._process.stdout and self._process.stdout.read()
            assert time.monotonic() < deadline, self._where_it_stands()
            time.sleep(every_s)
            self.surroundings.tokens |= {path.stem.rsplit("-", 1)[1] for path in self._journals()}

    def until_trials(self, number: int) -> None:
        self.until(lambda: self.trials() >= number, READS_EVERY_S)

    def _where_it_stands(self) -> str:
        """What it does, has said and has stored, of a run that takes too long."""
        self._process.send_signal(signal.SIGUSR1)
        time.sleep(TRACED_S)
        os.killpg(self._process.pid, signal.SIGKILL)
        said, _ = self._process.communicate()
        return f"{said}\nin the store: {self.stored()}\njournals: {self.journal()}"

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

    def send(self, number: int) -> None:
        """To weir alone."""
        self._process.send_signal(number)

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
