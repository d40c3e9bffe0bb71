# SPDX-License-Identifier: Apache-2.0
"""Hosts at the ends of a chain in place of the tester: who they are, whom they know, and what makes them.

Each has one address of each version of IP that the whole chain carries, and one route: by the other end.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import get_args

from weir.base.error import USAGE
from weir.base.step import Step
from weir.base.topology import (
    HOST_PORT,
    EndHost,
    Link,
    Neighbour,
    Node,
    Port,
    Side,
    Topology,
    namespace,
    token_of,
)
from weir.lab.lab import Lab
from weir.lab.traffic import IpVersion
from weir.plan.carried import Protocol, carried
from weir.plan.stations import station, swaps
from weir.plan.topology import PlanError
from weir.technology import TECHNOLOGIES

INTERFACE = "eth0"
MTU_BYTES = 1500
_HOSTS = "hosts"
_VERSIONS: tuple[IpVersion, ...] = get_args(IpVersion)
_RESOLVED_BY: dict[IpVersion, Protocol] = {4: "ARP", 6: "Neighbor Discovery"}


class NoHostsError(PlanError):
    """Hosts cannot be at the ends of this chain; says why, and what to do."""

    exit_code = USAGE


def with_hosts(topology: Topology, lab: Lab) -> Topology:
    """The chain with hosts in the tester's place. NoHostsError where no host could use it."""
    _require_possible(topology, lab)
    tester = topology.nodes[0].name
    token = token_of(topology.deployment)
    wired = {name for link in topology.links if not link.network for name in _beside(link, tester)}
    ports = []
    for port in topology.ports:
        if port.node == tester:
            ports.append(_host_port(port, namespace(token, port.side)))
        elif port.name in wired:
            ports.append(_wired(port, namespace(token, port.node)))
        else:
            ports.append(port)
    renamed = {one.name: made.name for one, made in zip(topology.ports, ports, strict=True)}
    made = topology.model_copy(
        update={
            "nodes": (Node(name=_HOSTS, role="hosts"), *topology.nodes[1:]),
            "ports": tuple(ports),
            "links": tuple(
                link.model_copy(update={"left": renamed[link.left], "right": renamed[link.right]})
                for link in topology.links
            ),
        }
    )
    sides: tuple[Side, ...] = get_args(Side)
    return made.model_copy(update={"end_hosts": tuple(_end_host(made, lab, side) for side in sides)})


def steps(topology: Topology) -> Iterator[Step]:
    """Once their interfaces are there."""
    for host in topology.end_hosts:
        port = topology.port(host.port)
        other = "right" if host.side == "left" else "left"
        yield Step(
            kind="end-host",
            name=f"end-host:{host.side}",
            params={
                "netns": port.netns or "",
                "interface": port.interface or "",
                "mac": port.mac,
                "mtu_bytes": MTU_BYTES,
                "addresses": list(host.addresses),
                "peers": list(host.peers),
                "neighbours": [f"{one.address} {one.mac}" for one in host.neighbours],
                "names": [
                    *(f"{address} {host.side}" for address in host.addresses),
                    *(f"{address} {other}" for address in host.reached),
                ],
                "hosts_file": hosts_file(host),
            },
            text=f"make host {host.side} with {', '.join(host.addresses)}, without offloads, in {port.netns}",
            undo_text=f"end what runs in host {host.side}",
        )


def hosts_file(host: EndHost) -> str:
    """In the run directory: what commands in it see as /etc/hosts."""
    return f"{host.side}.hosts"


def _require_possible(topology: Topology, lab: Lab) -> None:
    described = TECHNOLOGIES[topology.technology]
    if not described.joins_hosts:
        why = "its ports are a network card's, which no host's kernel has" if described.physical else ""
        others = ", ".join(name for name, one in TECHNOLOGIES.items() if one.joins_hosts)
        raise NoHostsError(
            f"{topology.technology} has no place for hosts at the ends{f': {why}' if why else ''}; expected"
            f" one of {others}"
        )
    if lab.traffic.vlan is not None:
        raise NoHostsError(
            f"traffic.vlan is {lab.traffic.vlan}, and hosts at the ends send no tags; leave traffic.vlan out"
        )
    for node in topology.functions():
        if node.machine is not None:
            raise NoHostsError(
                f"{node.name} is a virtual machine, which forwards to the tester's addresses alone; expected"
                " functions of kind process between hosts"
            )
        for one in node.chain:
            if swaps(one):
                raise NoHostsError(
                    f"{node.name} exchanges MAC addresses ({one.nf}, mode: mac-swap), and no host takes what"
                    " is addressed to its sender; expected mode: mac-rewrite"
                )


def _beside(link: Link, tester: str) -> Iterable[str]:
    """The ports of a link one end of which is the tester's."""
    names = (link.left, link.right)
    return names if any(name.partition(".")[0] == tester for name in names) else ()


def _host_port(port: Port, netns: str) -> Port:
    name = f"{_HOSTS}.{port.side}"
    update = {"name": name, "node": _HOSTS, "kind": HOST_PORT, "netns": netns}
    return port.model_copy(update={**update, "interface": INTERFACE, "socket": None})


def _wired(port: Port, netns: str) -> Port:
    """The function's end of a wire to a host."""
    return port.model_copy(
        update={"kind": "packet_socket", "netns": netns, "interface": port.side, "socket": None}
    )


def _end_host(topology: Topology, lab: Lab, side: Side) -> EndHost:
    port = topology.port(f"{_HOSTS}.{side}")
    carries = _carried(topology)
    versions = [one for one in _VERSIONS if f"IPv{one}" in carries]
    if not versions:
        raise NoHostsError(
            f"the chain {topology.chain} lets neither IPv4 nor IPv6 through: {_who_drops(topology, 'IPv4')}"
        )
    ends = [lab.traffic.addresses(one) for one in versions]
    own, other = (0, 1) if side == "left" else (1, 0)
    end = lab.traffic.left if side == "left" else lab.traffic.right
    unresolved = [one for one in versions if _RESOLVED_BY[one] not in carries]
    mac = station(topology, port).mac
    return EndHost(
        side=side,
        port=port.name,
        addresses=tuple(pair[own] for pair in ends),
        peers=tuple(pair[other] for pair in ends),
        reached=tuple(_reached(end.to_address, pair[other]) for pair in ends),
        neighbours=tuple(
            Neighbour(address=pair[other], mac=mac)
            for version, pair in zip(versions, ends, strict=True)
            if version in unresolved
        ),
        neighbours_because=", ".join(_who_drops(topology, _RESOLVED_BY[one]) for one in unresolved),
    )


def _reached(to_address: str | None, address: str) -> str:
    """Of the same version of IP."""
    if to_address is None:
        return address
    same = ipaddress.ip_address(to_address).version == ipaddress.ip_address(address).version
    return to_address if same else address


def _carried(topology: Topology) -> frozenset[Protocol]:
    """By every function of the chain."""
    each = [carried(one) for node in topology.functions() for one in node.chain]
    return frozenset(get_args(Protocol)).intersection(*each)


def _who_drops(topology: Topology, protocol: Protocol) -> str:
    """ "l3fwd in f1 drops ARP"."""
    nodes = [(node.name, one) for node in topology.functions() for one in node.chain]
    found = next((f"{one.nf} in {name}" for name, one in nodes if protocol not in carried(one)), "nothing")
    return f"{found} drops {protocol}"
