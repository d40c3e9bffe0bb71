# SPDX-License-Identifier: Apache-2.0
"""Which protocols a network function lets through at all, whatever its rules say; from its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from weir.base.node import NodeNf
from weir.base.topology import Topology
from weir.lab.nf import Scalar, entries, network_functions

Protocol = Literal["IPv4", "ARP", "IPv6", "Neighbor Discovery"]
_ALL: frozenset[Protocol] = frozenset({"IPv4", "ARP", "IPv6", "Neighbor Discovery"})
_IPV4: frozenset[Protocol] = frozenset({"IPv4"})
_IPV6: frozenset[Protocol] = frozenset({"IPv6", "Neighbor Discovery"})
_ARP: frozenset[Protocol] = frozenset({"ARP"})
_DISCOVERY: frozenset[Protocol] = frozenset({"Neighbor Discovery"})


def carried(one: NodeNf) -> frozenset[Protocol]:
    """Of one function with its options. Of one that is not known here: IPv4, from station to station."""
    nf = network_functions()[one.nf]
    if not nf.returns:
        return frozenset()
    given = {option.name: option.default for option in nf.options} | dict(one.options)
    return _CARRIED.get(one.nf, _only_ipv4)(given)


def let_through(topology: Topology) -> Iterator[tuple[str, frozenset[Protocol]]]:
    """Each function, as "nat in f1", and what it lets through, in the order of the chain. Linux that routes
    resolves no address for others."""
    for node in topology.functions():
        chain = list(node.chain)
        if node.kernel is not None:
            chain += node.kernel.does
            if node.kernel.addressing == "routed":
                yield f"Linux in {node.name}", frozenset({"IPv4", "IPv6"})
        yield from ((f"{one.nf} in {node.name}", carried(one)) for one in chain)


_Given = Mapping[str, Scalar | None]


def _only_ipv4(_given: _Given) -> frozenset[Protocol]:
    return _IPV4


def _tunnelled(given: _Given) -> frozenset[Protocol]:
    """Of UEs that have IPv6 prefixes by the options, or may have them by N4."""
    may_be_ipv6 = bool(given["ue_first_prefix"] or given.get("n4_address"))
    return _IPV4 | _ARP | (frozenset({"IPv6"}) if may_be_ipv6 else frozenset())


def _everything(_given: _Given) -> frozenset[Protocol]:
    return _ALL


def _by_rules(given: _Given) -> frozenset[Protocol]:
    """Of a function with the options of native/toolkit/ruled_frames.h: what its rules are asked about, and
    what is forwarded without them."""
    found = _IPV4
    if _said(given, "arp") == "forward":
        found |= _ARP
    if _said(given, "ipv6") in ("rules", "forward"):
        found |= _IPV6
    if given["neighbor_discovery"] != "ipv6":
        found = found | _DISCOVERY if given["neighbor_discovery"] == "forward" else found - _DISCOVERY
    return found


def _said(given: _Given, option: str) -> Scalar | None:
    return given["not_ipv4"] if given[option] == "not_ipv4" else given[option]


def _but_ipv6(option: str) -> Callable[[_Given], frozenset[Protocol]]:
    return lambda given: _ALL if given[option] == "forward" else _ALL - _IPV6


def _translated(given: _Given) -> frozenset[Protocol]:
    return _IPV4 | _IPV6 if given["ipv6"] == "forward" else _IPV4


def _routed(given: _Given) -> frozenset[Protocol]:
    """Versions of IP that a list in the lab has routes of, or its own addresses are of. A file is not read:
    both."""
    versions: frozenset[Protocol] = frozenset({"IPv4", "IPv6"})
    own = [str(given[option]) for option in ("addresses", "inbound_addresses") if given[option]]
    routes = given["route_list"]
    if given["routes"] or not (own or isinstance(routes, str)):
        return versions
    lines = entries(",".join([*own, routes if isinstance(routes, str) else ""]))
    prefixes = [line.split()[0] for line in lines if line.split()]
    there = {"IPv6" if ":" in prefix else "IPv4" for prefix in prefixes}
    return frozenset(version for version in versions if version in there)


_CARRIED: Mapping[str, Callable[[_Given], frozenset[Protocol]]] = {
    "acl": _by_rules,
    "dpi": _but_ipv6("ipv6"),
    "firewall": _by_rules,
    "gnb": _tunnelled,
    "impair": _everything,
    "l2fwd": _everything,
    "l3fwd": _routed,
    "lb": _but_ipv6("ipv6"),
    "nat": _translated,
    "policer": _everything,
    "shaper": _everything,
    "upf": _tunnelled,
}
