# SPDX-License-Identifier: Apache-2.0
"""acl and firewall by nftables: a rule a line, in the same order; the firewall with connection tracking.

Unlike Weir's, which forward frames as they are, Linux routes what they let through.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.catalogue.rule_text import ICMP_FAMILIES, Match, Rule, rules
from weir.catalogue.setup import (
    CONNECTION_TRACKING,
    NAPT_TIMEOUTS,
    NFT,
    Ends,
    Options,
    Setup,
    given,
    table,
    timeouts,
)

_VERDICTS = {"permit": "accept", "deny": "counter name denied drop"}
_COUNTERS = ["counter denied { }", "counter ipv6 { }"]
_DIRECTIONS = {"outbound": "right", "inbound": "left"}
"""The interface that what a direction's rules do not ask comes in by."""


def acl(options: Options, ends: Ends) -> Setup:
    """Without connection tracking: each packet is asked about."""
    body = [*_COUNTERS, *_chain()]
    direction = str(given("acl", options, "direction"))
    if direction in _DIRECTIONS:
        body.append(f'  iifname "{ends[_DIRECTIONS[direction] + ".name"]}" accept')
    body += [*_not_ipv4("acl", options), *_ruled("acl", options, "rule_list"), "}"]
    return Setup(((NFT, table("inet", "acl", body, ends.number)),))


def firewall(options: Options, ends: Ends) -> Setup:
    """With connection tracking's sessions; what belongs to none and begins none is `no_session`."""
    body = [*_COUNTERS, "counter no_session { }", *_chain()]
    body += [*_not_ipv4("firewall", options)]
    body += ["  ct state established,related accept", "  ct state invalid counter name no_session drop"]
    body += [*_ruled("firewall", options, None), "}"]
    # TCP begins with a SYN alone, or with any segment.
    begins = "0" if given("firewall", options, "tcp_syn_first") else "1"
    settings = timeouts("firewall", options, {**NAPT_TIMEOUTS, "generic_timeout": "other_timeout_s"})
    settings[f"{CONNECTION_TRACKING}tcp_loose"] = begins
    return Setup(((NFT, table("inet", "firewall", body, ends.number)),), settings)


def _chain() -> list[str]:
    return ["chain forward {", "  type filter hook forward priority filter; policy accept;"]


def _not_ipv4(nf: str, options: Options) -> list[str]:
    """Linux routes IP alone: of frames that are not IPv4 only IPv6 comes so far, and of that no neighbor
    discovery."""
    said = str(given(nf, options, "ipv6"))
    if said == "rules":
        return []
    verdict = str(given(nf, options, "not_ipv4")) if said == "not_ipv4" else said
    return ["  meta nfproto ipv6 " + ("accept" if verdict == "forward" else "counter name ipv6 drop")]


def _ruled(nf: str, options: Options, list_key: str | None) -> Iterator[str]:
    for rule in rules(options, list_key):
        yield f"  {_nft(rule)}"
    yield f"  {_VERDICTS[str(given(nf, options, 'default'))]}"


_IP = {4: "ip", 6: "ip6"}


def _nft(rule: Rule) -> str:
    """In nftables' words."""
    match = rule.match
    found = [*_protocol(match)]
    addresses = (("saddr", match.source), ("daddr", match.destination))
    found += [f"{_IP[prefix.version]} {name} {prefix}" for name, prefix in addresses if prefix]
    if match.types is not None:
        found.append(f"{match.protocol} type {match.types}")
    for name, ports in (("sport", match.source_ports), ("dport", match.destination_ports)):
        if ports is not None:
            found.append(f"th {name} {ports[0]}" + (f"-{ports[1]}" if ports[1] > ports[0] else ""))
    return " ".join([*found, _VERDICTS["permit" if rule.permits else "deny"]])


def _protocol(match: Match) -> list[str]:
    if match.protocol == "any":
        return ["meta l4proto { tcp, udp }"] if match.has_ports() else []
    family = ICMP_FAMILIES.get(match.protocol)
    of_family = [f"meta nfproto ipv{family}"] if family is not None else []
    return [" ".join([*of_family, f"meta l4proto {match.protocol}"])]
