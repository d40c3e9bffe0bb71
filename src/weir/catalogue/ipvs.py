# SPDX-License-Identifier: Apache-2.0
"""lb by Linux's IP Virtual Server: Maglev's hash of the client's endpoint, masquerading (ipvsadm(8)).

A service's address is the namespace's own, so that its packets reach IPVS, which stands where Linux receives.
What is the address's and no service's ends there too, and is dropped instead of answered.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.catalogue.balancer import Service, backend_routes, services_of
from weir.catalogue.setup import (
    IP_BATCH,
    NFT,
    Ends,
    Options,
    Setup,
    given,
    table,
    without_ipv6,
)
from weir.lab.counterparts import IPVS_ARRIVED, IPVS_TABLE

_LETTERS = {"tcp": "-t", "udp": "-u"}
_RESTORE = ("sh", "-c", 'exec ipvsadm --restore < "$0"')
_BEFORE_IPVS, _BEHIND_IPVS = 90, 110
"""Its hooks are just below 100 (net/netfilter/ipvs/ip_vs_core.c): before source NAT."""


def ipvs(options: Options, ends: Ends) -> Setup:
    """Clients are at the left, back-ends at the right, behind the next hop there."""
    services = services_of(options)
    addresses = dict.fromkeys(address for address, _, _ in services)
    local = "".join(f"address replace {one}/32 dev lo\n" for one in addresses)
    rules = []
    for address, port, protocol in services:
        service = f"{_LETTERS[protocol]} {address}:{port}"
        rules.append(f"-A {service} -s mh -b mh-port")
        for backend, own in services[address, port, protocol]:
            rules.append(f"-a {service} -r {backend}:{own} -m -w 1")
    times = [str(given("lb", options, f"{one}_timeout_s")) for one in ("tcp", "fin", "udp")]
    tables = _arrived(list(services), ends) + table("ip", "lb", [*_refused(list(services), options, ends)])
    if given("lb", options, "ipv6") == "drop":
        tables += without_ipv6("lb")
    return Setup(
        (
            (IP_BATCH, f"link set dev lo up\n{local}{backend_routes(services, ends)}"),
            (NFT, tables),
            (_RESTORE, "".join(f"{line}\n" for line in rules)),
            (("ipvsadm", "--set", *times), None),
        ),
        # TCP begins with any segment, as in lb: IPVS would leave all others to Linux.
        {"net.ipv4.vs.conntrack": "0", "net.ipv4.vs.sloppy_tcp": "1"},
    )


def _set(services: list[Service]) -> str:
    return "{ " + ", ".join(f"{address} . {protocol} . {port}" for address, port, protocol in services) + " }"


def _arrived(services: list[Service], ends: Ends) -> str:
    """What IPVS is asked about: less what it counts as taken, it has refused."""
    matched = f"ip daddr . meta l4proto . th dport {_set(services)}"
    return "\n".join(
        [
            f"table ip {IPVS_TABLE} {{",
            f"  counter {IPVS_ARRIVED} {{ }}",
            "  chain input {",
            f"    type filter hook input priority {_BEFORE_IPVS}; policy accept;",
            f'    iifname "{ends["left.name"]}" {matched} counter name {IPVS_ARRIVED}',
            "  }",
            "}",
            "",
        ]
    )


def _refused(services: list[Service], options: Options, ends: Ends) -> Iterator[str]:
    """What is no service's: at its address always, elsewhere if the options say so. A service's own packets,
    of which IPVS has refused those that come so far, are counted by what it has taken."""
    yield from ("counter other { }", "chain input {")
    yield f"  type filter hook input priority {_BEHIND_IPVS}; policy accept;"
    addresses = ", ".join(dict.fromkeys(address for address, _, _ in services))
    at_left = f'  iifname "{ends["left.name"]}"'
    yield f"{at_left} ip daddr . meta l4proto . th dport {_set(services)} drop"
    yield from (f"{at_left} ip daddr {{ {addresses} }} counter name other drop", "}")
    if given("lb", options, "other") == "drop":
        yield "chain forward {"
        yield f"  type filter hook forward priority {_BEHIND_IPVS}; policy accept;"
        yield f"  ip saddr . meta l4proto . th sport {_set(services)} accept"
        yield from ("  counter name other drop", "}")
