# SPDX-License-Identifier: Apache-2.0
"""Programs in the place of Weir's functions: a line for each, by their names in `weir.lab.counterparts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weir.catalogue import dpdk, fastclick, suricata, vpp
from weir.catalogue.launch import Launch, Place
from weir.catalogue.setup import Options

__all__ = ["Launch", "Place", "launch", "names"]

_Made = Callable[[Options, Place], Launch]
_PROGRAMS: Mapping[tuple[str, str], _Made] = {
    ("testpmd", "l2fwd"): dpdk.testpmd,
    ("dpdk-l2fwd", "l2fwd"): dpdk.l2fwd,
    ("dpdk-l3fwd", "l3fwd"): dpdk.l3fwd,
    ("fastclick", "acl"): fastclick.acl,
    ("fastclick", "l2fwd"): fastclick.l2fwd,
    ("fastclick", "l3fwd"): fastclick.l3fwd,
    ("suricata", "dpi"): suricata.dpi,
    ("vpp", "acl"): vpp.acl,
    ("vpp", "firewall"): vpp.firewall,
    ("vpp", "l3fwd"): vpp.l3fwd,
    ("vpp", "lb"): vpp.lb,
    ("vpp", "nat"): vpp.nat,
}


def launch(counterpart: str, nf: str, options: Options, place: Place) -> Launch:
    """KeyError for a program that does not do that, CatalogueError for options that it cannot be set up
    from."""
    return _PROGRAMS[counterpart, nf](options, place)


def names() -> tuple[tuple[str, str], ...]:
    """The programs, and the functions that they do."""
    return tuple(_PROGRAMS)
