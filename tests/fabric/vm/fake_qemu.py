# SPDX-License-Identifier: Apache-2.0
"""A QEMU that speaks QMP and has no machine: it answers from a list, and says what it is told to say."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

GREETING = {
    "QMP": {
        "version": {"qemu": {"micro": 22, "minor": 2, "major": 7}, "package": "fake"},
        "capabilities": ["oob"],
    }
}
Line = dict[str, Any]


def event(name: str, **data: object) -> Line:
    """What QEMU says by itself."""
    now_s = time.time()
    at = {"seconds": int(now_s), "microseconds": int(now_s % 1 * 1e6)}
    return {"event": name, "timestamp": at, **({"data": data} if data else {})}


def status(name: str) -> Line:
    """A migration's."""
    return event("MIGRATION", status=name)


class FakeQemu:
    """Listens at a path. `said`: the commands that it has been told, with their arguments."""

    def __init__(self, path: Path, answers: Mapping[str, Any] | None = None) -> None:
        """`answers`: by command a result, a refusal (an Exception), or None for silence; all others: {}."""
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.after: dict[str, Callable[[], None]] = {}
        """What is done when a command has been answered."""
        self._answers = dict(answers or {})
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen(1)
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def commands(self) -> list[str]:
        """Names of what it has been told."""
        return [name for name, _ in self.said]

    def say(self, *lines: Line) -> None:
        """By itself."""
        assert self._connection is not None
        for line in lines:
            self._connection.sendall(json.dumps(line).encode() + b"\r\n")

    def end(self) -> None:
        """As if it had been killed."""
        for one in (self._connection, self._listening):
            if one is not None:
                one.close()

    def _serve(self) -> None:
        self._connection, _ = self._listening.accept()
        self.say(GREETING)
        received = ""
        with suppress(OSError):  # whoever asked may be gone by now
            while data := self._connection.recv(65536):
                received += data.decode()
                while received.strip():  # QMP's clients need not end their lines
                    request, end = json.JSONDecoder().raw_decode(received.lstrip())
                    received = received.lstrip()[end:]
                    self._answer(request)

    def _answer(self, request: Line) -> None:
        name, number = request["execute"], {"id": request["id"]} if "id" in request else {}
        if name != "qmp_capabilities":
            self.said.append((name, request.get("arguments", {})))
        answer = self._answers.get(name, {})
        if isinstance(answer, Exception):
            refusal = {"class": "GenericError", "desc": str(answer)}
            self.say({"error": refusal} | number)
        elif answer is not None:
            self.say({"return": answer} | number)
        self.after.get(name, lambda: None)()
