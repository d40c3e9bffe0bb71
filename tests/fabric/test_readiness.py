# SPDX-License-Identifier: Apache-2.0
"""When a program's socket tells that it is ready: wherever it is, and whatever is in its queue."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from weir.fabric.function.readiness import Readiness

KINDS = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory whose path is longer than that of a socket may be."""
    (deep := tmp_path / ("d" * 120)).mkdir()
    monkeypatch.chdir(deep)
    return deep


def readiness(directory: Path, *, makes: tuple[Path, ...] = ()) -> Readiness:
    (log := directory / "log").touch()
    facts = {"socket": "ctl.sock", "ready": "", "makes": makes}
    return Readiness({"directory": str(directory)}, facts, log)


def listener(kind: socket.SocketKind, backlog: int = 8) -> closing[socket.socket]:
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind("ctl.sock")
    made.listen(backlog)
    made.setblocking(False)
    return closing(made)


@pytest.mark.parametrize("kind", KINDS)
def test_a_socket_by_a_short_name_in_a_deep_directory_takes_connections(
    kind: socket.SocketKind, elsewhere: Path
) -> None:
    its = readiness(elsewhere)
    lacking = (f"takes no connections at {elsewhere / 'ctl.sock'}", "program.ready_socket")
    assert its.lacks() == lacking
    with listener(kind):
        assert its.lacks() is None
    Path("ctl.sock").unlink()
    Path("ctl.sock").touch()
    assert readiness(elsewhere).lacks() == lacking


@pytest.mark.parametrize("kind", KINDS)
def test_one_whose_queue_is_full_is_not_waited_for(kind: socket.SocketKind, elsewhere: Path) -> None:
    with listener(kind, 0), closing(socket.socket(socket.AF_UNIX, kind)) as first:
        first.connect("ctl.sock")
        assert readiness(elsewhere).lacks() is None


def test_one_connection_tells_it_however_long_the_programs_ports_are_waited_for(elsewhere: Path) -> None:
    its = readiness(elsewhere, makes=(elsewhere / "left.sock",))
    with listener(socket.SOCK_STREAM) as made:
        for _ in range(3):
            lacks = its.lacks()
            assert lacks is not None
            assert lacks[0] == f"makes no socket at {elsewhere / 'left.sock'}"
        made.accept()[0].close()
        with pytest.raises(BlockingIOError):
            made.accept()
        (elsewhere / "left.sock").touch()
        assert its.lacks() is None


def descriptors() -> int:
    """That this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_looking_leaves_no_descriptor_open(elsewhere: Path) -> None:
    its, before = readiness(elsewhere), descriptors()
    for _ in range(3):
        its.lacks()
    assert descriptors() == before
