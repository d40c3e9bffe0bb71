# SPDX-License-Identifier: Apache-2.0
"""One look at the host, or two for rates."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections import Counter
from datetime import UTC, datetime

from weir.fabric.host_graph import interfaces, switches
from weir.fabric.host_graph.asking import Kernel
from weir.fabric.host_graph.holders import holder_of, tap_holders
from weir.fabric.host_graph.interfaces import Link
from weir.fabric.host_graph.namespaces import ONLY_ROOT, Place, forwards, places
from weir.fabric.host_graph.way import way
from weir.results.document import HOST_GRAPH_VERSION
from weir.results.host_graph import HostGraph, Interface, Namespace, Rates


def read(between_s: float = 0.0, path: tuple[str, str] | None = None) -> HostGraph:
    """The host as it is now. `between_s`: so long between two looks, for rates; 0: one look, without. `path`:
    the ends of a packet's way to be followed; UnknownEndError if one is not clear."""
    before = _counted() if between_s else {}
    if between_s:
        time.sleep(between_s)
    graph, looked_s = _look()
    for one in (each for namespace in graph.namespaces for each in namespace.interfaces):
        earlier = before.get(one.id)
        if earlier is not None:
            one.rates = _rates(earlier[1], one, looked_s[one.id] - earlier[0])
    graph.seconds = between_s or None
    if path is not None:
        graph.way = way(graph, Kernel(places()[0]), *path)
    return graph


def _counted() -> dict[str, tuple[float, Interface]]:
    graph, looked_s = _look()
    every = (one for namespace in graph.namespaces for one in namespace.interfaces)
    return {one.id: (looked_s[one.id], one) for one in every}


def _look() -> tuple[HostGraph, dict[str, float]]:
    """With the time at which each interface was read."""
    found, unseen = places()
    namespaces: list[Namespace] = []
    links: list[Link] = []
    looked_s: dict[str, float] = {}
    for place in found:
        try:
            with place.inside():
                here, routes = interfaces.read_links(place), forwards()
        except PermissionError:
            unseen.append(f"network namespace {place.name}: {ONLY_ROOT}")
            continue
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            if place.path.exists():  # else it has just gone
                unseen.append(f"network namespace {place.name}: {error}")
            continue
        looked_s |= {one.shown.id: time.monotonic() for one in here}
        links += here
        namespaces.append(_namespace(place, here, routes=routes))
    _note_holders(namespaces, found)
    bridges, unread = switches.read_switches(found)
    switches.with_interfaces(bridges, {one.id: one.interfaces for one in namespaces})
    graph = HostGraph(
        version=HOST_GRAPH_VERSION,
        host=platform.node(),
        looked_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=None,
        namespaces=namespaces,
        bridges=bridges,
        joins=[*interfaces.joins(links), *switches.joins(bridges)],
        unseen=[*unseen, *unread],
    )
    return graph, looked_s


def _note_holders(namespaces: list[Namespace], found: list[Place]) -> None:
    taps = [(namespace, one) for namespace in namespaces for one in namespace.interfaces if one.kind == "tun"]
    if not taps:
        return
    pids = {str(place.inode): place.pids for place in found}
    held = tap_holders(pid for each in pids.values() for pid in each)
    called = Counter(one.name for _, one in taps)
    for namespace, one in taps:
        holder = holder_of(one.name, pids[namespace.id], held, only=called[one.name] == 1)
        one.holder = str(holder) if holder is not None else None


def _namespace(place: Place, links: list[Link], *, routes: bool | None) -> Namespace:
    shown = [one.shown for one in links]
    counted = len([pid for pid in place.pids if pid != os.getpid()])
    return Namespace(
        id=str(place.inode), name=place.name, forwards=routes, processes=counted, interfaces=shown
    )


def _rates(before: Interface, after: Interface, seconds: float) -> Rates:
    def per_second(*names: str) -> float:
        now, then = after.traffic.model_dump(), before.traffic.model_dump()
        grown = sum(int(now[name]) - int(then[name]) for name in names)
        return round(max(0, grown) / seconds, 1)

    return Rates(
        rx_pps=per_second("rx_packets"),
        rx_bps=8 * per_second("rx_bytes"),
        tx_pps=per_second("tx_packets"),
        tx_bps=8 * per_second("tx_bytes"),
        dropped_pps=per_second("rx_dropped", "tx_dropped", "rx_errors", "tx_errors"),
    )
