# SPDX-License-Identifier: Apache-2.0
"""What of a deployment's network is not as its steps made it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path

from weir.fabric.host_graph.intended import Intended, MadeInterface
from weir.results.host_graph import Difference, HostGraph, Interface, Namespace, SwitchBridge

SOCKET = "db.sock"
_OF_THE_KERNEL = frozenset(
    {"erspan0", "gre0", "gretap0", "ip6_vti0", "ip6gre0", "ip6tnl0", "ip_vti0", "sit0", "tunl0"}
)
"""Interfaces that it puts into each new namespace once such tunnels were used anywhere."""
_OF_OPENVSWITCH = ("ovs-netdev", "ovs-system", "vxlan_sys_", "gre_sys", "genev_sys_")


def differences(intended: Intended, graph: HostGraph, run_dir: Path) -> Iterator[Difference]:
    """Namespace by namespace, then switch by switch. `run_dir`: of the deployment."""
    actual = {one.name: one for one in graph.namespaces}
    ends = _Ends(graph)
    # Open vSwitch makes interfaces for its bridges, and for some of their ports.
    switched = {bridge for _, bridge in intended.switches}
    switched |= {port for ports in intended.switches.values() for port in ports}
    for name, made in intended.namespaces.items():
        if name not in actual:
            yield Difference(kind="missing", namespace=name, what="", at=None, said="it is not there")
            continue
        yield from _of_namespace(actual[name], made, ends)
        if name not in intended.free:
            yield from _added(actual[name], made.keys() | switched | _OF_THE_KERNEL)
    yield from _of_switches(intended, graph, run_dir)


class _Ends:
    """What joins lead to."""

    def __init__(self, graph: HostGraph) -> None:
        places = {
            one.id: (namespace.name, one.name)
            for namespace in graph.namespaces
            for one in namespace.interfaces
        }
        self._peers: dict[str, tuple[str, str]] = {}
        self._bridges: dict[str, str] = {}
        for join in graph.joins:
            first, second = join.ends
            if join.kind == "veth":
                self._peers |= {first: places[second], second: places[first]}
            elif join.kind == "member":
                self._bridges[first] = places[second][1]

    def peer(self, one: Interface) -> tuple[str, str] | None:
        """Namespace and name of the other end."""
        return self._peers.get(one.id)

    def bridge(self, one: Interface) -> str | None:
        """Of the kernel."""
        return self._bridges.get(one.id)


def _of_namespace(actual: Namespace, made: dict[str, MadeInterface], ends: _Ends) -> Iterator[Difference]:
    there = {one.name: one for one in actual.interfaces}
    for name, wanted in made.items():
        one = there.get(name)
        if one is None:
            said = f"{wanted.kind or 'interface'} is not there"
            yield Difference(kind="missing", namespace=actual.name, what=name, at=None, said=said)
            continue
        for said in _changes(one, wanted, ends):
            yield Difference(kind="changed", namespace=actual.name, what=name, at=one.id, said=said)


def _changes(one: Interface, wanted: MadeInterface, ends: _Ends) -> Iterator[str]:
    if wanted.kind is not None and one.kind != wanted.kind:
        yield f"is a {one.kind}, was made a {wanted.kind}"
    if not one.up:
        yield "is down, was made up"
    if wanted.mtu_bytes is not None and one.mtu_bytes != wanted.mtu_bytes:
        yield f"has an MTU of {one.mtu_bytes}, was made with {wanted.mtu_bytes}"
    if wanted.mac is not None and (one.mac or "").lower() != wanted.mac.lower():
        yield f"has MAC address {one.mac}, was made with {wanted.mac}"
    addresses = set(one.addresses)
    yield from (f"lacks address {address}" for address in sorted(wanted.addresses - addresses))
    if wanted.addresses:
        besides = (one for one in sorted(addresses - wanted.addresses) if not _of_the_link(one))
        yield from (f"has address {address} besides" for address in besides)
    if wanted.peer is not None and ends.peer(one) != wanted.peer:
        yield f"does not lead to {wanted.peer[1]} in {wanted.peer[0]}"
    if ends.bridge(one) != wanted.bridge:
        yield f"is in {ends.bridge(one) or 'no bridge'}, was put into {wanted.bridge or 'none'}"


def _of_the_link(address: str) -> bool:
    """Of IPv6: the kernel makes it itself (RFC 4862, 5.3)."""
    found = ipaddress.ip_interface(address)
    return found.version == 6 and found.is_link_local


def _added(actual: Namespace, known: set[str]) -> Iterator[Difference]:
    for one in actual.interfaces:
        if one.kind != "loopback" and one.name not in known and not one.name.startswith(_OF_OPENVSWITCH):
            said = f"{one.kind} was not made by the deployment"
            yield Difference(kind="added", namespace=actual.name, what=one.name, at=one.id, said=said)


def _of_switches(intended: Intended, graph: HostGraph, run_dir: Path) -> Iterator[Difference]:
    there = {(one.database, one.name): one for one in graph.bridges}
    names = {one.id: one.name for one in graph.namespaces}
    for (directory, bridge), ports in intended.switches.items():
        found = there.get((os.path.realpath(run_dir / directory / SOCKET), bridge))
        if found is None:
            said = "Open vSwitch bridge is not there, or its switch does not answer"
            yield Difference(kind="missing", namespace=directory, what=bridge, at=None, said=said)
            continue
        namespace = names.get(found.namespace or "", directory)
        yield from _of_switch(found, namespace, ports)


def _of_switch(found: SwitchBridge, namespace: str, made: dict[str, int | None]) -> Iterator[Difference]:
    there = {port.name: port for port in found.ports if port.name != found.name}
    for name, tag in made.items():
        port = there.get(name)
        if port is None:
            said = f"is no port of {found.name}"
            yield Difference(kind="missing", namespace=namespace, what=name, at=None, said=said)
        elif port.tag != tag:
            said = f"has VLAN {port.tag or 'none'}, was made with {tag or 'none'}"
            at = found.port_id(port)
            yield Difference(kind="changed", namespace=namespace, what=name, at=at, said=said)
    for name in sorted(there.keys() - made.keys()):
        said = f"port of {found.name} was not made by the deployment"
        at = found.port_id(there[name])
        yield Difference(kind="added", namespace=namespace, what=name, at=at, said=said)
