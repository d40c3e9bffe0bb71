# SPDX-License-Identifier: Apache-2.0
"""What does the same as one of Weir's functions, set up from that function's own options.

`kind: kernel` with `nf: firewall` is Linux as a firewall with the rules, time-outs and defaults that the lab
has for Weir's: one word of a variant compares like with like. A file here for each, and a line below.

Pure: nothing is run or made. What an option names, such as a file of rules, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weir.catalogue.balancer import balancer
from weir.catalogue.ipvs import ipvs
from weir.catalogue.nat import nat
from weir.catalogue.rewrite import rewrite
from weir.catalogue.routes import routes
from weir.catalogue.rules import acl, firewall
from weir.catalogue.setup import CONNECTION_TRACKING, CatalogueError, Ends, Options, Setup, XdpProgram
from weir.catalogue.shaper import shaper
from weir.catalogue.xdp import xdp_rewrite, xdp_routes

__all__ = ["CONNECTION_TRACKING", "CatalogueError", "Ends", "Options", "Setup", "XdpProgram", "linux"]

_LINUX: Mapping[str, Callable[[Options, Ends], Setup]] = {
    "acl": acl,
    "firewall": firewall,
    "l2fwd": rewrite,
    "l3fwd": routes,
    "lb": balancer,
    "nat": nat,
    "shaper": shaper,
}
BY_OTHER_WAYS: Mapping[tuple[str, str | None], Callable[[Options, Ends], Setup]] = {
    ("lb", "ipvs"): ipvs,
    ("l2fwd", "xdp"): xdp_rewrite,
    ("l3fwd", "xdp"): xdp_routes,
}


def linux(nf: str, options: Options, ends: Ends, by: str | None = None) -> Setup:
    """Linux as `nf`; `by`: one of `weir.lab.counterparts.OTHER_WAYS`, where it does that. KeyError for
    what it has no counterpart of, CatalogueError for options that it cannot be set up from."""
    return (BY_OTHER_WAYS.get((nf, by)) or _LINUX[nf])(options, ends)


def names() -> tuple[str, ...]:
    """The functions that Linux has a counterpart of."""
    return tuple(_LINUX)
