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

from weir.base.error import FabricError
from weir.base.si import NS_PER_US
from weir.fabric import process, stop_signals

ANSWER_S = 60.0  # an emulated processor that shares a core with polling loops is slow
MOST_BYTES = 1 << 24
"""Of one answer; the ledger of a weir-dp with many functions has some hundred KiB."""
_GREETING_S = 1.0  # first patience with an answer
_LOOK_S = 0.1  # between looks at whether the virtual machine still runs
_RECEIVE_BYTES = 65536
_SHOWN_BYTES = 60  # of what a guest said instead of an answer


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
                f"virtual machine {node} does not listen at {path}: {error.strerror or error}"
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
            try:
                self._send("hello", None, deadline)
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
        """The result of one command. FabricError if the guest refuses, has ended, says something else, or has
        not answered in whole within that time, whatever it says meanwhile."""
        deadline = time.monotonic() + within_s
        self._send(command, args, deadline)
        return self._answer(command, self._last_id, deadline)

    def _send(self, command: str, args: dict[str, Any] | None, deadline: float) -> None:
        self._last_id += 1
        request = {"id": self._last_id, "cmd": command} | ({"args": args} if args else {})
        left = memoryview(json.dumps(request, separators=(",", ":")).encode() + b"\n")
        while left:
            try:
                left = left[self._socket.send(left) :]
            except TimeoutError:
                self._may_wait(f"does not take {command}", deadline)
            except OSError as error:
                raise FabricError(f"virtual machine {self._node} takes no {command}: {error}") from error

    def _answer(self, command: str, first: int, deadline: float) -> dict[str, Any]:
        """The result of request `first` or a later one; answers to earlier ones, given up, are skipped."""
        while (answer := self._object(command, deadline))["id"] < first:
            pass
        if answer.get("ok") is not True:
            said = answer.get("error")
            said = said if isinstance(said, dict) else {}
            raise FabricError(
                f"{self._node} in its virtual machine refuses {command}: {said.get('message')}",
                str(said.get("fix") or ""),
            )
        result = answer.get("result") or {}
        if not isinstance(result, dict):
            raise self._no_answer(command, json.dumps(result).encode())
        return result

    def _object(self, command: str, deadline: float) -> dict[str, Any]:
        """The next line; it has an id."""
        line = self._line(command, deadline)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._no_answer(command, line) from error
        if not isinstance(answer, dict) or not isinstance(answer.get("id", 0), int):
            raise self._no_answer(command, line)
        return {"id": 0} | answer

    def _line(self, command: str, deadline: float) -> bytes:
        late = f"does not answer {command}"
        if time.monotonic() >= deadline:  # also of one that says line after line
            self._may_wait(late, deadline)
        while b"\n" not in self._received:
            if len(self._received) > MOST_BYTES:
                raise FabricError(
                    f"virtual machine {self._node} answers {command} with more than {MOST_BYTES >> 20} MiB"
                    " without an end of the line",
                    "see what writes to the virtio-serial port weir in the guest",
                )
            try:
                data = self._socket.recv(_RECEIVE_BYTES)
            except TimeoutError:
                data = None
            except OSError as error:
                raise FabricError(f"virtual machine {self._node} {late}: {error}") from error
            if data == b"":
                raise FabricError(f"virtual machine {self._node} has ended")
            self._received += data or b""
            if data is None or time.monotonic() >= deadline:
                self._may_wait(late, deadline)
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _may_wait(self, what: str, deadline: float) -> None:
        """Returns if the guest may still have its way."""
        stop_signals.check()
        if not process.alive(self._pid):
            raise FabricError(f"virtual machine {self._node} has ended")
        if time.monotonic() >= deadline:
            half = f"; half a line has come: {self._shown(self._received)}" if self._received else ""
            raise _LateError(f"{self._node} in its virtual machine {what} in time{half}")

    def _no_answer(self, command: str, said: bytes) -> FabricError:
        return FabricError(
            f"virtual machine {self._node} answers {command} with what is no answer: {self._shown(said)}",
            'expected one line of JSON, {"id": …, "ok": true, "result": {…}}',
        )

    @staticmethod
    def _shown(said: bytes) -> str:
        return repr(said[:_SHOWN_BYTES].decode(errors="replace"))
