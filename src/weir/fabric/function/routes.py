# SPDX-License-Identifier: Apache-2.0
"""Step kind static-routes: routes of a namespace, and neighbours that are never asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric.links import index
from weir.fabric.site import Facts, Site
from weir.plan import Step

_PERMANENT = "permanent"


class StaticRoutes:
    """Neighbours "GATEWAY lladdr MAC dev INTERFACE", routes "PREFIX via GATEWAY dev INTERFACE"."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes them; FabricError says which one the kernel refuses."""
        netns = str(step.params["netns"])
        route = site.route(netns)
        neighbours, routes = step.params["neighbours"], step.params["routes"]
        assert isinstance(neighbours, list)
        assert isinstance(routes, list)
        for line in map(str, neighbours):
            gateway, _, mac, _, interface = line.split()
            number = index(site, netns, interface)
            try:
                route.neigh("replace", dst=gateway, lladdr=mac, ifindex=number, state=_PERMANENT)
            except NetlinkError as error:
                raise FabricError(f"cannot make neighbour {line} in {netns}: {error}") from error
        for line in map(str, routes):
            prefix, _, gateway, _, interface = line.split()
            try:
                route.route("add", dst=prefix, gateway=gateway, oif=index(site, netns, interface))
            except NetlinkError as error:
                raise FabricError(f"cannot make route {line} in {netns}: {error}") from error
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they go with the namespace."""
