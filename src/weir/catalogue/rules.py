# SPDX-License-Identifier: Apache-2.0
"""acl and firewall by nftables: a rule a line, in the same order; the firewall with connection tracking.

Unlike Weir's, which forward frames as they are, Linux routes what they let through.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from weir.catalogue.setup import (
    CONNECTION_TRACKING,
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
)

_FORM = "permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS | TYPES]"
_VERDICTS = {"permit": "accept", "deny": "counter name denied drop"}
_WITH_PORTS = ("any", "tcp", "udp")
_PORT_MAX, _PROTOCOL_MAX = 65535, 255
_ICMP = {"icmp": "ipv4", "icmpv6": "ipv6"}
"""And the family that it is of."""
_TYPES = {
    "icmp": {
        "echo-reply",
        "destination-unreachable",
        "source-quench",
        "redirect",
        "echo-request",
        "router-advertisement",
        "router-solicitation",
        "time-exceeded",
        "parameter-problem",
    },
    "icmpv6": {
        "destination-unreachable",
        "packet-too-big",
        "time-exceeded",
        "parameter-problem",
        "echo-request",
        "echo-reply",
        "nd-router-solicit",
        "nd-router-advert",
        "nd-neighbor-solicit",
        "nd-neighbor-advert",
        "nd-redirect",
    },
}
"""Those of native/toolkit/rule_text.c, which has nftables' names."""
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
    return Setup(((NFT, table("inet", "acl", body)),))


def firewall(options: Options, ends: Ends) -> Setup:  # noqa: ARG001
    """With connection tracking's sessions; what belongs to none and begins none is `no_session`."""
    body = [*_COUNTERS, "counter no_session { }", *_chain()]
    body += [*_not_ipv4("firewall", options)]
    body += ["  ct state established,related accept", "  ct state invalid counter name no_session drop"]
    body += [*_ruled("firewall", options, None), "}"]
    # TCP begins with a SYN alone, or with any segment.
    begins = "0" if given("firewall", options, "tcp_syn_first") else "1"
    settings = timeouts("firewall", options, {**NAPT_TIMEOUTS, "generic_timeout": "other_timeout_s"})
    settings[f"{CONNECTION_TRACKING}tcp_loose"] = begins
    return Setup(((NFT, table("inet", "firewall", body)),), settings)


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
    if list_key is not None and options.get(list_key) and options.get("rules"):
        raise CatalogueError(f"{list_key} stands beside rules", "expected one of the two")
    for where, line in lines(options, list_key, "rules"):
        yield f"  {_nft(where, line)}"
    yield f"  {_VERDICTS[str(given(nf, options, 'default'))]}"


@dataclass(frozen=True)
class _Line:
    where: str
    text: str

    def refused(self, why: str, expected: str) -> CatalogueError:
        return CatalogueError(f"{self.where}: {why} in `{self.text}`", f"expected {expected}")


def _nft(where: str, text: str) -> str:
    """One rule in nftables' words."""
    line, words = _Line(where, text), text.split()
    if len(words) not in (4, 5, 6) or words[0] not in _VERDICTS:
        raise line.refused("no rule", _FORM)
    verdict, protocol, source, destination, *last = words
    addresses = [("saddr", _prefix(line, source)), ("daddr", _prefix(line, destination))]
    families = {f"ipv{prefix.version}" for _, prefix in addresses if prefix}
    if protocol in _ICMP:
        families.add(_ICMP[protocol])
    if len(families) > 1:
        raise line.refused("two families", "both addresses, and icmp or icmpv6, of one family")
    with_ports = any(one != "any" for one in last) and len(last) > 1
    matches = [*_protocol(line, protocol, with_ports=with_ports)]
    matches += [f"{_IP[prefix.version]} {name} {prefix}" for name, prefix in addresses if prefix]
    if len(last) == 1:
        matches += _types(line, protocol, last[0])
    for name, word in zip(("sport", "dport"), last if len(last) > 1 else (), strict=False):
        matches += _ports(line, name, word)
    return " ".join([*matches, _VERDICTS[verdict]])


_IP = {4: "ip", 6: "ip6"}


def _types(line: _Line, protocol: str, word: str) -> list[str]:
    if protocol not in _ICMP:
        raise line.refused("only icmp and icmpv6 have types of messages", "icmp or icmpv6")
    first, hyphen, last = word.partition("-")
    bounds = [first, last] if hyphen else [first]
    numbers = all(one.isdecimal() and int(one) <= _PROTOCOL_MAX for one in bounds)
    if word not in _TYPES[protocol] and not (numbers and int(bounds[0]) <= int(bounds[-1])):
        wanted = "a type of message up to 255, a range such as 133-137, or a name such as echo-request"
        raise line.refused(f"{word} is no type", wanted)
    return [f"{protocol} type {word}"]


def _protocol(line: _Line, word: str, *, with_ports: bool) -> list[str]:
    if with_ports and word not in _WITH_PORTS:
        raise line.refused("only tcp and udp have ports", "tcp, udp or any")
    if word == "any":
        return ["meta l4proto { tcp, udp }"] if with_ports else []
    if word in _ICMP:
        return [f"meta nfproto {_ICMP[word]} meta l4proto {word}"]
    if word not in ("tcp", "udp") and not (word.isdecimal() and int(word) <= _PROTOCOL_MAX):
        raise line.refused(f"{word} is no protocol", "any, tcp, udp, icmp, icmpv6 or a number up to 255")
    return [f"meta l4proto {word}"]


def _prefix(line: _Line, word: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """None: any."""
    if word == "any":
        return None
    try:
        return ipaddress.ip_network(word)
    except ValueError as error:
        wanted = "any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32"
        raise line.refused(f"{word} is no address ({error})", wanted) from None


def _ports(line: _Line, name: str, word: str) -> list[str]:
    if word == "any":
        return []
    first, hyphen, last = word.partition("-")
    bounds = [first, last] if hyphen else [first]
    if not all(one.isdecimal() and int(one) <= _PORT_MAX for one in bounds) or int(bounds[0]) > int(
        bounds[-1]
    ):
        wanted = "any, a port up to 65535, or a range such as 1024-65535"
        raise line.refused(f"{word} names no ports", wanted)
    return [f"th {name} {word}"]
