# SPDX-License-Identifier: Apache-2.0
"""Step kind macvlan: a device of Weir's own on an interface of this host, which stays as it is."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import namespace, netlink
from weir.fabric.links import index
from weir.fabric.site import Facts, Site
from weir.plan import Step

_UP = 0x1  # IFF_UP of <linux/if.h>


class Macvlan:
    """With a MAC address of its own, in a namespace of the deployment's, with which it goes. What comes to
    that address is its alone; the interface's other traffic is not touched."""

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Whether there is such an interface, and it is up."""
        below = str(params["below"])
        with netlink.opened(IPRoute) as here:
            found = here.get_links(ifname=below) if here.link_lookup(ifname=below) else ()
        if not found:
            return f"this host has no interface {below}"
        up = found[0]["flags"] & _UP
        return None if up else f"interface {below} is down: `ip link set {below} up` brings it up"

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, up. FabricError where the interface is gone, down, or takes no such device."""
        params = {key: str(value) for key, value in step.params.items()}
        why = self.lacking(params)
        if why is not None:
            raise FabricError(f"cannot {step.text}: {why}")
        netns, name = params["netns"], params["interface"]
        fd = os.open(namespace.DIRECTORY / netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with netlink.opened(IPRoute) as here:
                (below,) = here.link_lookup(ifname=params["below"])
                here.link(
                    "add",
                    ifname=name,
                    kind="macvlan",
                    link=below,
                    macvlan_mode="bridge",
                    address=params["mac"],
                    net_ns_fd=fd,
                )
            site.route(netns).link("set", index=index(site, netns, name), state="up")
        except NetlinkError as error:
            fix = "load the kernel's module macvlan" if error.code == errno.EOPNOTSUPP else "see dmesg"
            raise FabricError(f"cannot {step.text}: {error}", fix) from error
        finally:
            os.close(fd)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it goes with its namespace."""
