# SPDX-License-Identifier: Apache-2.0
"""l3fwd by Linux's routes: a route a line, each to its own next hop.

A next hop is a MAC address in l3fwd, and an IP address in Linux: each gets a link-local one of its own (RFC
4291, appendix A) with a static neighbour, by which IPv4 is routed, too (RFC 5549). What leads to the tester's
left end leaves at the left, all else at the right, which l3fwd does by the direction that packets come from.
"""

from __future__ import annotations

import ipaddress
import re

from weir.catalogue.balancer import IP_BATCH
from weir.catalogue.setup import CatalogueError, Ends, Options, Setup, lines

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
_UNIVERSAL = 0x02
_WITHOUT_OUTPUT, _WITH_OUTPUT = 2, 3


def routes(options: Options, ends: Ends) -> Setup:
    """Without routes the namespace's own ones to the tester's two ends do."""
    found: dict[str, None] = {}
    for where, line in lines(options, "route_list", "routes"):
        prefix, mac = _route(where, line)
        side = "left" if _leads_left(prefix, ends) else "right"
        interface = ends[f"{side}.name"]
        if mac == "default":
            via = ends[f"{side}.gateway" if prefix.version == 4 else f"{side}.gateway6"]
        else:
            via = _link_local(mac)
            found[f"neigh replace {via} lladdr {mac} dev {interface} nud permanent"] = None
        family = "inet6 " if ":" in via else ""
        found[f"route replace {prefix} via {family}{via} dev {interface}"] = None
    if not found:
        return Setup()
    return Setup(((IP_BATCH, "".join(f"{line}\n" for line in sorted(found, key=_neighbours_first))),))


def _neighbours_first(line: str) -> bool:
    return line.startswith("route")


def _route(where: str, line: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str]:
    words = line.split()
    wanted = "a prefix, the MAC address of a next hop or `default`, and the output 0 or none"
    if len(words) not in (_WITHOUT_OUTPUT, _WITH_OUTPUT):
        raise CatalogueError(f"{where}: no route: `{line}`", f"expected {wanted}")
    if words[2:] not in ([], ["0"]):
        message = f"{where}: output {words[2]}, and Linux has the two interfaces of the chain alone"
        raise CatalogueError(message, f"expected {wanted}")
    if words[1] != "default" and _MAC.fullmatch(words[1]) is None:
        raise CatalogueError(f"{where}: {words[1]} is no next hop", f"expected {wanted}")
    try:
        return ipaddress.ip_network(words[0]), words[1].lower()
    except ValueError as error:
        raise CatalogueError(f"{where}: {error}", f"expected {wanted}") from None


def _leads_left(prefix: ipaddress.IPv4Network | ipaddress.IPv6Network, ends: Ends) -> bool:
    """Whether all of it is at the left end."""
    return any(
        left.version == prefix.version and int(left[0]) <= int(prefix[0]) and int(prefix[-1]) <= int(left[-1])
        for left in map(ipaddress.ip_network, ends.left_prefixes)
    )


def _link_local(mac: str) -> str:
    octets = [int(one, 16) for one in mac.split(":")]
    own = [octets[0] ^ _UNIVERSAL, *octets[1:3], 0xFF, 0xFE, *octets[3:]]
    return str(ipaddress.IPv6Address(bytes([0xFE, 0x80, 0, 0, 0, 0, 0, 0, *own])))
