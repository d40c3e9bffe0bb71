# SPDX-License-Identifier: Apache-2.0
"""What does the same as one of Weir's functions, set up from that function's own options.

`kind: kernel` with `nf: firewall` is Linux as a firewall with the rules, time-outs and defaults that the lab
has for Weir's: one word of a variant compares like with like. A file here for each, and a line below.

Pure: nothing is run or made. What an option names, such as a file of rules, is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weir.catalogue.balancer import balancer
from weir.catalogue.nat import nat
from weir.catalogue.rewrite import rewrite
from weir.catalogue.routes import routes
from weir.catalogue.rules import acl, firewall
from weir.catalogue.setup import CONNECTION_TRACKING, CatalogueError, Ends, Options, Setup
from weir.catalogue.shaper import shaper

__all__ = ["CONNECTION_TRACKING", "CatalogueError", "Ends", "Options", "Setup", "linux"]

_LINUX: Mapping[str, Callable[[Options, Ends], Setup]] = {
    "acl": acl,
    "firewall": firewall,
    "l2fwd": rewrite,
    "l3fwd": routes,
    "lb": balancer,
    "nat": nat,
    "shaper": shaper,
}


def linux(nf: str, options: Options, ends: Ends) -> Setup:
    """Linux as `nf`. KeyError for what it has no counterpart of, CatalogueError for options that it cannot be
    set up from."""
    return _LINUX[nf](options, ends)


def names() -> tuple[str, ...]:
    """The functions that Linux has a counterpart of."""
    return tuple(_LINUX)
