# SPDX-License-Identifier: Apache-2.0
"""What the kernel would do with a packet: asked of it, so that rules and tables count as for packets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weir.fabric.host_graph.namespaces import Place

_ASK_S = 10


@dataclass(frozen=True)
class Route:
    """Where a namespace sends a packet."""

    local: bool
    """To itself."""
    interface: str
    gateway: str | None


class Asked(Protocol):
    """What answers."""

    def route(self, namespace: str, destination: str, source: str, came_by: str | None) -> Route | str:
        """In the namespace of that id. A string says why it sends it nowhere."""

    def learned(self, namespace: str, bridge: str, mac: str) -> str | None:
        """The port behind which a bridge has seen that address."""


class Kernel:
    """This host's."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = {str(one.inode): one for one in places}

    def route(self, namespace: str, destination: str, source: str, came_by: str | None) -> Route | str:
        """By `ip route get`."""
        incoming = ["iif", came_by] if came_by is not None else []
        said = self._ip(namespace, "ip", "-json", "route", "get", destination, "from", source, *incoming)
        if isinstance(said, str):
            return said
        if not said:
            return "the kernel names no route"
        kind = said[0].get("type", "unicast")
        if kind not in ("unicast", "local"):
            return f"its route is {kind}"
        return Route(kind == "local", said[0].get("dev", ""), said[0].get("gateway"))

    def learned(self, namespace: str, bridge: str, mac: str) -> str | None:
        """By `bridge fdb show`."""
        said = self._ip(namespace, "bridge", "-json", "fdb", "show", "br", bridge)
        if isinstance(said, str):
            return None
        return next((one["ifname"] for one in said if one.get("mac") == mac and "ifname" in one), None)

    def _ip(self, namespace: str, *argv: str) -> list[dict[str, Any]] | str:
        try:
            with self._places[namespace].inside():
                done = subprocess.run(
                    argv,
                    capture_output=True,
                    text=True,
                    timeout=_ASK_S,
                    check=False,
                    stdin=subprocess.DEVNULL,
                )
            if done.returncode != 0:
                return done.stderr.strip().removeprefix("RTNETLINK answers: ") or f"{argv[0]} fails"
            found: list[dict[str, Any]] = json.loads(done.stdout or "[]")
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            return str(error)
        return found
