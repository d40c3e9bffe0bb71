# SPDX-License-Identifier: Apache-2.0
"""Routers that are well formed and yet impossible: overlapping networks, ports that lead nowhere or twice."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.router import RouterOptions
from weir.lab.source import KeyPath

_EXTERNAL_LENGTH_MIN = 22  # PREFIX_LENGTH_MIN of nat


def router_complaints(path: KeyPath, router: RouterOptions) -> Iterator[Complaint]:
    """What is impossible in a well-formed router."""
    external = ipaddress.IPv4Network(router.external)
    networks = [ipaddress.IPv4Network(tenant.prefix) for tenant in router.tenants]
    if external.prefixlen < _EXTERNAL_LENGTH_MIN:
        message = f"has {external.num_addresses} addresses"
        yield Complaint((*path, "external"), message, f"a prefix of length {_EXTERNAL_LENGTH_MIN} or more")
    for index, network in enumerate(networks):
        at: KeyPath = (*path, "tenants", index, "prefix")
        clash = next((other for other in [external, *networks[:index]] if network.overlaps(other)), None)
        if clash is not None:
            about: tuple[KeyPath, ...] = ((*path, "external"), (*path, "tenants"))
            yield Complaint(at, f"{network} overlaps {clash}", "networks that do not overlap", about=about)
    yield from _address_complaints(path, router, networks)
    yield from _forward_complaints(path, router, external, networks)


def _address_complaints(
    path: KeyPath, router: RouterOptions, networks: list[ipaddress.IPv4Network]
) -> Iterator[Complaint]:
    """Of the router itself, and of its router."""
    for index, (tenant, network) in enumerate(zip(router.tenants, networks, strict=True)):
        about: tuple[KeyPath, ...] = ((*path, "tenants", index, "prefix"),)
        if tenant.address is not None and not _is_host(ipaddress.IPv4Address(tenant.address), network):
            at: KeyPath = (*path, "tenants", index, "address")
            yield Complaint(
                at, f"{tenant.address} is no host of {network}", f"a host of {network}", about=about
            )
    interface = ipaddress.IPv4Interface(router.address) if router.address else None
    clash = next((one for one in networks if interface and one.overlaps(interface.network)), None)
    if interface is not None and clash is not None:
        message = f"{interface.network} overlaps {clash}"
        about = ((*path, "tenants"),)
        yield Complaint((*path, "address"), message, "a network that is no tenant's", about=about)
    if router.gateway is None:
        return
    if router.next_hop is not None:
        about = ((*path, "next_hop"),)
        yield Complaint(
            (*path, "gateway"), "stands beside next_hop", "one of gateway and next_hop", about=about
        )
    if interface is None or ipaddress.IPv4Address(router.gateway) not in interface.network:
        expected = (
            f"an address of {interface.network}" if interface else "address: the router's own beside it"
        )
        about = ((*path, "address"),)
        yield Complaint((*path, "gateway"), "is in no network of the router", expected, about=about)


def _forward_complaints(
    path: KeyPath,
    router: RouterOptions,
    external: ipaddress.IPv4Network,
    networks: list[ipaddress.IPv4Network],
) -> Iterator[Complaint]:
    about: tuple[KeyPath, ...] = ((*path, "external"), (*path, "tenants"))
    ends = []
    for index, forward in enumerate(router.forwards):
        at: KeyPath = (*path, "forwards", index)
        outer = router.external_address(forward)
        if ipaddress.IPv4Address(outer) not in external:
            message = f"{outer} is none of the router's external addresses"
            yield Complaint((*at, "external"), message, f"one of {external}", about=about)
        if not any(ipaddress.IPv4Address(forward.to) in network for network in networks):
            message = f"{forward.to} is no tenant's"
            expected = "an address of " + ", ".join(map(str, networks))
            yield Complaint((*at, "to"), message, expected, about=about)
        ends.append(
            {
                (forward.protocol, "outside", outer, forward.port),
                (forward.protocol, "inside", forward.to, forward.to_port or forward.port),
            }
        )
    for (one, first), (other, second) in itertools.combinations(enumerate(ends), 2):
        if first & second:
            message = f"has an endpoint of forwards[{one}] too: {_shown(min(first & second))}"
            yield Complaint((*path, "forwards", other), message, "each endpoint once", about=about)


def _is_host(address: ipaddress.IPv4Address, network: ipaddress.IPv4Network) -> bool:
    ends = (network.network_address, network.broadcast_address) if network.prefixlen < 31 else ()
    return address in network and address not in ends


def _shown(endpoint: tuple[str, str, str, int]) -> str:
    protocol, _, address, port = endpoint
    return f"{address}:{port}/{protocol}"
