# SPDX-License-Identifier: Apache-2.0
"""A client that does not read, or says too much at once, is nobody else's trouble."""

from __future__ import annotations

import json
import resource
import select
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from weir.protocol import DataPlaneClient

REQUEST_BYTES_MAX = 4 * 1024 * 1024
ASK = b'{"id": 7, "cmd": "hello"}\n'


@pytest.fixture
def path() -> Iterator[Path]:
    with private_data_plane(CORE, memory_mb=256, huge=False) as made:
        DataPlaneClient(made, connect_s=20).close()
        yield made


@pytest.fixture
def raw(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made:
        made.settimeout(10)
        made.connect(str(path))
        yield made


def test_a_client_that_does_not_read_holds_up_nobody_and_gets_every_answer_later(
    path: Path, raw: socket.socket
) -> None:
    raw.setblocking(False)
    sent, stuck_since = 0, time.monotonic()
    while time.monotonic() < stuck_since + 0.5:  # until weir-dp takes no more: its answers are not read
        try:
            sent += raw.send(ASK[sent % len(ASK) :])
            stuck_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
    with DataPlaneClient(path) as other:
        began = time.monotonic()
        assert other.hello().version
        assert time.monotonic() - began < 1
    raw.setblocking(True)
    asked = sent // len(ASK)
    with raw.makefile("rb") as answers:
        assert {json.loads(answers.readline())["id"] for _ in range(asked)} == {7}
    assert asked > 100


def test_a_client_that_does_not_read_keeps_weir_dp_from_no_end() -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        with private_data_plane(CORE, memory_mb=256, huge=False) as path:
            DataPlaneClient(path, connect_s=20).close()
            raw.connect(str(path))
            raw.settimeout(0.5)
            with pytest.raises(TimeoutError):
                raw.sendall(ASK * 1_000_000)
            began = time.monotonic()
        assert time.monotonic() - began < 5  # SIGTERM, and the process waited for


def test_a_request_that_is_too_long_is_refused_and_the_next_one_answered(raw: socket.socket) -> None:
    with raw.makefile("rb") as answers:
        raw.sendall(b'{"id": 1, "cmd": "' + b"x" * (REQUEST_BYTES_MAX + 100_000) + b'"}\n' + ASK)
        refused, answered = (json.loads(answers.readline()) for _ in range(2))
    assert (refused["ok"], refused["error"]["code"]) == (False, "bad_request")
    assert refused["error"]["message"] == "a request of more than 4 MiB was left out"
    assert refused["error"]["expected"] == "one JSON object a line, of 4 MiB at most"
    assert (answered["ok"], answered["id"]) == (True, 7)


def test_who_comes_when_weir_dp_has_no_descriptor_left_waits_and_costs_it_nothing(
    raw: socket.socket, path: Path
) -> None:
    raw.sendall(ASK)
    raw.recv(65536)  # it is a client by now
    pid, *_ = struct.unpack("3i", raw.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    most = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    open_now = {int(one.name) for one in Path(f"/proc/{pid}/fd").iterdir()}
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(set(range(most)) - open_now), most))
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.settimeout(10)
        waiting.connect(str(path))
        waiting.sendall(ASK)
        before = wanted_ms(pid)
        time.sleep(0.5)
        assert select.select([waiting], [], [], 0)[0] == [], "it was answered, and so had a descriptor"
        assert wanted_ms(pid) - before < 250, "it asks again and again"
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))
        assert json.loads(waiting.recv(65536))["id"] == 7


def wanted_ms(pid: int) -> int:
    """For how long the first thread of that process has had a CPU, or has waited for one."""
    had_ns, waited_ns, _ = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()
    return (int(had_ns) + int(waited_ns)) // 1_000_000
