# SPDX-License-Identifier: Apache-2.0
"""Speaking QMP with QEMU: single commands, and a connection that stays, for what QEMU says by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from qemu.qmp import Message, QMPClient, QMPError

from weir.base.error import FabricError
from weir.base.si import US_PER_S

ANSWER_S = 20.0
_READ_S = 0.001  # for what has come through the socket to become an event
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Event:
    """What QEMU said by itself."""

    name: str
    data: dict[str, Any]
    wall_s: float
    """When, by the host's clock."""


class Monitor:
    """A connection to one QEMU, which has room for one at a time. FabricError if it does not answer."""

    def __init__(self, path: Path, *, answer_s: float = ANSWER_S) -> None:
        self._path = path
        self._answer_s = answer_s
        self._loop = asyncio.new_event_loop()
        self._client = QMPClient("weir")
        try:
            self._within("connect", self._client.connect(str(path)))
        except BaseException:
            self._loop.close()
            raise

    def execute(self, command: str, arguments: dict[str, Any] | None = None) -> Any:
        """The answer to one command. FabricError if QEMU refuses it or does not answer."""
        return self._within(command, self._client.execute(command, arguments))

    def events(self) -> list[Event]:
        """What it has said since this was asked last, or since the connection began."""
        self._loop.run_until_complete(asyncio.sleep(_READ_S))
        return [_event(message) for message in self._client.events.clear()]

    def close(self) -> None:
        """Ends the connection; QEMU goes on."""
        with suppress(FabricError):
            self._within("disconnect", self._client.disconnect())
        self._loop.close()

    def _within(self, what: str, answer: Coroutine[Any, Any, _Answer]) -> _Answer:
        async def bounded() -> _Answer:
            async with asyncio.timeout(self._answer_s):
                return await answer

        try:
            return self._loop.run_until_complete(bounded())
        except (QMPError, OSError, EOFError) as error:
            raise FabricError(
                f"QEMU does not do {what}: {str(error) or 'no answer'}", f"its socket: {self._path}"
            ) from error


def _event(message: Message) -> Event:
    at: Any = message["timestamp"]
    data: Any = message.get("data", {})
    return Event(str(message["event"]), dict(data), at["seconds"] + at["microseconds"] / US_PER_S)


def vcpu_threads(path: Path) -> list[int]:
    """Thread ids of the virtual CPUs, in their order (query-cpus-fast)."""
    answer = execute(path, "query-cpus-fast")
    return [int(cpu["thread-id"]) for cpu in sorted(answer, key=lambda cpu: int(cpu["cpu-index"]))]


def reset(path: Path) -> None:
    """Starts the machine anew, as its reset button would. Firmware resets it once more on the way: until
    `end_on_reboot` QEMU does not end when the machine reboots."""
    execute(path, "set-action", {"reboot": "reset"})
    execute(path, "system_reset")


def end_on_reboot(path: Path) -> None:
    """QEMU ends instead of rebooting, as it was started (-no-reboot)."""
    execute(path, "set-action", {"reboot": "shutdown"})


def execute(
    path: Path, command: str, arguments: dict[str, Any] | None = None, *, answer_s: float = ANSWER_S
) -> Any:
    """The answer to one command, on a connection of its own. FabricError likewise."""
    monitor = Monitor(path, answer_s=answer_s)
    try:
        return monitor.execute(command, arguments)
    finally:
        monitor.close()
