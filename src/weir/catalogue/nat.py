# SPDX-License-Identifier: Apache-2.0
"""nat by nftables: source translation of what leaves by the right interface.

Linux's mappings and filters are address-and-port-dependent (RFC 4787, sections 4.1 and 5), whatever
`filtering` says; it keeps an inside port while no other connection to the same place has it.
"""

from __future__ import annotations

import ipaddress

from weir.catalogue.setup import (
    IP_BATCH,
    NAPT_TIMEOUTS,
    NFT,
    CatalogueError,
    Ends,
    Options,
    Setup,
    given,
    lines,
    table,
    timeouts,
    without_ipv6,
)

_FORWARD_WORDS = 3


def nat(options: Options, ends: Ends) -> Setup:
    """What comes from the right and has no mapping is dropped, as `no_mapping`: what comes to an external
    address, too, to which a route leads for that."""
    if options.get("addresses"):
        what = "Linux's nat has no counterpart of addresses: it maps none one to one"
        raise CatalogueError(what, "leave addresses out")
    inside, outside = ends["left.name"], ends["right.name"]
    to = _range(str(options["external"]))
    ports = f"{given('nat', options, 'port_min')}-{given('nat', options, 'port_max')}"
    untranslated = str(options.get("untranslated") or "")
    body = [
        "counter no_mapping { }",
        "chain prerouting {",
        "  type nat hook prerouting priority dstnat; policy accept;",
        *(f'  iifname "{outside}" {one}' for one in _forwards(options)),
        "}",
        "chain postrouting {",
        "  type nat hook postrouting priority srcnat; policy accept;",
        f'  oifname != "{outside}" accept',
        *([f"  ip daddr {{ {untranslated} }} accept"] if untranslated else []),
        f"  meta l4proto {{ tcp, udp }} snat to {to}:{ports} persistent",
        f"  snat to {to} persistent",
        "}",
        "chain forward {",
        "  type filter hook forward priority filter; policy accept;",
        f'  iifname "{inside}" oifname "{outside}" accept',
        "  ct status dnat accept",
        *([f"  ip saddr {{ {untranslated} }} accept"] if untranslated else []),
        "  ct state new,invalid counter name no_mapping drop",
        "}",
    ]
    text = table("ip", "nat", body) + (without_ipv6("nat") if given("nat", options, "ipv6") == "drop" else "")
    # Without a route what comes to an external address would be lost before any rule is asked.
    route = f"route replace {options['external']} via {ends['left.gateway']} dev {inside}\n"
    return Setup(((NFT, text), (IP_BATCH, route)), timeouts("nat", options, NAPT_TIMEOUTS))


def _range(prefix: str) -> str:
    try:
        network = ipaddress.IPv4Network(prefix)
    except ValueError as error:
        raise CatalogueError(f"external: {error}", "expected an IPv4 address or prefix") from None
    first, last = network[0], network[-1]
    return str(first) if first == last else f"{first}-{last}"


def _forwards(options: Options) -> list[str]:
    found = []
    for where, entry in lines(options, "forwards", None):
        words = entry.split()
        ends = [one.rpartition(":") for one in words[1:]]
        if len(words) != _FORWARD_WORDS or words[0] not in ("tcp", "udp") or not all(end[1] for end in ends):
            wanted = (
                "tcp or udp, an external and an inside endpoint, such as tcp 203.0.113.1:80 10.0.0.5:8080"
            )
            raise CatalogueError(f"{where}: no static mapping: `{entry}`", f"expected {wanted}")
        (address, _, port), (_, _, _) = ends
        found.append(f"ip daddr {address} {words[0]} dport {port} dnat to {words[2]}")
    return found
