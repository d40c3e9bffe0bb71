# SPDX-License-Identifier: Apache-2.0
"""Step kind interface: addresses and routes of an interface that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from socket import AF_INET
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import namespace, netlink
from weir.fabric.cloud.switch import userspace
from weir.fabric.cloud.texts import texts
from weir.fabric.links import index
from weir.fabric.offloads import switch_off_offloads
from weir.fabric.site import Facts, Site
from weir.plan import Step


class Interface:
    """One interface, and the loopback beside it."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError where the kernel refuses. Without offloads before a userspace datapath, which would get
        frames with unfinished checksums."""
        params = step.params
        netns, name, mac = str(params["netns"]), str(params["interface"]), str(params["mac"])
        try:
            if mac:
                site.route(netns).link("set", index=index(site, netns, name), address=mac)
            site.route(netns).link("set", index=index(site, netns, name), state="up")
            site.route(netns).link("set", index=index(site, netns, "lo"), state="up")
            address(site, netns, name, texts(params["addresses"]), texts(params["routes"]))
        except NetlinkError as error:
            raise FabricError(f"cannot {step.text}: {error}") from error
        if params["host"] and userspace():
            switch_off_offloads(netns, name)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it goes with its namespace."""


def address(site: Site, netns: str, name: str, addresses: Sequence[str], routes: Sequence[str]) -> None:
    """Gives "10.0.0.2/24" and "default via 10.0.0.1". NetlinkError."""
    route = site.route(netns)
    number = index(site, netns, name)
    for one in addresses:
        own, _, length = one.partition("/")
        route.addr("add", index=number, address=own, prefixlen=int(length))
    for one in routes:
        to, _, gateway = one.partition(" via ")
        route.route("add", dst=to, gateway=gateway, oif=number)


def addresses_of(netns: str, name: str) -> list[str]:
    """IPv4 addresses of an interface, "10.0.0.1"; none if there is no such interface, or namespace."""
    try:
        with netlink.opened(IPRoute, namespace.inside(netns)) as route:
            numbers = route.link_lookup(ifname=name)
            found = [one for number in numbers for one in route.get_addr(family=AF_INET, index=number)]
            return [str(one.get_attr("IFA_ADDRESS")) for one in found]
    except OSError:
        return []
