# SPDX-License-Identifier: Apache-2.0
"""What Suricata has dropped, by its Unix socket (Suricata User Guide 7, "Interacting via Unix Socket").

A request and its answer are JSON each, on a line. Its threads hand their counts over once a second.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.node import PROGRAM_DIRECTORY
from weir.catalogue.suricata import SOCKET
from weir.fabric import stop_signals
from weir.fabric.function.lost import Lost, why_not
from weir.fabric.site import Site
from weir.lab.kernel import SIDES

_VERSION = {"version": "0.2"}
_ANSWER_S, _ANSWER_BYTES = 5.0, 1 << 16
_LATE_S, _LOOK_S = 3.5, 0.1
"""Threads hand over each second, and another one sums up each second."""
_BEGUN_S = 10.0
"""Until then that has happened for the first time."""
_NOT_YET = "stats not yet synchronized"
"""What it answers until then."""


class Socket:
    """Suricata's, kept open."""

    def __init__(self, who: str, path: Path, sides: Mapping[str, str]) -> None:
        """`sides`: by the names of its interfaces."""
        self._who, self._sides = who, sides
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_S)
        try:
            self._socket.connect(str(path))
            self._ask(_VERSION)
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def lost(self, packets: int) -> list[Lost]:
        """Since it was started. `packets`: so many were lost in all; it is asked again, for a few
        seconds, until it has counted them. FabricError if it does not say."""
        began = time.monotonic()
        while True:
            took_s = time.monotonic() - began
            try:
                counters = self._ask({"command": "dump-counters"})
                interfaces = {name: self._interface(name) for name in self._sides}
            except (OSError, ValueError, KeyError, TypeError) as error:
                if str(error) == _NOT_YET and took_s < _BEGUN_S:
                    stop_signals.check()
                    time.sleep(_LOOK_S)
                    continue
                raise FabricError(
                    f"{self._who} does not tell by its socket what it dropped: {why_not(error)}",
                    "see its log",
                ) from error
            found = [*lost(counters, interfaces, self._sides)]
            if sum(one.packets for one in found) >= packets or took_s > _LATE_S:
                return found
            stop_signals.check()
            time.sleep(_LOOK_S)

    def _interface(self, name: str) -> Any:
        return self._ask({"command": "iface-stat", "arguments": {"iface": name}})

    def _ask(self, request: Mapping[str, Any]) -> Any:
        """The answer's message. ValueError for a refusal."""
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        answer = b""
        while True:
            part = self._socket.recv(_ANSWER_BYTES)
            answer += part
            if not part:
                raise ValueError("it has closed the connection")
            try:
                said = json.loads(answer)
            except ValueError:
                continue  # not all of it
            if said["return"] != "OK":
                raise ValueError(str(said.get("message", said)))
            return said.get("message")


def lost(
    counters: Mapping[str, Any], interfaces: Mapping[str, Mapping[str, int]], sides: Mapping[str, str]
) -> Iterator[Lost]:
    """Of answers to dump-counters and, by the interface's name, to iface-stat."""
    for name, stat in interfaces.items():
        yield Lost(f".{sides[name]}", "capture_dropped", int(stat["drop"]))
    ips: Mapping[str, Any] = counters.get("ips", {})
    reasons: Mapping[str, int] = ips.get("drop_reason", {})
    for reason, packets in reasons.items():
        yield Lost("/program", reason, int(packets))
    yield Lost("/program", "blocked", int(ips.get("blocked", 0)) - sum(map(int, reasons.values())))


def suricata(site: Site, node: str, who: str) -> Socket:
    """Of that function. FabricError if its socket is not there."""
    path = site.directory / PROGRAM_DIRECTORY.format(node) / SOCKET
    sides = {side: side for side in SIDES}
    try:
        return site.kept(f"suricata:{node}", lambda: Socket(who, path, sides))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FabricError(f"{who} does not answer at {path}: {error!r}", "see its log") from error
