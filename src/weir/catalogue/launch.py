# SPDX-License-Identifier: Apache-2.0
"""How a program is started that does the same as one of Weir's functions, and what several of them ask of its
options."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from weir.catalogue.routes import Network, leads_left, route
from weir.catalogue.setup import CatalogueError, Ends, Options, lines

ADDRESSED = ("addresses", "inbound_addresses", "mtu_bytes", "inbound_mtu_bytes")
"""Options of l3fwd that routers without addresses cannot be set up from."""


@dataclass(frozen=True)
class Place:
    """Where a program stands."""

    ends: Ends
    cores: tuple[int, ...]
    """Its own; none: whichever."""
    sockets: bool = False
    """Its ports are at sockets, {left.socket} and {right.socket}; else interfaces of the kernel."""
    hugepages: bool = True
    """It may take its share of them (`ProgramCounterpart.hugepages_mb`)."""

    def threads(self) -> int:
        """How many of its threads have a core of their own: at least one."""
        return max(1, len(self.cores))


@dataclass(frozen=True)
class Launch:
    """How such a program is started."""

    words: tuple[str, ...]
    """Behind its name, with {eal}, {runtime_directory} and {file.NAME} in them; so have `files`."""
    ready: str
    """A line that it prints when it forwards, as a regular expression; empty: none."""
    socket: str = ""
    """A path that takes connections when it forwards."""
    main_forwards: bool = False
    """Of DPDK's: its main lcore takes part, it needs no other one."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by name."""


def next_hops(options: Options, ends: Ends) -> Iterator[tuple[int, str]]:
    """By port; `dst_mac` is that of packets on their way out, to the right."""
    yield 0, ends["left.gateway_mac"]
    yield 1, str(options.get("dst_mac", ends["right.gateway_mac"]))


def require_none(who: str, options: Options, key: str, why: str) -> None:
    """CatalogueError if the lab says that."""
    if options.get(key):
        raise CatalogueError(f"{who} has no counterpart of {key}: {why}", f"leave {key} out")


def routed(options: Options, ends: Ends, limit: str) -> Iterator[tuple[Network, int, str | None]]:
    """Prefix, port and MAC address of the next hop, if it is not the default one; of l3fwd.

    Without routes all leads to the other side: to the left what is at the tester's left end, unless the lab
    has a route of that very prefix. CatalogueError for a route whose next hop is to be resolved; `limit`:
    what the program has.
    """
    found: list[tuple[Network, int, str | None]] = []
    for where, line in lines(options, "route_list", "routes"):
        words = line.split()
        if words[1:2] == ["via"]:
            raise CatalogueError(f"{where}: {limit}, and resolves none", "expected no `via`")
        prefix, mac = route(where, line, words)
        at = 0 if leads_left(prefix, ends) else 1
        found.append((prefix, at, None if mac == "default" else mac))
    own = {prefix for prefix, _, _ in found}
    yield from ((left, 0, None) for left in map(ipaddress.ip_network, ends.left_prefixes) if left not in own)
    yield from found or ((ipaddress.ip_network(every), 1, None) for every in ("0.0.0.0/0", "::/0"))
