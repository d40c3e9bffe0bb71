# SPDX-License-Identifier: Apache-2.0
"""Packets through real functions of weir-dp, one at a time, to compare with a reference byte by byte."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from tests.verbs import trace
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.ledger import NfReport

Direction = Literal["outbound", "inbound"]
Options = Mapping[str, str | int | bool]
_PATHS: dict[Direction, tuple[str, str]] = {
    "outbound": ("inside", "outside"),
    "inbound": ("outside", "inside"),
}


@dataclass(frozen=True)
class Forwarded:
    """The packet left by output `egress`, as these bytes."""

    frame: bytes
    egress: int = 0


@dataclass(frozen=True)
class Dropped:
    """Function `at` dropped it for `reason`."""

    reason: str
    at: str


Outcome = Forwarded | Dropped


class Replay:
    """A chain of functions between an inside and an outside; both directions share their state."""

    def __init__(self, client: DataPlaneClient) -> None:
        self._client = client

    def send(self, frame: bytes, direction: Direction = "outbound", *, at_s: float = 1.0) -> Outcome:
        """One frame (without FCS) at that time; times must not go back."""
        return self.send_all([frame], direction, at_s=at_s)[0]

    def send_all(
        self, frames: Sequence[bytes], direction: Direction = "outbound", *, at_s: float = 1.0
    ) -> list[Outcome]:
        """Many frames, in their order, all at that time."""
        outcomes = trace(self._client, "chain", direction, frames, at_us=round(at_s * 1e6))
        return [
            Dropped(outcome.dropped, outcome.at or "")
            if outcome.dropped is not None
            else Forwarded(bytes.fromhex(outcome.frame or ""), outcome.egress)
            for outcome in outcomes
        ]

    def compare(
        self, expected: Callable[[bytes, Direction], Outcome], sent: Sequence[tuple[Direction, bytes]]
    ) -> None:
        """Sends every packet, in order, and asserts that each becomes what is expected."""
        for direction, run in itertools.groupby(sent, key=lambda one: one[0]):
            frames = [frame for _, frame in run]
            for frame, outcome in zip(frames, self.send_all(frames, direction), strict=True):
                assert outcome == expected(frame, direction), f"{direction} {frame.hex()}"

    def fastpath_hits(self) -> int:
        """Packets, of both directions, that followed what was decided on an earlier one."""
        paths = self._client.ledger().areas[0].paths
        return sum(path.fastpath.hits for path in paths if path.fastpath is not None)

    def tsc_hz(self) -> int:
        """What the machine counts in a second: times are whole numbers of that."""
        return self._client.ledger().tsc_hz

    def report(self, stage: str) -> NfReport:
        """What the function of that name counts by itself."""
        return self._client.report("chain", stage)

    def command(self, stage: str, command: str, **args: str | int | bool) -> None:
        """Changes the function of that name; DataPlaneError if it refuses."""
        self._client.command("chain", stage, command, args)

    def listen(self, stage: str, netns: str) -> None:
        """Others control the function of that name from now on, in that network namespace."""
        self._client.listen("chain", stage, netns)


@contextmanager
def replay(*stages: tuple[str, Options], fastpath_flows: int | None = None) -> Iterator[Replay]:
    """weir-dp with these functions (name, options), from inside to outside, and back in reverse order."""
    named = [
        {"nf": nf, "name": f"{nf}{index}", "options": dict(options)}
        for index, (nf, options) in enumerate(stages)
    ]
    again = [{"nf": stage["nf"], "name": stage["name"]} for stage in reversed(named)]
    paths = [
        {"name": way, "direction": way, "in": ports[0], "stages": list(chosen), "out": ports[1]}
        for (way, ports), chosen in zip(_PATHS.items(), (named, again), strict=True)
    ]
    area: dict[str, Any] = {"name": "chain", "core": CORE, "kind": "chain", "paths": paths}
    if fastpath_flows is not None:
        area["fastpath_flows"] = fastpath_flows
    with (
        private_data_plane(CORE, memory_mb=1024, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        ports = [{"name": name, "kind": "null"} for name in ("inside", "outside")]
        client.configure(Configure.model_validate({"ports": ports, "areas": [area], "mbufs": 4096}))
        yield Replay(client)
