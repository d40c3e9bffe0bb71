# SPDX-License-Identifier: Apache-2.0
"""weir-dp starts without hugepages where another has taken those that were free."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.base.step import Param, Step
from weir.fabric import process
from weir.fabric.data_plane import WeirDp
from weir.fabric.site import Site

PROGRAM = """#!{python}
import socket, sys, time
if "--no-huge" not in sys.argv:
    sys.exit("weir-dp: DPDK does not start: {why}")
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[sys.argv.index("--socket") + 1])
server.listen()
time.sleep(60)
"""


class Place(Site):
    """A directory in which programs start."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pids: list[int] = []

    def spawn(self, argv: list[str], *, log: str, **_: Any) -> int:
        path = self.directory / log
        pid = process.spawn(argv, marker="x-0000d1a1/weir-dp", netns=None, env={}, cores=[], log=path)
        self.pids.append(pid)
        return pid

    def noted(self, key: str) -> list[Any]:  # noqa: ARG002
        return []


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("WEIR_DP", str(tmp_path / "weir-dp"))
    return Place(tmp_path)


def started(place: Place, why: str, **changes: Param) -> Mapping[str, Any]:
    program = place.directory / "weir-dp"
    program.write_text(PROGRAM.format(python=sys.executable, why=why))
    program.chmod(0o755)
    params: dict[str, Param] = {"cores": [0], "memory_mb": 384, "socket": "dp.sock", "log": "log"}
    params |= {"pci": [], "pinned": False, "huge": True, **changes}
    step = Step(kind="weir-dp", name="weir-dp", params=params, text="", undo_text="")
    return WeirDp().do(step, place)


TAKEN = "Cannot allocate memory. memory needs 384 MiB of free hugepages or --no-huge."


def test_pages_that_others_have_taken_meanwhile_are_done_without(place: Place) -> None:
    facts = started(place, TAKEN)
    assert facts["pid"] == place.pids[1]
    assert process.alive(place.pids[1])
    process.finish(place.pids[1], signal.SIGKILL, 5)


def test_what_else_keeps_it_from_starting_is_an_error_at_once(place: Place) -> None:
    with pytest.raises(FabricError, match=r"weir-dp does not start: .*no such CPU"):
        started(place, "no such CPU")
    assert len(place.pids) == 1


def test_a_lab_that_requires_them_is_not_done_without(place: Place) -> None:
    with pytest.raises(FabricError, match="of free hugepages"):
        started(place, TAKEN, huge_required=True)
