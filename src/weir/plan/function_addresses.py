# SPDX-License-Identifier: Apache-2.0
"""Addresses of functions that Linux does in a network namespace, and the prefixes of the tester's two ends.

Link i of a chain is the IPv4 network 169.254.(i+1).0/30 (RFC 3927, which reserves 169.254.0.0/24) and the
IPv6 network fd57:6569:72:i::/64 (RFC 4193); its left end has number 1 and its right end number 2.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from weir.base.node import Port
from weir.base.topology import Topology
from weir.lab.packet_fields import PacketFields
from weir.lab.traffic import Traffic
from weir.plan.topology import PlanError, station

Prefix = ipaddress.IPv4Network | ipaddress.IPv6Network
Version = Literal[4, 6]
VERSIONS: tuple[Version, ...] = (4, 6)
_LENGTH = {4: 30, 6: 64}
_RADIX = 32768  # WEIR_FLOW_RADIX: a varied field has so many values at most
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Addresses:
    """Of one port, and of who is at the other end of its link."""

    own: Mapping[Version, str]
    """With the length of the prefix."""
    gateway: Mapping[Version, str]
    gateway_mac: str


def addresses(topology: Topology, port: Port) -> Addresses:
    """Those of one port's link."""
    at_left = topology.links[port.link].left == port.name
    own, other = (1, 2) if at_left else (2, 1)
    return Addresses(
        own={version: f"{_host(version, port.link, own)}/{_LENGTH[version]}" for version in VERSIONS},
        gateway={version: _host(version, port.link, other) for version in VERSIONS},
        gateway_mac=station(topology, port).mac,
    )


def _host(version: Version, link: int, number: int) -> str:
    text = f"169.254.{link + 1}.{number}" if version == 4 else f"fd57:6569:72:{link:x}::{number}"
    return str(ipaddress.ip_address(text))


def ends(traffic: Traffic, version: Version) -> tuple[str, str]:
    """First address of the tester's left end and of its right one; of the other version of IP the default."""
    return traffic.addresses() if traffic.ip == version else Traffic(ip=version).addresses()


def prefixes(traffic: Traffic, version: Version) -> tuple[tuple[Prefix, ...], tuple[Prefix, ...]]:
    """What covers all addresses of the left end, and of the right one: one prefix each where they stay apart.

    PlanError if both ends share addresses: no route could tell them apart.
    """
    fields = traffic.fields if traffic.ip == version else PacketFields()
    ranges = [
        (min(said.addresses(), key=int), max(said.addresses(), key=int))
        if said
        else _range(first, traffic, step)
        for first, said, step in zip(
            ends(traffic, version), (fields.src_ip, fields.dst_ip), _steps(traffic), strict=True
        )
    ]
    covering = [_covering(*one) for one in ranges]
    if not covering[0].overlaps(covering[1]):
        return (covering[0],), (covering[1],)
    (left_first, left_last), (right_first, right_last) = ranges
    if int(left_first) <= int(right_last) and int(right_first) <= int(left_last):
        raise PlanError(
            f"Linux cannot route between the tester's ends: addresses from {left_first} to {left_last} are "
            f"at the left, and from {right_first} to {right_last} at the right; expected ranges apart: other "
            "traffic.left.address or traffic.right.address, fewer flows, or kernel.addressing: none"
        )
    return _exact(left_first, left_last), _exact(right_first, right_last)


def _steps(traffic: Traffic) -> tuple[int, int]:
    """By how much the addresses of each end go up from flow to flow: of two that are varied the second one by
    three (native/traffic/flows.c)."""
    left, right = "src_ip" in traffic.flows.vary, "dst_ip" in traffic.flows.vary
    return int(left), right * (3 if left else 1)


def _range(first: str, traffic: Traffic, step: int) -> tuple[_Address, _Address]:
    """First and last address of an end, as source in one direction and as destination in the other."""
    address = ipaddress.ip_address(first)
    if traffic.connections is not None:
        return address, address + max(traffic.connections.clients, traffic.connections.servers) - 1
    return address, address + min(_RADIX - 1, step * (traffic.flows.count - 1))


def _exact(first: _Address, last: _Address) -> tuple[Prefix, ...]:
    if isinstance(first, ipaddress.IPv4Address) and isinstance(last, ipaddress.IPv4Address):
        return tuple(ipaddress.summarize_address_range(first, last))
    return tuple(ipaddress.summarize_address_range(ipaddress.IPv6Address(first), ipaddress.IPv6Address(last)))


def _covering(first: _Address, last: _Address) -> Prefix:
    length = first.max_prefixlen - (int(first) ^ int(last)).bit_length()
    return ipaddress.ip_network(f"{first}/{length}", strict=False)
