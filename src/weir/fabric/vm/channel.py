# SPDX-License-Identifier: Apache-2.0
"""Asking a guest: requests and answers of weir-dp's control protocol over a virtio-serial port.

The same whether a weir-dp in the guest answers or the script beside its kernel's forwarding.
"""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

from weir.base.si import NS_PER_US
from weir.fabric import process, stop_signals
from weir.fabric.errors import FabricError

ANSWER_S = 60.0  # an emulated processor that shares a core with polling loops is slow
_GREETING_S = 1.0  # first patience with an answer
_LOOK_S = 0.1  # between looks at whether the virtual machine still runs
_RECEIVE_BYTES = 65536


class _LateError(FabricError):
    """No answer within the time that it had."""


class Channel:
    """A connection to one guest. FabricError if its virtual machine does not listen."""

    def __init__(self, node: str, path: Path, pid: int) -> None:
        self._node, self._pid = node, pid
        self._received = b""
        # Above those of an earlier connection, whose answers may still come.
        self._last_id = time.monotonic_ns() // NS_PER_US
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_LOOK_S)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise FabricError(
                f"virtual machine {node} does not listen at {path}: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Ends the connection; the guest goes on."""
        self._socket.close()

    def greet(self, within_s: float = ANSWER_S) -> None:
        """Returns when the guest answers. What it is told while it boots, or while the listener before this
        one still ends, may be lost: it is told again, more and more rarely. FabricError if it has ended or is
        late."""
        deadline = time.monotonic() + within_s
        patience_s, first = _GREETING_S, self._last_id + 1
        while True:
            self._send("hello", None)
            try:
                self._answer("hello", first, min(deadline, time.monotonic() + patience_s))
            except _LateError:
                if time.monotonic() >= deadline:
                    raise
                patience_s *= 2
            else:
                return

    def ask(
        self, command: str, args: dict[str, Any] | None = None, *, within_s: float = ANSWER_S
    ) -> dict[str, Any]:
        """The result of one command. FabricError if the guest refuses, has ended or is late."""
        self._send(command, args)
        return self._answer(command, self._last_id, time.monotonic() + within_s)

    def _send(self, command: str, args: dict[str, Any] | None) -> None:
        self._last_id += 1
        request = {"id": self._last_id, "cmd": command} | ({"args": args} if args else {})
        try:
            self._socket.settimeout(ANSWER_S)
            self._socket.sendall(json.dumps(request, separators=(",", ":")).encode() + b"\n")
            self._socket.settimeout(_LOOK_S)
        except OSError as error:
            raise FabricError(f"virtual machine {self._node} takes no {command}: {error}") from error

    def _answer(self, command: str, first: int, deadline: float) -> dict[str, Any]:
        """The result of request `first` or a later one; answers to earlier ones, given up, are skipped."""
        try:
            while (answer := json.loads(self._line(deadline))).get("id", 0) < first:
                pass
        except OSError as error:
            raise FabricError(f"virtual machine {self._node} does not answer: {error}") from error
        except ValueError as error:
            raise FabricError(f"virtual machine {self._node} answers no JSON: {error}") from error
        if not answer.get("ok"):
            said = answer.get("error", {})
            raise FabricError(
                f"{self._node} in its virtual machine refuses {command}: {said.get('message')}",
                str(said.get("fix") or ""),
            )
        return dict(answer.get("result") or {})

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._received:
            try:
                data = self._socket.recv(_RECEIVE_BYTES)
            except TimeoutError:
                stop_signals.check()
                if not process.alive(self._pid):
                    raise FabricError(f"virtual machine {self._node} has ended") from None
                if time.monotonic() > deadline:
                    raise _LateError(f"{self._node} in its machine does not answer in time") from None
                continue
            if not data:
                raise FabricError(f"virtual machine {self._node} has ended")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line
