# SPDX-License-Identifier: Apache-2.0
"""DPDK's own programs in the place of functions of Weir's, set up from the options of these.

testpmd and DPDK's example l2fwd as l2fwd, the example l3fwd as l3fwd (DPDK's guides "Testpmd Application User
Guide" and "Sample Applications User Guides"). Port 0 is the left one, port 1 the right one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weir.catalogue.routes import leads_left, route
from weir.catalogue.setup import CatalogueError, Ends, Options, given, lines
from weir.lab.kernel import EAL, FILE_PREFIX, SIDES

_MBUFS = 16384
_ROUTES = "DPDK's l3fwd has one next hop at each side"
_NOT_L3FWD = ("addresses", "inbound_addresses", "mtu_bytes", "inbound_mtu_bytes")
_HALVES = {4: ("0.0.0.0/1", "128.0.0.0/1"), 6: ("::/1", "8000::/1")}
"""In place of a default route: DPDK's tables of longest prefixes have none of length 0."""


@dataclass(frozen=True)
class Launch:
    """How such a program is started."""

    words: tuple[str, ...]
    """Behind its name, with {eal} and {file.NAME} in them."""
    ready: str
    """A line that it prints when it forwards, as a regular expression."""
    main_forwards: bool
    """Its main lcore takes part: it needs no other one."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by name."""


def launch(counterpart: str, options: Options, ends: Ends, cores: Sequence[int]) -> Launch:
    """KeyError for a program that is not known, CatalogueError for options that it cannot be set up from."""
    return _PROGRAMS[counterpart](options, ends, max(1, len(cores)))


def _testpmd(options: Options, ends: Ends, cores: int) -> Launch:
    mode = ["--forward-mode=macswap"]
    if given("l2fwd", options, "mode") != "mac-swap":
        _require_none("testpmd", options, "src_mac", "it writes its port's own address")
        mode = ["--forward-mode=mac", *(f"--eth-peer={at},{mac}" for at, mac in _next_hops(options, ends))]
    # A core has both ports, or one each: more would find nothing to do.
    words = (f"{{{EAL}}}", "--", *mode, f"--nb-cores={min(cores, len(SIDES))}", "--burst=32")
    return Launch(
        (*words, f"--total-num-mbufs={_MBUFS}", "--no-mlockall"),
        ready="Press enter|packet forwarding - ports=2",
        main_forwards=False,
    )


def _l2fwd(options: Options, ends: Ends, cores: int) -> Launch:
    del ends
    if given("l2fwd", options, "mode") != "mac-rewrite":
        raise CatalogueError("DPDK's l2fwd exchanges no addresses", "expected mode: mac-rewrite, or testpmd")
    for key in ("src_mac", "dst_mac"):
        _require_none(
            "DPDK's l2fwd", options, key, "it writes its port's own address, and one that it makes up"
        )
    words = (f"{{{EAL}}}", "--", "-p", "3", "-q", "1" if cores > 1 else "2", "-T", "0")
    return Launch(words, ready="entering main loop", main_forwards=True)


def _l3fwd(options: Options, ends: Ends, cores: int) -> Launch:
    for key in _NOT_L3FWD:
        _require_none("DPDK's l3fwd", options, key, "it has no addresses and looks at no MTU")
    _require_none("DPDK's l3fwd", options, "src_mac", "it writes its port's own address")
    hops = dict(_next_hops(options, ends))
    rules: dict[int, list[str]] = {4: [], 6: []}
    for prefix, at, mac in _routes(options, ends):
        if mac is not None and hops.setdefault(at, mac) != mac:
            raise CatalogueError(f"{_ROUTES}, and {prefix} leads to {mac}, not to {hops[at]}", "expected one")
        version = ipaddress.ip_network(prefix).version
        rules[version].append(f"R{prefix} {at}\n")
    lcore = {0: 0, 1: min(1, cores - 1)}
    config = ",".join(f"({at},0,{lcore[at]})" for at in lcore)
    macs = [f"--eth-dest={at},{mac}" for at, mac in sorted(hops.items())]
    names = [f"--rule_ipv{version}={{{FILE_PREFIX}rules{version}}}" for version in rules]
    words = (f"{{{EAL}}}", "--", "-p", "3", f"--config={config}", "--parse-ptype", "--lookup=lpm")
    return Launch(
        (*words, *macs, *names),
        ready="entering main loop",
        main_forwards=True,
        files={f"rules{version}": "".join(dict.fromkeys(found)) for version, found in rules.items()},
    )


def _routes(options: Options, ends: Ends) -> Iterator[tuple[str, int, str | None]]:
    """Prefix, port and MAC address of the next hop, if it is not the default one.

    Without routes all leads to the other side: to the left what is at the tester's left end.
    """
    yield from ((prefix, 0, None) for prefix in ends.left_prefixes)
    found = False
    for where, line in lines(options, "route_list", "routes"):
        words, found = line.split(), True
        if words[1:2] == ["via"]:
            raise CatalogueError(f"{where}: {_ROUTES}, and resolves none", "expected no `via`")
        prefix, mac = route(where, line, words)
        at = 0 if leads_left(prefix, ends) else 1
        halves = _HALVES[prefix.version] if prefix.prefixlen == 0 else (str(prefix),)
        yield from ((one, at, None if mac == "default" else mac) for one in halves)
    if not found:
        yield from ((prefix, 1, None) for halves in _HALVES.values() for prefix in halves)


def _next_hops(options: Options, ends: Ends) -> Iterator[tuple[int, str]]:
    """By port; `dst_mac` is that of packets on their way out, to the right."""
    yield 0, ends["left.gateway_mac"]
    yield 1, str(options.get("dst_mac", ends["right.gateway_mac"]))


def _require_none(who: str, options: Options, key: str, why: str) -> None:
    if options.get(key):
        raise CatalogueError(f"{who} has no counterpart of {key}: {why}", f"leave {key} out")


_PROGRAMS: Mapping[str, Callable[[Options, Ends, int], Launch]] = {
    "testpmd": _testpmd,
    "dpdk-l2fwd": _l2fwd,
    "dpdk-l3fwd": _l3fwd,
}
