# SPDX-License-Identifier: Apache-2.0
"""The machine around a deployment: what must be as before, with things in it that only look like ours."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

from weir.fabric import hugepages, markers, namespace

STRAY = "not-a-deployment"
PLACES = (Path("/dev/hugepages"), Path("/run/dpdk"))


class Surroundings:
    """Plants look-alikes and remembers the rest.

    `tokens`: what the tokens of the deployments begin with that come and go here.
    """

    def __init__(self, root: Path, lab: str, tokens: str) -> None:
        self._root = root
        self.tokens = {tokens}
        self.kept: set[str] = set()
        """Files and directories of what stays, in the root."""
        self.look()
        self._stray = root / STRAY
        self._stray.mkdir()
        (self._stray / "weir-dp.sock").touch()
        self._netns = f"weir-x{tokens}{secrets.token_hex(2)}-sw"
        _ip("netns", "add", self._netns)
        _ip("-n", self._netns, "link", "add", "net0", "type", "bridge")
        self._index = self._bridge()
        deployment = f"{lab}-{tokens}".ljust(len(lab) + 9, "0")
        alike = (f"{deployment}/weir-dp-of-mine", f"{deployment}0/weir-dp", f"x{deployment}/ovs-vswitchd")
        self._processes = [
            subprocess.Popen(["sleep", "3600"], env=os.environ | {markers.MARKER: marker}) for marker in alike
        ]
        self._lab = lab

    def look(self) -> None:
        """What is there of others now is what `check` expects."""
        self._pages, self._files = _pages(), _files()

    def forgive(self) -> None:
        """After a fault: what is there now is expected, and what was left in the root is removed."""
        self.look()
        for path in self._root.iterdir():
            if path.name not in {STRAY} | self.kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def check(self, when: object) -> None:
        """Nothing of ours is here, and all else is as it was."""
        ours = tuple(f"weir-{token}" for token in self.tokens)
        left = [path.name for path in namespace.DIRECTORY.iterdir() if path.name.startswith(ours)]
        assert left == [], when
        assert self._marked() <= {one.pid for one in self._processes}, when
        there = {path.name for path in self._root.iterdir()}
        assert there == {STRAY} | self.kept, f"{sorted(there)}: {when}"
        assert (_pages(), _files()) == (self._pages, self._files), when
        assert self._bridge() == self._index, when
        assert all(one.poll() is None for one in self._processes), when
        assert [path.name for path in self._stray.iterdir()] == ["weir-dp.sock"], when

    def remove(self) -> None:
        """The look-alikes."""
        for one in self._processes:
            one.kill()
            one.wait()
        _ip("netns", "del", self._netns)

    def _bridge(self) -> str:
        return _ip("-n", self._netns, "-o", "link", "show", "net0").split(":", 1)[0]

    def _marked(self) -> set[int]:
        """Processes of any step of any such deployment."""
        wanted = tuple(f"{markers.MARKER}={self._lab}-{token}".encode() for token in self.tokens)
        found = set()
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                environ = (directory / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(variable.startswith(wanted) for variable in environ):
                found.add(int(directory.name))
        return found


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def _pages() -> str:
    return (hugepages.DIRECTORY / "nr_hugepages").read_text()


def _files() -> dict[Path, set[str]]:
    return {place: {path.name for path in place.iterdir()} for place in PLACES if place.is_dir()}
