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


_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_KEYS = ("prefix", "address", "gateway"), ("prefix6", "address6", "gateway6")
"""Of both families: a tenant's network, an address of the router itself, and its router's."""


def router_complaints(path: KeyPath, router: RouterOptions) -> Iterator[Complaint]:
    """What is impossible in a well-formed router."""
    external = ipaddress.IPv4Network(router.external)
    if external.prefixlen < _EXTERNAL_LENGTH_MIN:
        message = f"has {external.num_addresses} addresses"
        yield Complaint((*path, "external"), message, f"a prefix of length {_EXTERNAL_LENGTH_MIN} or more")
    for keys in _KEYS:
        yield from _network_complaints(path, router, external, keys[0])
        yield from _tenant_address_complaints(path, router, *keys[:2])
        yield from _address_complaints(path, router, *keys)
    networks = [ipaddress.IPv4Network(tenant.prefix) for tenant in router.tenants]
    yield from _forward_complaints(path, router, external, networks)
    yield from _floating_complaints(path, router, external, networks)


def _networks(router: RouterOptions, key: str) -> dict[int, _Network]:
    """By tenant, of those that have one of that family."""
    prefixes = {index: getattr(tenant, key) for index, tenant in enumerate(router.tenants)}
    return {index: ipaddress.ip_network(prefix) for index, prefix in prefixes.items() if prefix}


def _network_complaints(
    path: KeyPath, router: RouterOptions, external: ipaddress.IPv4Network, key: str
) -> Iterator[Complaint]:
    before: list[_Network] = [external]
    for index, network in _networks(router, key).items():
        clash = next((one for one in before if _overlap(one, network)), None)
        if clash is not None:
            at: KeyPath = (*path, "tenants", index, key)
            about: tuple[KeyPath, ...] = ((*path, "external"), (*path, "tenants"))
            yield Complaint(at, f"{network} overlaps {clash}", "networks that do not overlap", about=about)
        before.append(network)


def _overlap(one: _Network, other: _Network) -> bool:
    return (
        one.version == other.version
        and one.network_address <= other.broadcast_address  # type: ignore[operator]
        and other.network_address <= one.broadcast_address  # type: ignore[operator]
    )


def _tenant_address_complaints(
    path: KeyPath, router: RouterOptions, prefix_key: str, address_key: str
) -> Iterator[Complaint]:
    networks = _networks(router, prefix_key)
    for index, tenant in enumerate(router.tenants):
        address, network = getattr(tenant, address_key), networks.get(index)
        at: KeyPath = (*path, "tenants", index, address_key)
        about: tuple[KeyPath, ...] = ((*path, "tenants", index, prefix_key),)
        if address is not None and network is None:
            yield Complaint(at, f"stands without {prefix_key}", f"{prefix_key} beside it")
        elif address is not None and network is not None and not _is_host(address, network):
            yield Complaint(at, f"{address} is no host of {network}", f"a host of {network}", about=about)


def _address_complaints(
    path: KeyPath, router: RouterOptions, prefix_key: str, address_key: str, gateway_key: str
) -> Iterator[Complaint]:
    """Of the router itself, and of its router."""
    address, gateway = getattr(router, address_key), getattr(router, gateway_key)
    network = ipaddress.ip_interface(address).network if address else None
    inside = _networks(router, prefix_key).values()
    clash = next((one for one in inside if network and _overlap(one, network)), None)
    about: tuple[KeyPath, ...]
    if network is not None and clash is not None:
        about = ((*path, "tenants"),)
        message = f"{network} overlaps {clash}"
        yield Complaint((*path, address_key), message, "a network that is no tenant's", about=about)
    if gateway is None:
        return
    if router.next_hop is not None:
        about = ((*path, "next_hop"),)
        expected = f"one of {gateway_key} and next_hop"
        yield Complaint((*path, gateway_key), "stands beside next_hop", expected, about=about)
    if network is None or ipaddress.ip_address(gateway) not in network:
        expected = f"an address of {network}" if network else f"{address_key}: the router's own beside it"
        about = ((*path, address_key),)
        yield Complaint((*path, gateway_key), "is in no network of the router", expected, about=about)


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
        yield from _inside_complaints((*at, "to"), forward.to, networks, about)
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


def _inside_complaints(
    at: KeyPath, address: str, networks: list[ipaddress.IPv4Network], about: tuple[KeyPath, ...]
) -> Iterator[Complaint]:
    if not any(ipaddress.IPv4Address(address) in network for network in networks):
        expected = "an address of " + ", ".join(map(str, networks))
        yield Complaint(at, f"{address} is no tenant's", expected, about=about)


def _floating_complaints(
    path: KeyPath,
    router: RouterOptions,
    external: ipaddress.IPv4Network,
    networks: list[ipaddress.IPv4Network],
) -> Iterator[Complaint]:
    about: tuple[KeyPath, ...] = ((*path, "external"), (*path, "tenants"))
    seen: dict[str, int] = {}
    for index, pair in enumerate(router.floating):
        at: KeyPath = (*path, "floating", index)
        outer = ipaddress.IPv4Address(pair.external)
        if outer in external or any(outer in network for network in networks):
            message = f"{outer} is an address of others: of all tenants, or inside"
            yield Complaint((*at, "external"), message, "one of its own", about=about)
        yield from _inside_complaints((*at, "to"), pair.to, networks, about)
        for key, address in (("external", pair.external), ("to", pair.to)):
            first = seen.setdefault(address, index)
            if first != index:
                message = f"{address} is in floating[{first}] too"
                yield Complaint((*at, key), message, "each address once", about=about)


def _is_host(text: str, network: _Network) -> bool:
    """Not the addresses of the network itself: of IPv4 both ends, of IPv6 the routers' anycast one."""
    address = ipaddress.ip_address(text)
    if address not in network or network.max_prefixlen - network.prefixlen <= 1:
        return address in network
    return address != network.network_address and (
        network.version == 6 or address != network.broadcast_address
    )


def _shown(endpoint: tuple[str, str, str, int]) -> str:
    protocol, _, address, port = endpoint
    return f"{address}:{port}/{protocol}"
