# SPDX-License-Identifier: Apache-2.0
"""Asking a guest whose earlier listener has gone."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from contextlib import closing
from pathlib import Path

from weir.fabric.vm.channel import Channel


def test_an_answer_to_an_earlier_listener_is_not_taken_for_ones_own() -> None:
    with tempfile.TemporaryDirectory(prefix="wk", dir="/tmp") as directory:
        path = Path(directory) / "f1.guest"
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.listen()

        def guest() -> None:
            late = 0
            for _ in range(2):
                connection, _ = listening.accept()
                with connection, connection.makefile("rb") as lines:
                    if late:
                        answer = {"id": late, "ok": True, "result": {"of": "the one before"}}
                        connection.sendall(json.dumps(answer).encode() + b"\n")
                    late = json.loads(lines.readline())["id"]
                    answer = {"id": late, "ok": True, "result": {"of": "this one"}}
                    connection.sendall(json.dumps(answer).encode() + b"\n")

        thread = threading.Thread(target=guest, daemon=True)
        thread.start()
        for _ in range(2):
            with closing(Channel("f1", path, os.getpid())) as channel:
                assert channel.ask("counters") == {"of": "this one"}
        thread.join(5)
        listening.close()
