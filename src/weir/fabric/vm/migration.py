# SPDX-License-Identifier: Apache-2.0
"""One live migration of a guest with failover pairs from one QEMU to another, by QMP.

QEMU itself takes the primaries from the guest before it copies memory, and plugs those of the second QEMU in
once the guest is there. What is left to whoever manages virtual machines, here Weir, is the network's part:
whenever another device carries packets, its QEMU announces the port's address from it (announce-self), and so
the bridge learns where the port is now. A forwarder without addresses of its own says nothing by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weir.base.error import FabricError
from weir.base.topology import target
from weir.fabric import process
from weir.fabric.vm.channel import ANSWER_S, Channel
from weir.fabric.vm.command_line import Files, primary, standby
from weir.fabric.vm.monitor import Event, Monitor
from weir.plan.guest_steps import PCI_SLOTS

What = Literal["unplugged", "stopped", "resumed", "completed", "failed", "cancelled"]
POLL_S = 0.005
_HERE, _THERE = 0, 1
_ENDS: Mapping[str, What] = {"completed": "completed", "failed": "failed", "cancelled": "cancelled"}


@dataclass(frozen=True)
class Limits:
    """What QEMU is told; None: its own."""

    downtime_ms: int
    bandwidth_bytes_s: int | None = None


@dataclass(frozen=True)
class Moment:
    """Something that happened: the primaries gone, the guest stopped here and going on there, an end."""

    what: What
    wall_s: float
    """By the host's clock."""


class Migration:
    """Of one node of a deployment that stands: its guest boots in the first QEMU, and the second one waits.

    Every method raises FabricError if a QEMU refuses a command, or the one that has the guest has ended.
    """

    def __init__(self, directory: Path, node: str, pids: Mapping[str, int]) -> None:
        """`directory`: of the run. `pids`: of its processes by step."""
        self._files = Files(directory, node), Files(directory, target(node))
        self._pids = tuple(pids[f"vm:{files.node}"] for files in self._files)
        self._at = _HERE  # where the guest is
        self._channel: Channel | None = None
        first = Monitor(self._files[_HERE].monitor)
        try:
            self._monitors = first, Monitor(self._files[_THERE].monitor)
        except BaseException:
            first.close()
            raise

    def close(self) -> None:
        """Ends all connections; what goes on goes on."""
        self.hang_up()
        for one in self._monitors:
            one.close()

    def pairs(self, within_s: float = ANSWER_S) -> dict[str, dict[str, str]]:
        """What the guest, where it is now, says of the devices of each port: side → stand-by, primary → "up",
        "down" or "none". Nothing of a guest that knows no pairs."""
        if self._channel is None:
            files = self._files[self._at]
            self._channel = Channel(files.node, files.channel, self._pids[self._at])
            self._channel.greet(within_s)
        answer = self._channel.ask("pairs", within_s=within_s)
        return {side: answer[side] for side in PCI_SLOTS if "primary" in answer.get(side, {})}

    def announce(self, *, primaries: bool) -> None:
        """Says once from the devices that carry packets now, where the guest is, that the ports are there."""
        names = [primary(side) if primaries else standby(side) for side in PCI_SLOTS]
        arguments = {"initial": 50, "max": 50, "rounds": 1, "step": 0, "interfaces": names}
        self._monitors[self._at].execute("announce-self", arguments)

    def begin(self, limits: Limits) -> None:
        """Tells both QEMUs to migrate; `wait` says how it goes on."""
        source, destination = self._monitors
        where = {"uri": f"unix:{self._files[_THERE].migration.name}"}
        parameters: dict[str, Any] = {"downtime-limit": limits.downtime_ms}
        if limits.bandwidth_bytes_s is not None:
            parameters["max-bandwidth"] = limits.bandwidth_bytes_s
        # By itself the second QEMU would announce all its devices as the guest goes on: the primaries too,
        # which no QEMU can if they are real, and which the guest does not drive yet.
        destination.execute("migrate-set-parameters", {"announce-rounds": 0})
        events = {"capabilities": [{"capability": "events", "state": True}]}
        for one in self._monitors:
            one.execute("migrate-set-capabilities", events)
            one.events()
        destination.execute("migrate-incoming", where)
        source.execute("migrate-set-parameters", parameters)
        source.execute("migrate", where)

    def cancel(self) -> None:
        """Ends it; the guest goes on where it was. `wait` says when."""
        self._monitors[_HERE].execute("migrate_cancel")

    def wait(self, seconds: float) -> list[Moment]:
        """What has happened since, as soon as anything has, or nothing by then."""
        deadline = time.monotonic() + seconds
        while True:
            found = [*self._here(), *self._there()]
            left_s = deadline - time.monotonic()
            if found or left_s <= 0:
                return found
            if not process.alive(self._pids[self._at]):
                raise FabricError(f"virtual machine {self._files[self._at].node} has ended")
            time.sleep(min(POLL_S, left_s))

    def figures(self) -> dict[str, Any]:
        """What the first QEMU says of the migration (query-migrate)."""
        return dict(self._monitors[_HERE].execute("query-migrate"))

    def _here(self) -> Iterator[Moment]:
        for event in self._monitors[_HERE].events():
            status = _status(event)
            if status == "active":
                self.announce(primaries=False)
                yield Moment("unplugged", event.wall_s)
            elif status in _ENDS:
                yield Moment(_ENDS[status], event.wall_s)
            elif event.name == "STOP":
                yield Moment("stopped", event.wall_s)

    def _there(self) -> Iterator[Moment]:
        if not process.alive(self._pids[_THERE]):
            return
        for event in self._monitors[_THERE].events():
            if event.name == "RESUME":
                self.hang_up()
                self._at = _THERE
                self.announce(primaries=False)
                yield Moment("resumed", event.wall_s)

    def hang_up(self) -> None:
        """Ends the connection to the guest; it is asked through a new one then."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None


def _status(event: Event) -> str:
    return str(event.data.get("status")) if event.name == "MIGRATION" else ""
