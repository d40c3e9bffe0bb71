# SPDX-License-Identifier: Apache-2.0
"""Hosts at the ends of a chain in place of the tester: who they are, whom they know, and what makes them.

Each has one address of each version of IP that the whole chain carries, and one route: by the nearest router
that has an address in its network, or else by the other end.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import get_args

from weir.base.error import USAGE
from weir.base.node import HOST_PORT, Node, Port, Side
from weir.base.step import Step
from weir.base.topology import EndHost, Link, Neighbour, Topology, namespace, token_of
from weir.lab.lab import Lab
from weir.lab.traffic import IpVersion
from weir.plan.carried import Protocol, carried, let_through
from weir.plan.plan import Plan
from weir.plan.topology import PlanError, station, swaps
from weir.technology import TECHNOLOGIES

INTERFACE = "eth0"
MTU_BYTES = 1500
_HOSTS = "hosts"
# New namespaces of Weir are silent. Addresses are used at once, and nobody but the lab gives any.
_SPEAKS: dict[IpVersion, tuple[str, ...]] = {
    4: ("net.ipv4.conf.all.arp_ignore=0", f"net.ipv4.conf.{INTERFACE}.arp_ignore=0"),
    6: (
        "net.ipv6.conf.all.accept_dad=0",
        f"net.ipv6.conf.{INTERFACE}.accept_dad=0",
        f"net.ipv6.conf.{INTERFACE}.accept_ra=0",
        "net.ipv6.conf.all.disable_ipv6=0",
    ),
}
_VERSIONS: tuple[IpVersion, ...] = get_args(IpVersion)
_CALLED: dict[IpVersion, Protocol] = {4: "IPv4", 6: "IPv6"}
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
            "switch_cores": _switch_cores(topology),
            "ports": tuple(ports),
            "links": tuple(
                link.model_copy(update={"left": renamed[link.left], "right": renamed[link.right]})
                for link in topology.links
            ),
        }
    )
    sides: tuple[Side, ...] = get_args(Side)
    return made.model_copy(update={"end_hosts": tuple(_end_host(made, lab, side) for side in sides)})


def planned(topology: Topology, lab: Lab) -> Plan:
    """The plan of such a chain: that of any chain, and then its hosts. PlanError, DataPlaneError likewise."""
    made = Plan.of(topology, _between_hosts(lab))
    return replace(made, steps=(*made.steps, *_steps(topology)))


def _between_hosts(lab: Lab) -> Lab:
    """Fields are the tester's to vary: Linux routes to addresses of the ends, which hosts have."""
    fields = lab.traffic.fields.model_copy(update={"src_ip": None, "dst_ip": None})
    return lab.model_copy(update={"traffic": lab.traffic.model_copy(update={"fields": fields})})


def _steps(topology: Topology) -> Iterator[Step]:
    for host in topology.end_hosts:
        port = topology.port(host.port)
        other = "right" if host.side == "left" else "left"
        versions = [_version(address) for address in host.addresses]
        yield Step(
            kind="sysctl",
            name=f"sysctl:{host.side}",
            params={
                "netns": port.netns or "",
                "settings": [setting for version in versions for setting in _SPEAKS[version]],
            },
            text=f"let host {host.side} speak {' and '.join(_CALLED[version] for version in versions)}",
            undo_text="",
        )
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
                "resolver_file": resolver_file(host),
            },
            text=f"make host {host.side} with {', '.join(host.addresses)}, without offloads, in {port.netns}",
            undo_text=f"end what runs in host {host.side}",
        )


def hosts_file(host: EndHost) -> str:
    """In the run directory: what commands in it see as /etc/hosts."""
    return f"{host.side}.hosts"


def resolver_file(host: EndHost) -> str:
    """Likewise as /etc/resolv.conf."""
    return f"{host.side}.resolv.conf"


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
        if node.kind not in ("process", "kernel"):
            raise NoHostsError(
                f"{node.name} is of kind {node.kind}, and set up for the tester's addresses alone; expected"
                " functions of kind process or kernel between hosts"
            )
        for one in (*node.chain, *(node.kernel.does if node.kernel is not None else ())):
            if swaps(one):
                raise NoHostsError(
                    f"{node.name} exchanges MAC addresses ({one.nf}, mode: mac-swap), and no host takes what"
                    " is addressed to its sender; expected mode: mac-rewrite"
                )


def _switch_cores(topology: Topology) -> tuple[int, ...]:
    """What forwards on the core that sends does so on those of the functions, and wherever hosts run."""
    if TECHNOLOGIES[topology.technology].switch != "inline":
        return topology.switch_cores
    return tuple(sorted({core for node in topology.functions() for core in node.cores}))


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
    versions = [one for one in _VERSIONS if _CALLED[one] in carries]
    if not versions:
        raise NoHostsError(
            f"the chain {topology.chain} lets no IP through: {_who_drops(topology, 'IPv4', 'IPv6')}; expected"
            " functions that let IPv4 or IPv6 pass"
        )
    ends = [lab.traffic.addresses(one) for one in versions]
    own, other = (0, 1) if side == "left" else (1, 0)
    end = lab.traffic.left if side == "left" else lab.traffic.right
    nearest = station(topology, port)
    gateways = {one: _gateway(topology, nearest, pair[own]) for one, pair in zip(versions, ends, strict=True)}
    unresolved = [one for one in versions if _RESOLVED_BY[one] not in carries and gateways[one] is None]
    return EndHost(
        side=side,
        port=port.name,
        addresses=tuple(pair[own] for pair in ends),
        peers=tuple(gateways[one] or pair[other] for one, pair in zip(versions, ends, strict=True)),
        reached=tuple(_reached(end.to_address, pair[other]) for pair in ends),
        neighbours=tuple(
            Neighbour(address=pair[other], mac=nearest.mac)
            for version, pair in zip(versions, ends, strict=True)
            if version in unresolved
        ),
        neighbours_because=_who_drops(topology, *(_RESOLVED_BY[one] for one in unresolved)),
        no_address_because=_who_drops(topology, *(_CALLED[one] for one in _VERSIONS if one not in versions)),
    )


def _gateway(topology: Topology, nearest: Port, address: str) -> str | None:
    """The address that the router at that port has in the host's network, which nothing keeps the host from
    resolving; None: it has none."""
    nodes = topology.functions()
    at = next((index for index, node in enumerate(nodes) if node.name == nearest.node), None)
    if at is None:
        return None
    between = nodes[:at] if nearest.side == "left" else nodes[at + 1 :]
    needed = _RESOLVED_BY[_version(address)]
    if any(needed not in carried(one) for node in between for one in node.chain):
        return None
    option = "inbound_addresses" if nearest.side == "left" else "addresses"
    given = [str(one.options[option]) for one in nodes[at].chain if option in one.options]
    own = [ipaddress.ip_interface(text.strip()) for text in ",".join(given).split(",") if text.strip()]
    host = ipaddress.ip_address(address)
    return next((str(one.ip) for one in own if host in one.network), None)


def _reached(to_address: str | None, address: str) -> str:
    """Of the same version of IP."""
    if to_address is None:
        return address
    return to_address if _version(to_address) == _version(address) else address


def _version(address: str) -> IpVersion:
    return 4 if ipaddress.ip_address(address).version == 4 else 6


def _carried(topology: Topology) -> frozenset[Protocol]:
    """By every function of the chain."""
    return frozenset(get_args(Protocol)).intersection(*(through for _, through in let_through(topology)))


def _who_drops(topology: Topology, *protocols: Protocol) -> str:
    """ "l3fwd in f1 drops ARP, Neighbor Discovery": the first one of the chain that does so."""
    found: dict[str, list[str]] = {}
    for protocol in protocols:
        who = next(who for who, through in let_through(topology) if protocol not in through)
        found.setdefault(who, []).append(protocol)
    return "; ".join(f"{who} drops {' and '.join(dropped)}" for who, dropped in found.items())
