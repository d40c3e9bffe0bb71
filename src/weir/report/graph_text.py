# SPDX-License-Identifier: Apache-2.0
"""A host's network as plain text: each namespace with its interfaces, and where each leads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from weir.base.words import counted
from weir.results.host_graph import HostGraph, Interface, Namespace, SwitchBridge, SwitchPort, Way


def render(graph: HostGraph) -> str:
    """Ends with a newline. Where a packet was followed: its way alone."""
    if graph.way is not None:
        return "\n".join(_way(graph.way)) + "\n"
    parts = [*_heading(graph), *_differences(graph), *_namespaces(graph), *_bridges(graph), *_unseen(graph)]
    return "\n".join(parts) + "\n"


def _way(way: Way) -> Iterator[str]:
    yield f"from {way.source} to {way.destination}"
    width = len(str(len(way.hops)))
    rows: list[tuple[str, ...]] = [
        (f"{number:{width}}.", one.name, f"in {one.namespace}", one.does)
        for number, one in enumerate(way.hops, 1)
    ]
    yield from _aligned(rows)
    yield "it arrives" if way.arrives else f"it is followed no farther: {way.stopped}"
    yield from (f"but: {one}" for one in way.doubts)


def _heading(graph: HostGraph) -> Iterator[str]:
    interfaces = sum(len(one.interfaces) for one in graph.namespaces)
    counts = [
        counted(len(graph.namespaces), "network namespace"),
        counted(interfaces, "interface"),
        counted(len(graph.bridges), "Open vSwitch bridge"),
    ]
    yield f"{graph.host}, {graph.looked_at}: {', '.join(counts)}"


def _differences(graph: HostGraph) -> Iterator[str]:
    if graph.deployment is None:
        return
    yield ""
    if not graph.differences:
        yield f"as {graph.deployment} was built"
        return
    yield f"not as {graph.deployment} was built:"
    rows: list[tuple[str, ...]] = [
        (one.what or "namespace", f"in {one.namespace}", one.said) for one in graph.differences
    ]
    yield from (f"  {line}" for line in _aligned(rows))


def _namespaces(graph: HostGraph) -> Iterator[str]:
    places = {one.id: namespace for namespace in graph.namespaces for one in namespace.interfaces}
    names = {one.id: one for namespace in graph.namespaces for one in namespace.interfaces}
    leads = _leads(graph, names, places)
    for namespace in graph.namespaces:
        yield ""
        yield f"{namespace.name}{_about(namespace)}"
        rows = [_row(one, leads.get(one.id, ())) for one in namespace.interfaces]
        yield from (f"  {line}" for line in _aligned(rows))


def _about(namespace: Namespace) -> str:
    said = ["forwards IPv4"] if namespace.forwards else []
    if namespace.processes:
        said.append(counted(namespace.processes, "process", "processes"))
    return f"  ({', '.join(said)})" if said else ""


def _leads(
    graph: HostGraph, names: Mapping[str, Interface], places: Mapping[str, Namespace]
) -> dict[str, list[str]]:
    """Where each interface leads: "↔ eth0 in blue.1", "in br0"."""
    bridges = {one.id: one for one in graph.bridges}
    found: dict[str, list[str]] = {}

    def named(end: str, of: str) -> str:
        if end in bridges:
            return bridges[end].name
        there = "" if places[end] is places.get(of) else f" in {places[end].name}"
        return f"{names[end].name}{there}"

    for join in graph.joins:
        first, second = join.ends
        if join.kind == "veth":
            found.setdefault(first, []).append(f"↔ {named(second, first)}")
            found.setdefault(second, []).append(f"↔ {named(first, second)}")
        elif join.kind in ("member", "port"):
            found.setdefault(first, []).append(f"in {named(second, first)}")
        elif join.kind == "lower":
            found.setdefault(first, []).append(f"over {named(second, first)}")
    return found


def _row(one: Interface, leads: Iterable[str]) -> tuple[str, ...]:
    details = " ".join(
        f"{key} {value}" for key, value in one.details.items() if one.kind not in ("tun", "veth")
    )
    where = [*sorted(leads, reverse=True), *([f"held by {one.holder}"] if one.holder else [])]
    return (
        one.name,
        one.kind + ("" if one.up else ", down"),
        ", ".join(where),
        " ".join(part for part in (", ".join(one.addresses), details) if part),
        _traffic(one),
    )


def _traffic(one: Interface) -> str:
    if one.rates is not None:
        told = f"rx {one.rates.rx_pps:g} pps, tx {one.rates.tx_pps:g} pps"
        return told + (f", dropped {one.rates.dropped_pps:g} pps" if one.rates.dropped_pps else "")
    counted = one.traffic
    lost = counted.rx_dropped + counted.tx_dropped + counted.rx_errors + counted.tx_errors
    return f"rx {counted.rx_packets}, tx {counted.tx_packets}" + (f", dropped {lost}" if lost else "")


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=True) if width]
        yield "  ".join(cells).rstrip()


def _bridges(graph: HostGraph) -> Iterator[str]:
    places = {one.id: one.name for one in graph.namespaces}
    for bridge in graph.bridges:
        where = f" of {places[bridge.namespace]}" if bridge.namespace in places else ""
        yield ""
        yield f"Open vSwitch bridge {bridge.name}{where}  ({bridge.datapath})"
        yield from (f"  {line}" for line in _aligned([_port(graph, bridge, one) for one in bridge.ports]))


def _port(graph: HostGraph, bridge: SwitchBridge, port: SwitchPort) -> tuple[str, ...]:
    tag = f"tag {port.tag}" if port.tag is not None else ""
    if port.type == "patch":
        peer = port.options.get("peer", "")
        owner = next(
            (
                one.name
                for one in graph.bridges
                if one.database == bridge.database and any(each.name == peer for each in one.ports)
            ),
            "nothing",
        )
        return port.name, port.type, tag, f"↔ {peer} in {owner}"
    told = " ".join(f"{key} {value}" for key, value in sorted(port.options.items()))
    return port.name, port.type, tag, told


def _unseen(graph: HostGraph) -> Iterator[str]:
    if graph.unseen:
        yield ""
        yield "not seen:"
        yield from (f"  {one}" for one in graph.unseen)
