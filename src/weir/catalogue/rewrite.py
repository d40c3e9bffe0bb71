# SPDX-License-Identifier: Apache-2.0
"""l2fwd by nftables, where a frame comes in: new MAC addresses, and out by the other interface."""

from __future__ import annotations

from weir.catalogue.setup import NFT, CatalogueError, Ends, Options, Setup, given, table


def rewrite(options: Options, ends: Ends) -> Setup:
    """Of both directions. CatalogueError for mac-swap, which takes more than nftables has."""
    if given("l2fwd", options, "mode") != "mac-rewrite":
        raise CatalogueError("Linux has no counterpart of l2fwd's mac-swap", "expected mode: mac-rewrite")
    body = []
    for side, other in (("left", "right"), ("right", "left")):
        src, dst = addresses_of(side, options, ends)
        body += [
            f"chain {side} {{",
            f'  type filter hook ingress device "{ends[f"{side}.name"]}" priority filter; policy accept;',
            f'  ether saddr set {src} ether daddr set {dst} fwd to "{ends[f"{other}.name"]}"',
            "}",
        ]
    return Setup(((NFT, table("netdev", "l2fwd", body)),))


def addresses_of(side: str, options: Options, ends: Ends) -> tuple[str, str]:
    """MAC addresses of what comes in at that side and leaves by the other one: source, destination."""
    other, outbound = ("right", True) if side == "left" else ("left", False)
    src = str(options["src_mac"]) if outbound and "src_mac" in options else ends[f"{other}.mac"]
    dst = str(options["dst_mac"]) if outbound and "dst_mac" in options else ends[f"{other}.gateway_mac"]
    return src, dst
