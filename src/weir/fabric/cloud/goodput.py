# SPDX-License-Identifier: Apache-2.0
"""TCP between hosts of a cloud: an iperf3 server for each at the host outside, a client in each, which sends
to it, or has it send. The connection is the client's in any case, so that a router that translates lets it
through."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.base.cloud import OUTSIDE, CloudTopology
from weir.base.error import FabricError
from weir.base.node import Direction
from weir.fabric import ending, process, stop_signals
from weir.fabric.cloud.ruleset import not_installed
from weir.fabric.deployment import Deployment
from weir.fabric.program_log import log_end

FIRST_PORT = 5201
WARM_UP_S = 1
"""Of the connection, before what counts: slow start (RFC 5681)."""
_CONNECT_MS = 5000
_LATE_S = 20.0
"""Beyond the wanted time, after which a client is ended."""
_LOOK_S = 0.05
_LISTENING = "Server listening"
_DIRECTORY = "goodput"
_WORDS: Mapping[tuple[Direction, ...], tuple[str, ...]] = {
    ("left-to-right",): (),
    ("right-to-left",): ("-R",),
    ("left-to-right", "right-to-left"): ("--bidir",),
}
"""By the directions of the payload, what its client is told; left is the client."""
_REVERSE = "_bidir_reverse"
"""Behind the names of the sums of the other direction, where there are two."""


@dataclass(frozen=True)
class Goodput:
    """What one host's connections got through in one direction."""

    host: str
    received_bps: float | None = None
    """Payload that arrived, in bit/s; None: nothing is known."""
    retransmits: int | None = None
    """Segments that were sent again."""
    why: str | None = None
    """Why nothing is known, in iperf3's words."""


def lacking() -> str | None:
    """What to install; None if it is there."""
    return not_installed("iperf3", "iperf3")


def goodput(
    deployment: Deployment,
    topology: CloudTopology,
    hosts: Sequence[str],
    *,
    directions: tuple[Direction, ...],
    cores: Sequence[int],
    duration_s: int,
    streams: int,
) -> list[Goodput]:
    """All at once, each over `streams` connections for so long; of each host one for each direction, in both
    at once. `cores`: where iperf3 runs; nothing may poll there meanwhile. FabricError where a server does not
    start; Ctrl-C ends all."""
    directory = deployment.run_dir / _DIRECTORY
    directory.mkdir(exist_ok=True)
    running = _Running(f"{deployment.id}/{_DIRECTORY}", directory, topology, tuple(cores))
    ports = {host: FIRST_PORT + number for number, host in enumerate(hosts)}
    try:
        servers = {host: running.server(host, port) for host, port in ports.items()}
        for host, pid in servers.items():
            running.listens(host, pid)
        words = ["-t", str(duration_s), "-O", str(WARM_UP_S), "-P", str(streams), *_WORDS[directions]]
        clients = {host: running.client(host, port, words) for host, port in ports.items()}
        _ended(clients.values(), time.monotonic() + duration_s + WARM_UP_S + _LATE_S)
        return [one for host in hosts for one in read(host, directory / f"{host}.json", len(directions))]
    finally:
        ending.end_marked(running.marker)


@dataclass(frozen=True)
class _Running:
    marker: str
    directory: Path
    topology: CloudTopology
    cores: tuple[int, ...]

    def server(self, host: str, port: int) -> int:
        """For one test."""
        words = ["-s", "-1", "-p", str(port), "-B", self.topology.outside, "--forceflush"]
        return self._iperf3(OUTSIDE, words, self.directory / f"{host}.server")

    def client(self, host: str, port: int, words: Sequence[str]) -> int:
        """With that server; writes what it found."""
        to = ["-c", self.topology.outside, "-p", str(port), "-J", "--connect-timeout", str(_CONNECT_MS)]
        return self._iperf3(host, [*to, *words], self.directory / f"{host}.json")

    def _iperf3(self, host: str, words: Sequence[str], log: Path) -> int:
        log.unlink(missing_ok=True)
        return process.spawn(
            ["iperf3", *words],
            marker=self.marker,
            netns=self.topology.namespace(host),
            env={},
            cores=list(self.cores),
            log=log,
        )

    def listens(self, host: str, pid: int) -> None:
        """Waits for it."""
        log = self.directory / f"{host}.server"
        deadline = time.monotonic() + _LATE_S
        while _LISTENING not in log.read_text(encoding="utf-8", errors="replace"):
            if not process.alive(pid) or time.monotonic() > deadline:
                raise FabricError(
                    f"iperf3 does not serve {host}: {log_end(log)}", "does it run by hand: iperf3 -s?"
                )
            stop_signals.check()
            time.sleep(_LOOK_S)


def _ended(pids: Iterable[int], deadline: float) -> None:
    left = set(pids)
    while left and time.monotonic() < deadline:
        left = {pid for pid in left if process.exit_code(pid) is None}
        stop_signals.check()
        time.sleep(_LOOK_S)


def read(host: str, path: Path, directions: int) -> list[Goodput]:
    """Of what its client wrote (`iperf3 -J`): one for each direction."""
    try:
        said: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [Goodput(host, why="its iperf3 was not done in time")] * directions
    if "error" in said:
        return [Goodput(host, why=str(said["error"]))] * directions
    return [_sums(host, said, which, path) for which in ("", _REVERSE)[:directions]]


def _sums(host: str, said: Mapping[str, Any], which: str, path: Path) -> Goodput:
    try:
        end = said["end"]
        return Goodput(
            host,
            received_bps=float(end[f"sum_received{which}"]["bits_per_second"]),
            retransmits=int(end[f"sum_sent{which}"]["retransmits"]),
        )
    except (KeyError, TypeError, ValueError):
        return Goodput(host, why=f"what its iperf3 wrote has no sums: {path}")
