# SPDX-License-Identifier: Apache-2.0
"""l3fwd by Linux's routes: a route a line, each to its own next hop.

A next hop is a MAC address in l3fwd, and an IP address in Linux: each gets a link-local one of its own (RFC
4291, appendix A) with a static neighbour, by which IPv4 is routed, too (RFC 5549). What leads to the tester's
left end leaves at the left, all else at the right, which l3fwd does by the direction that packets come from.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence

from weir.catalogue.setup import IP_BATCH, CatalogueError, Ends, Options, Setup, lines

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_UNIVERSAL = 0x02
_VIA_WORDS = 3
_WANTED = (
    "a prefix, then the MAC address of a next hop, `default`, or via and an address, and the output 0 or none"
)
_OWN = (("left", "inbound_addresses", "inbound_mtu_bytes"), ("right", "addresses", "mtu_bytes"))
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def routes(options: Options, ends: Ends) -> Setup:
    """Without routes the namespace's own ones to the tester's two ends do. Addresses and MTUs are its
    interfaces."""
    found: dict[str, None] = {}
    links: dict[Network, str] = {}
    for side, own, mtu in _OWN:
        for where, address in lines(options, own, None):
            links[network := _network(where, address)] = side
            found[f"address replace {address} dev {ends[f'{side}.name']}"] = None
            if network.version == 6:  # without a link-local one Linux asks nobody for whom it forwards to
                link_local = f"{_link_local(ends[f'{side}.mac'])}/64"
                found[f"address replace {link_local} dev {ends[f'{side}.name']}"] = None
        if options.get(mtu):
            found[f"link set dev {ends[f'{side}.name']} mtu {options[mtu]}"] = None
    for where, line in lines(options, "route_list", "routes"):
        found |= dict.fromkeys(_commands(where, line, links, ends))
    if not found:
        return Setup()
    ordered = sorted(found, key=lambda line: line.startswith("route"))  # next hops are there first
    return Setup(((IP_BATCH, "".join(f"{line}\n" for line in ordered)),))


def _commands(where: str, line: str, links: Mapping[Network, str], ends: Ends) -> Iterator[str]:
    words = line.split()
    if words[1:2] == ["via"]:
        if len(words) != _VIA_WORDS:
            raise CatalogueError(f"{where}: no route: `{line}`", f"expected {_WANTED}")
        prefix, gateway = _prefix(where, words[0]), words[2]
        side = _side_of(where, gateway, links)
        # The namespace may have a longer route to that very neighbour, Weir's to the tester's end: Linux
        # refuses an IPv6 next hop behind another one, unless it is told that it is on the link.
        yield f"route replace {prefix} via {gateway} dev {ends[f'{side}.name']} onlink"
        return
    prefix, mac = route(where, line, words)
    side = "left" if leads_left(prefix, ends) else "right"
    interface = ends[f"{side}.name"]
    if mac == "default":
        via = ends[f"{side}.gateway" if prefix.version == 4 else f"{side}.gateway6"]
        yield f"route replace {prefix} via {via} dev {interface}"
        return
    via = _link_local(mac)
    yield f"neigh replace {via} lladdr {mac} dev {interface} nud permanent"
    yield f"route replace {prefix} via inet6 {via} dev {interface}"


def _side_of(where: str, gateway: str, links: Mapping[Network, str]) -> str:
    try:
        address = ipaddress.ip_address(gateway)
    except ValueError:
        raise CatalogueError(f"{where}: {gateway!r} is no next hop", f"expected {_WANTED}") from None
    for network, side in links.items():
        if address in network:
            return side
    message = f"{where}: next hop {gateway} is on none of the function's links"
    raise CatalogueError(message, "expected one in a network of addresses or inbound_addresses")


def _network(where: str, text: str) -> Network:
    try:
        return ipaddress.ip_interface(text).network
    except ValueError as error:
        raise CatalogueError(
            f"{where}: {error}", "expected an address with the length of its prefix"
        ) from None


def route(where: str, line: str, words: Sequence[str]) -> tuple[Network, str]:
    if len(words) < 2 or words[2:] not in ([], ["0"]):
        further = len(words) > 2 and words[2].isdecimal()
        what = (
            f"output {words[2]}, and Linux has the chain's two interfaces alone"
            if further
            else f"no route: `{line}`"
        )
        raise CatalogueError(f"{where}: {what}", f"expected {_WANTED}")
    if words[1] != "default" and _MAC.fullmatch(words[1]) is None:
        raise CatalogueError(f"{where}: {words[1]} is no next hop", f"expected {_WANTED}")
    return _prefix(where, words[0]), words[1].lower()


def _prefix(where: str, text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise CatalogueError(f"{where}: {error}", f"expected {_WANTED}") from None


def leads_left(prefix: Network, ends: Ends) -> bool:
    """Whether all of it is at the left end."""
    return any(
        left.version == prefix.version and int(left[0]) <= int(prefix[0]) and int(prefix[-1]) <= int(left[-1])
        for left in map(ipaddress.ip_network, ends.left_prefixes)
    )


def _link_local(mac: str) -> str:
    octets = [int(one, 16) for one in mac.split(":")]
    own = [octets[0] ^ _UNIVERSAL, *octets[1:3], 0xFF, 0xFE, *octets[3:]]
    return str(ipaddress.IPv6Address(bytes([0xFE, 0x80, 0, 0, 0, 0, 0, 0, *own])))
