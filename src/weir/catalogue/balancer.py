# SPDX-License-Identifier: Apache-2.0
"""lb by nftables: a hash of the client's endpoint chooses the back-end, connection tracking remembers it.

The hash is a remainder, not Maglev's table: with a back-end more or less most new connections go elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from weir.catalogue.setup import (
    IP_BATCH,
    NFT,
    CatalogueError,
    Ends,
    Options,
    Setup,
    given,
    lines,
    table,
    tcp_timeouts,
    timeouts,
    without_ipv6,
)

_ENTRY = re.compile(r"([0-9.]+):([0-9]+)/(tcp|udp)\s+([0-9.]+):([0-9]+)")
Service = tuple[str, str, str]
Backends = dict[Service, list[tuple[str, str]]]
_TIMEOUTS = {
    **tcp_timeouts("syn_timeout_s", "tcp_timeout_s", "fin_timeout_s"),
    "udp_timeout": "udp_timeout_s",
    "udp_timeout_stream": "udp_timeout_s",
}


def balancer(options: Options, ends: Ends) -> Setup:
    """Clients are at the left, back-ends at the right, behind the next hop there."""
    services = services_of(options)
    body = ["counter other { }", "chain prerouting {"]
    body.append("  type nat hook prerouting priority dstnat; policy accept;")
    body += [f'  iifname "{ends["left.name"]}" {_rule(one, found)}' for one, found in services.items()]
    body.append("}")
    if given("lb", options, "other") == "drop":
        body += ["chain forward {", "  type filter hook forward priority filter; policy accept;"]
        body += ["  ct status dnat accept", "  counter name other drop", "}"]
    text = table("ip", "lb", body) + (without_ipv6("lb") if given("lb", options, "ipv6") == "drop" else "")
    programs = ((NFT, text), (IP_BATCH, backend_routes(services, ends)))
    return Setup(programs, timeouts("lb", options, _TIMEOUTS))


def services_of(options: Options) -> Backends:
    """Back-ends by service, in the lab's order. CatalogueError for an entry that names none."""
    found: Backends = {}
    for where, entry in lines(options, "services", "services_file", commas=True):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            wanted = 'expected "VIP:port/protocol BACKEND:port"'
            raise CatalogueError(f"{where}: no back-end of a service: `{entry}`", wanted)
        address, port, protocol, backend, backend_port = match.groups()
        found.setdefault((address, port, protocol), []).append((backend, backend_port))
    return found


def _rule(service: Service, backends: list[tuple[str, str]]) -> str:
    address, port, protocol = service
    places = ", ".join(f"{number} : {one} . {own}" for number, (one, own) in enumerate(backends))
    chosen = f"jhash ip saddr . {protocol} sport mod {len(backends)} map {{ {places} }}"
    if len(backends) == 1:
        chosen = ":".join(backends[0])
        return f"ip daddr {address} {protocol} dport {port} dnat to {chosen}"
    return f"ip daddr {address} {protocol} dport {port} dnat ip addr . port to {chosen}"


def backend_routes(services: Mapping[Service, list[tuple[str, str]]], ends: Ends) -> str:
    """Commands of `ip`: back-ends are behind the next hop at the right."""
    places = dict.fromkeys(backend for found in services.values() for backend, _ in found)
    via = f"via {ends['right.gateway']} dev {ends['right.name']}"
    return "".join(f"route replace {one}/32 {via}\n" for one in places)
