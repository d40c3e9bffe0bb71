# SPDX-License-Identifier: Apache-2.0
"""A lab's functions between in-memory wires, polled as in a lab: what leaves later than it came is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.verbs import exchange
from weir.protocol import DataPlaneClient
from weir.protocol.ledger import Ledger, NfReport

from .one_function import Functions, Way, configuration, data_plane, running

LEFT, RIGHT = "tester.left", "tester.right"
QUIET_MS = 60


class Polled:
    """One function, or several in a row, between the tester's ends."""

    def __init__(self, client: DataPlaneClient, area: str) -> None:
        self._client, self._area = client, area

    def passes(
        self, *, left: Sequence[bytes] = (), right: Sequence[bytes] = (), quiet_ms: int = QUIET_MS
    ) -> tuple[list[bytes], list[bytes]]:
        """Sends these frames at both ends; what arrived at either until all was quiet."""
        arrived = exchange(self._client, {LEFT: left, RIGHT: right}, quiet_ms=quiet_ms)
        return arrived[LEFT], arrived[RIGHT]

    def listen(self, stage: str, netns: str) -> None:
        """Others control the function of that name from now on, in that network namespace."""
        self._client.listen(self._area, stage, netns)

    def command(self, stage: str, name: str, **args: str | int | bool) -> None:
        """Changes the function of that name; DataPlaneError if it refuses."""
        self._client.command(self._area, stage, name, args)

    def report(self, stage: str) -> NfReport:
        """What the function of that name counts by itself, of all workers."""
        return self._client.report(self._area, stage)

    def drops(self) -> dict[str, int]:
        """Packets by why they were dropped; every path balances, those that wait among its packets."""
        ledger = self._client.ledger()
        balanced(ledger)
        found: dict[str, int] = {}
        for area in ledger.areas:
            for stage in (stage for path in area.paths for stage in path.stages):
                for reason, packets in stage.drops.items():
                    if packets:
                        found[reason] = found.get(reason, 0) + packets
        return found

    def waiting(self) -> int:
        """Packets that functions keep."""
        areas = self._client.ledger().areas
        return sum(stage.held for area in areas for path in area.paths for stage in path.stages)


def balanced(ledger: Ledger) -> int:
    """Every path balances; how many packets functions made."""
    made = 0
    for area in ledger.areas:
        for path in area.paths:
            originated = sum(stage.originated for stage in path.stages)
            dropped = sum(path.drops.values()) + sum(sum(stage.drops.values()) for stage in path.stages)
            held = sum(stage.held for stage in path.stages)
            assert path.rx_packets + originated == path.tx_packets + dropped + held, (
                f"{area.name}/{path.name}"
            )
            made += originated
    return made


@contextmanager
def polled(functions: Functions, way: Way | None = None, area: str = "f1") -> Iterator[Polled]:
    """weir-dp with these functions as one of a lab, which runs that way; without the lab's tester."""
    config: Mapping[str, Any] = configuration(functions, way or {})
    areas = [one for one in config["areas"] if one["kind"] not in ("generator", "receiver")]
    with data_plane() as client, running(client, {**config, "areas": areas}):
        yield Polled(client, area)
