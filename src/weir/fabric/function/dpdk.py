# SPDX-License-Identifier: Apache-2.0
"""What a DPDK program is told of its cores, its memory and its ports, and what its telemetry tells of these.

Telemetry is a socket in the program's runtime directory, which is made below the deployment's. It answers in
JSON (DPDK's guide "Telemetry User Guide"): /ethdev/stats has what each of its ports counted.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.node import PROGRAM_DIRECTORY
from weir.catalogue import CatalogueError, Ends
from weir.catalogue.programs import Launch, Place, launch
from weir.fabric import hugepages
from weir.fabric.function.lost import Lost, why_not
from weir.fabric.site import Site
from weir.lab.kernel import EAL, SIDES

_ANSWER_S = 5.0
_ANSWER_BYTES = 1 << 20
_SOCKETS = "dpdk/*/dpdk_telemetry.v2*"
_COUNT_REFUSALS = ("net_vhost", "net_af_xdp", "net_tap")
"""Drivers that count in `oerrors` what they had no room for: the program may have sent it again."""
_STATS = {"imissed": "rx_missed", "ierrors": "rx_errors", "oerrors": "tx_errors"}
"""Reasons by what ethdev calls them. `rx_nombuf` counts attempts: the packet is taken by the next one."""
_VDEV = re.compile(r"(?P<driver>net_[a-z_]+)(?P<side>[01])")
_DROPS = re.compile(r"(^|_)(dropped|drops?|discards?|discarded)(_|$)")
"""Of extended statistics, whose names are the drivers' own."""


def runtime(site: Site, node: str) -> Path:
    """The program's runtime directory (RUNTIME_DIRECTORY of its environment)."""
    return site.directory / PROGRAM_DIRECTORY.format(node)


def environment_words(
    params: Mapping[str, Any],
    cores: Sequence[int],
    values: Mapping[str, str],
    *,
    main_forwards: bool = False,
) -> list[str]:
    """What stands in the place of {eal}. `params`: of the step `program`; `values`: with its ports' vdevs.

    The main lcore, which most programs leave idle, floats over all of the function's cores; lcores 1 to n are
    one of them each. `main_forwards`: it is the first of these.
    """
    own = list(cores) or sorted(os.sched_getaffinity(0))
    lcores = [f"{number}@{cpu}" for number, cpu in enumerate(own, 0 if main_forwards else 1)]
    if not main_forwards:
        lcores = [f"0@({','.join(map(str, own))})", *lcores]
    words = [f"--lcores={','.join(lcores)}", "--no-pci", f"--file-prefix={params['node']}"]
    return [*words, *memory_words(params), *(f"--vdev={values[f'{side}.vdev']}" for side in SIDES)]


def memory_words(params: Mapping[str, Any]) -> list[str]:
    """Hugepages, where they are enough; ordinary pages otherwise."""
    own = str(params["memory_mb"])
    if _enough_hugepages(params):
        # No file outlives it; few segments: vhost-user hands over eight at the most.
        return ["--in-memory", "--single-file-segments", "-m", own, f"--socket-limit={own}"]
    return ["--no-huge", "--no-shconf", "-m", own]


def _enough_hugepages(params: Mapping[str, Any]) -> bool:
    """Free for it and for what comes up after it."""
    needed_mb = int(params["memory_mb"]) + int(params["later_memory_mb"])
    return bool(params["huge"]) and hugepages.free_mb() >= needed_mb


def expanded(words: Sequence[str], environment: Sequence[str]) -> list[str]:
    """A command with all of these words where {eal} stands."""
    return [one for word in words for one in (environment if word == f"{{{EAL}}}" else [word])]


def started_as(params: Mapping[str, Any], cores: Sequence[int]) -> Launch:
    """A program in the place of one of Weir's functions. FabricError for options that it cannot be set up
    from."""
    does = json.loads(params["does"])
    ends = Ends(dict(str(one).split("=", 1) for one in params["values"]), tuple(params["left_prefixes"]))
    huge = _enough_hugepages(params) and hugepages.free_on_each_node_mb() >= int(params["memory_mb"])
    place = Place(ends, tuple(cores), any(params["sockets"]), huge)
    try:
        return launch(params["counterpart"], does["nf"], does["options"], place)
    except CatalogueError as error:
        what = f"{params['function']} cannot be {params['counterpart']} as {does['nf']}: {error.message}"
        raise FabricError(what, error.fix) from error


class Telemetry:
    """A program's, kept open."""

    def __init__(self, who: str, path: Path) -> None:
        self._who = who
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_ANSWER_S)
        try:
            self._socket.connect(str(path))
            self._socket.recv(_ANSWER_BYTES)  # whose version it is
            self._ports = self._sides()
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def ask(self, command: str) -> Any:
        """The answer's body. OSError, ValueError."""
        self._socket.send(command.encode())
        answer = json.loads(self._socket.recv(_ANSWER_BYTES))
        return answer[command.partition(",")[0]]

    def lost(self) -> list[Lost]:
        """By all of its ports since they were made. FabricError if it does not say."""
        try:
            return [one for side, number, driver in self._ports for one in self._lost(side, number, driver)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FabricError(
                f"{self._who} does not tell by DPDK's telemetry what its ports lost: {why_not(error)}",
                "see its log; --no-telemetry in its command does without",
            ) from error

    def _lost(self, side: str, number: int, driver: str) -> list[Lost]:
        stats = self.ask(f"/ethdev/stats,{number}")
        reasons = _STATS | ({"oerrors": "tx_queue_full"} if driver in _COUNT_REFUSALS else {})
        found = [Lost(f".{side}", reason, int(stats[key])) for key, reason in reasons.items()]
        extended = self.ask(f"/ethdev/xstats,{number}") or {}
        found += [Lost(f".{side}", key, int(value)) for key, value in extended.items() if _DROPS.search(key)]
        return found

    def _sides(self) -> list[tuple[str, int, str]]:
        """Side, number and driver of each port that Weir has named: its vdev ends with 0 or 1."""
        found = []
        for number in self.ask("/ethdev/list"):
            named = _VDEV.fullmatch(str(self.ask(f"/ethdev/info,{number}")["name"]))
            if named is not None:
                found.append((SIDES[int(named["side"])], int(number), named["driver"]))
        return found


def telemetry(site: Site, node: str, who: str) -> Telemetry | None:
    """Of that function; None: it has none, or is no program of DPDK."""
    path = next(iter(sorted(runtime(site, node).glob(_SOCKETS))), None)
    if path is None:
        return None
    try:
        return site.kept(f"telemetry:{node}", lambda: Telemetry(who, path))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # of something else that lies there, or not open yet
