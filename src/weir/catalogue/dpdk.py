# SPDX-License-Identifier: Apache-2.0
"""DPDK's own programs in the place of functions of Weir's, set up from the options of these.

testpmd and DPDK's example l2fwd as l2fwd, the example l3fwd as l3fwd (DPDK's guides "Testpmd Application User
Guide" and "Sample Applications User Guides"). Port 0 is the left one, port 1 the right one.
"""

from __future__ import annotations

from weir.catalogue.launch import ADDRESSED, Launch, Place, next_hops, require_none, routed
from weir.catalogue.setup import CatalogueError, Options, given
from weir.lab.kernel import EAL, FILE_PREFIX, SIDES

_MBUFS = 16384
_ROUTES = "DPDK's l3fwd has one next hop at each side"
HALVES = {4: ("0.0.0.0/1", "128.0.0.0/1"), 6: ("::/1", "8000::/1")}
"""In place of a default route: DPDK's tables of longest prefixes have none of length 0."""


def testpmd(options: Options, place: Place) -> Launch:
    """As l2fwd, in both its modes."""
    mode = ["--forward-mode=macswap"]
    if given("l2fwd", options, "mode") != "mac-swap":
        require_none("testpmd", options, "src_mac", "it writes its port's own address")
        mode = [
            "--forward-mode=mac",
            *(f"--eth-peer={at},{mac}" for at, mac in next_hops(options, place.ends)),
        ]
    # A core has both ports, or one each: more would find nothing to do.
    words = (f"{{{EAL}}}", "--", *mode, f"--nb-cores={min(place.threads(), len(SIDES))}", "--burst=32")
    return Launch(
        (*words, f"--total-num-mbufs={_MBUFS}", "--no-mlockall"),
        ready="Press enter|packet forwarding - ports=2",
        main_forwards=False,
    )


def l2fwd(options: Options, place: Place) -> Launch:
    """As l2fwd."""
    if given("l2fwd", options, "mode") != "mac-rewrite":
        raise CatalogueError("DPDK's l2fwd exchanges no addresses", "expected mode: mac-rewrite, or testpmd")
    for key in ("src_mac", "dst_mac"):
        require_none(
            "DPDK's l2fwd", options, key, "it writes its port's own address, and one that it makes up"
        )
    words = (f"{{{EAL}}}", "--", "-p", "3", "-q", "1" if place.threads() > 1 else "2", "-T", "0")
    return Launch(words, ready="entering main loop", main_forwards=True)


def l3fwd(options: Options, place: Place) -> Launch:
    """As l3fwd."""
    ends = place.ends
    for key in ADDRESSED:
        require_none("DPDK's l3fwd", options, key, "it has no addresses and looks at no MTU")
    require_none("DPDK's l3fwd", options, "src_mac", "it writes its port's own address")
    hops = dict(next_hops(options, ends))
    rules: dict[int, list[str]] = {4: [], 6: []}
    for prefix, at, mac in routed(options, ends, _ROUTES):
        if mac is not None and hops.setdefault(at, mac) != mac:
            raise CatalogueError(f"{_ROUTES}, and {prefix} leads to {mac}, not to {hops[at]}", "expected one")
        halves = HALVES[prefix.version] if prefix.prefixlen == 0 else (str(prefix),)
        rules[prefix.version] += [f"R{one} {at}\n" for one in halves]
    lcore = {0: 0, 1: min(1, place.threads() - 1)}
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
