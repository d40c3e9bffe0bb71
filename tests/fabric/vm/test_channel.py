# SPDX-License-Identifier: Apache-2.0
"""Asking a guest: one whose earlier listener has gone, and ones that do not answer as they should."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric.vm import channel as its
from weir.fabric.vm.channel import Channel

LIMIT_S = 0.2
Guest = Callable[[socket.socket], None]


@contextmanager
def guest(says: Guest, connections: int = 1) -> Iterator[Path]:
    """The path at which it listens. It may be cut off in the middle of a word."""
    with tempfile.TemporaryDirectory(prefix="wk", dir="/tmp") as directory:
        path = Path(directory) / "f1.guest"
        with closing(socket.socket(socket.AF_UNIX)) as listening:
            listening.bind(str(path))
            listening.listen()

            def serve() -> None:
                for _ in range(connections):
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        says(connection)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            yield path
            thread.join(30)
            assert not thread.is_alive()


def asked(connection: socket.socket) -> int:
    """The id of the next request."""
    received = b""
    while not received.endswith(b"\n"):
        received += connection.recv(65536)
    return int(json.loads(received)["id"])


def until_hung_up(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def answering(text: Callable[[int], str]) -> Guest:
    def says(connection: socket.socket) -> None:
        connection.sendall(text(asked(connection)).encode() + b"\n")
        until_hung_up(connection)

    return says


def test_an_answer_to_an_earlier_listener_is_not_taken_for_ones_own() -> None:
    late = 0

    def says(connection: socket.socket) -> None:
        nonlocal late
        if late:
            answer = {"id": late, "ok": True, "result": {"of": "the one before"}}
            connection.sendall(json.dumps(answer).encode() + b"\n")
        late = asked(connection)
        answer = {"id": late, "ok": True, "result": {"of": "this one"}}
        connection.sendall(json.dumps(answer).encode() + b"\n")

    with guest(says, connections=2) as path:
        for _ in range(2):
            with closing(Channel("f1", path, os.getpid())) as channel:
                assert channel.ask("counters") == {"of": "this one"}


def floods(line: bytes) -> Guest:
    def says(connection: socket.socket) -> None:
        while True:
            connection.sendall(line * 100)

    return says


def hangs(connection: socket.socket) -> None:
    until_hung_up(connection)


def says_half_a_line(connection: socket.socket) -> None:
    connection.sendall(b'{"id":%d,"ok":true,"resu' % asked(connection))
    until_hung_up(connection)


@pytest.mark.parametrize(
    ("says", "what"),
    [
        (hangs, "f1 in its virtual machine does not answer counters in time$"),
        (says_half_a_line, r"""counters in time; half a line has come: '{"id":\d+,"ok":true"""),
        (floods(b'{"id":1,"ok":true}\n'), "does not answer counters in time"),
    ],
    ids=["hangs", "half a line", "old answers without end"],
)
def test_a_guest_that_does_not_answer_is_an_error_in_its_time(says: Guest, what: str) -> None:
    with (
        guest(says) as path,
        closing(Channel("f1", path, os.getpid())) as channel,
        pytest.raises(FabricError, match=what),
    ):
        channel.ask("counters", within_s=LIMIT_S)


def test_a_line_without_end_is_an_error_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(its, "MOST_BYTES", 1 << 20)
    with (
        guest(floods(b"x" * 4096)) as path,
        closing(Channel("f1", path, os.getpid())) as channel,
        pytest.raises(FabricError, match="more than 1 MiB without an end of the line"),
    ):
        channel.ask("counters")


def test_a_guest_that_takes_no_request_is_an_error_in_its_time() -> None:
    asked_for = threading.Event()

    def says(_connection: socket.socket) -> None:
        asked_for.wait(30)

    with guest(says) as path, closing(Channel("f1", path, os.getpid())) as channel:
        with pytest.raises(FabricError, match="does not take configure in time"):
            channel.ask("configure", {"rings": "x" * (1 << 22)}, within_s=LIMIT_S)
        asked_for.set()


@pytest.mark.parametrize(
    "text",
    ["no JSON", "[]", "7", '{"id": "one"}', "[" * 100_000, '{"id": ID, "ok": true, "result": [1]}'],
    ids=["text", "list", "number", "id", "deep", "result"],
)
def test_what_is_no_answer_is_shown(text: str) -> None:
    with (
        guest(answering(lambda number: text.replace("ID", str(number)))) as path,
        closing(Channel("f1", path, os.getpid())) as channel,
        pytest.raises(FabricError, match="virtual machine f1 answers counters with what is no answer: '"),
    ):
        channel.ask("counters", within_s=30)


def test_a_refusal_that_is_no_object_is_one_all_the_same() -> None:
    with (
        guest(answering(lambda number: f'{{"id":{number},"ok":false,"error":"no"}}')) as path,
        closing(Channel("f1", path, os.getpid())) as channel,
        pytest.raises(FabricError, match="f1 in its virtual machine refuses counters"),
    ):
        channel.ask("counters", within_s=30)


def test_a_machine_that_has_ended_is_not_waited_for() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    with (
        guest(hangs) as path,
        closing(Channel("f1", path, ended.pid)) as channel,
        pytest.raises(FabricError, match="virtual machine f1 has ended"),
    ):
        channel.ask("counters", within_s=3600)


def test_the_next_request_is_answered_after_one_that_was_given_up() -> None:
    def says(connection: socket.socket) -> None:
        first = asked(connection)
        second = asked(connection)
        for number in (first, second):
            connection.sendall(b'{"id":%d,"ok":true,"result":{"of":%d}}\n' % (number, number))
        until_hung_up(connection)

    with guest(says) as path, closing(Channel("f1", path, os.getpid())) as channel:
        with pytest.raises(FabricError, match="in time"):
            channel.ask("counters", within_s=LIMIT_S)
        assert channel.ask("counters", within_s=30)["of"] > 0
