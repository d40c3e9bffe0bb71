# SPDX-License-Identifier: Apache-2.0
"""A process counts as started when it accepts connections."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric import process


def test_a_socket_that_nobody_listens_at_yet_is_waited_for(tmp_path: Path) -> None:
    path, listened = tmp_path / "s", []

    def listen_late(bound: socket.socket) -> None:
        time.sleep(0.1)
        listened.append(True)
        bound.listen()

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bound:
        bound.bind(str(path))
        thread = threading.Thread(target=listen_late, args=(bound,))
        thread.start()
        process.wait_for("it", path, os.getpid(), tmp_path / "log")
        assert listened
        thread.join()


def test_a_process_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("first\nno such device\n")
    child = os.fork()
    if child == 0:
        os._exit(3)
    os.waitpid(child, 0)
    with pytest.raises(FabricError, match=r"it does not start: first \| no such device; its log: "):
        process.wait_for("it", tmp_path / "s", child, tmp_path / "log")


def test_one_that_was_killed_while_it_started_is_said_to_be(tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = ["sh", "-c", "echo no pages of 1 GiB; kill -9 $$"]
    pid = process.spawn(words, marker="x-0000ab01/it", netns=None, env={}, cores=[], log=log)
    with pytest.raises(FabricError, match="it does not start: it was ended by SIGKILL; no pages of 1 GiB"):
        process.wait_for("it", tmp_path / "s", pid, log)
