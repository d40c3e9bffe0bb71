# SPDX-License-Identifier: Apache-2.0
"""Rules of acl and firewall, and five-tuples of dpi, read as native/toolkit/rule_text.c reads them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.catalogue.routes import Network
from weir.catalogue.setup import CatalogueError, Options, lines

_FORM = "permit|deny PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS | TYPES]"
_VERDICTS = ("permit", "deny")
_WITH_PORTS = ("any", "tcp", "udp")
_PORT_MAX, _PROTOCOL_MAX = 65535, 255
ICMP_FAMILIES = {"icmp": 4, "icmpv6": 6}
"""Versions of IP that they are of."""
ICMP_TYPES = {
    "icmp": {
        "echo-reply": 0,
        "destination-unreachable": 3,
        "source-quench": 4,
        "redirect": 5,
        "echo-request": 8,
        "router-advertisement": 9,
        "router-solicitation": 10,
        "time-exceeded": 11,
        "parameter-problem": 12,
    },
    "icmpv6": {
        "destination-unreachable": 1,
        "packet-too-big": 2,
        "time-exceeded": 3,
        "parameter-problem": 4,
        "echo-request": 128,
        "echo-reply": 129,
        "nd-router-solicit": 133,
        "nd-router-advert": 134,
        "nd-neighbor-solicit": 135,
        "nd-neighbor-advert": 136,
        "nd-redirect": 137,
    },
}
"""Those of native/toolkit/rule_text.c, which has nftables' names; numbers of RFC 792, 1256 and 4443."""
Range = tuple[int, int]
"""First and last."""


@dataclass(frozen=True)
class Match:
    """What a rule is about. None: any."""

    where: str
    text: str
    protocol: str
    """any, tcp, udp, icmp, icmpv6, or a number."""
    source: Network | None
    destination: Network | None
    source_ports: Range | None = None
    destination_ports: Range | None = None
    types: str | None = None
    """Of messages of ICMP: a name of `ICMP_TYPES`, a number or a range of numbers."""

    def version(self) -> int | None:
        """Of IP; None: both."""
        found = [one.version for one in (self.source, self.destination) if one is not None]
        return found[0] if found else ICMP_FAMILIES.get(self.protocol)

    def has_ports(self) -> bool:
        """Whether it names some: then any is TCP and UDP."""
        return self.source_ports is not None or self.destination_ports is not None

    def type_range(self) -> Range | None:
        """Numbers of `types`."""
        if self.types is None:
            return None
        named = ICMP_TYPES[self.protocol].get(self.types)
        return (named, named) if named is not None else _range(self.types)

    def refused(self, why: str, expected: str) -> CatalogueError:
        """What is said of a rule that somebody cannot do."""
        return _refused(self.where, self.text, why, expected)


@dataclass(frozen=True)
class Rule:
    """A line."""

    permits: bool
    match: Match


def rules(options: Options, list_key: str | None) -> Iterator[Rule]:
    """Of the list or the file, in their order. CatalogueError for one that cannot be read."""
    if list_key is not None and options.get(list_key) and options.get("rules"):
        raise CatalogueError(f"{list_key} stands beside rules", "expected one of the two")
    for where, line in lines(options, list_key, "rules"):
        words = line.split()
        if len(words) not in (4, 5, 6) or words[0] not in _VERDICTS:
            raise _refused(where, line, "no rule", _FORM)
        yield Rule(words[0] == "permit", match(where, line, words[1:]))


def match(where: str, text: str, words: Sequence[str]) -> Match:
    """PROTOCOL SOURCE DESTINATION, and ports or types; `text`: the whole line. CatalogueError."""
    protocol, source, destination, *last = words
    addresses = [_prefix(where, text, one) for one in (source, destination)]
    families: set[int] = {prefix.version for prefix in addresses if prefix}
    if protocol in ICMP_FAMILIES:
        families.add(ICMP_FAMILIES[protocol])
    if len(families) > 1:
        raise _refused(where, text, "two families", "both addresses, and icmp or icmpv6, of one family")
    ports = [_ports(where, text, one) for one in last] if len(last) > 1 else [None, None]
    _require_protocol(where, text, protocol, with_ports=any(one is not None for one in ports))
    types = last[0] if len(last) == 1 else None
    if types is not None:
        _require_types(where, text, protocol, types)
    return Match(where, text, protocol, addresses[0], addresses[1], ports[0], ports[1], types)


def _refused(where: str, text: str, why: str, expected: str) -> CatalogueError:
    return CatalogueError(f"{where}: {why} in `{text}`", f"expected {expected}")


def _require_types(where: str, text: str, protocol: str, word: str) -> None:
    if protocol not in ICMP_TYPES:
        raise _refused(where, text, "only icmp and icmpv6 have types of messages", "icmp or icmpv6")
    if word not in ICMP_TYPES[protocol] and not _is_range(word, _PROTOCOL_MAX):
        wanted = "a type of message up to 255, a range such as 133-137, or a name such as echo-request"
        raise _refused(where, text, f"{word} is no type", wanted)


def _require_protocol(where: str, text: str, word: str, *, with_ports: bool) -> None:
    if with_ports and word not in _WITH_PORTS:
        raise _refused(where, text, "only tcp and udp have ports", "tcp, udp or any")
    known = word in (*_WITH_PORTS, *ICMP_FAMILIES)
    if not known and not (word.isdecimal() and int(word) <= _PROTOCOL_MAX):
        wanted = "any, tcp, udp, icmp, icmpv6 or a number up to 255"
        raise _refused(where, text, f"{word} is no protocol", wanted)


def _prefix(where: str, text: str, word: str) -> Network | None:
    if word == "any":
        return None
    try:
        return ipaddress.ip_network(word)
    except ValueError as error:
        wanted = "any, an address, or a prefix such as 192.0.2.0/24 or 2001:db8::/32"
        raise _refused(where, text, f"{word} is no address ({error})", wanted) from None


def _ports(where: str, text: str, word: str) -> Range | None:
    if word == "any":
        return None
    if not _is_range(word, _PORT_MAX):
        wanted = "any, a port up to 65535, or a range such as 1024-65535"
        raise _refused(where, text, f"{word} names no ports", wanted)
    return _range(word)


def _is_range(word: str, most: int) -> bool:
    bounds = word.split("-")
    numbers = len(bounds) <= 2 and all(one.isdecimal() and int(one) <= most for one in bounds)
    return numbers and int(bounds[0]) <= int(bounds[-1])


def _range(word: str) -> Range:
    bounds = word.split("-")
    return int(bounds[0]), int(bounds[-1])
