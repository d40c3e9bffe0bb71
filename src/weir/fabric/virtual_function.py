# SPDX-License-Identifier: Apache-2.0
"""MAC address and VLAN of a virtual function, which only its card's own driver can set."""

from __future__ import annotations

from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.fabric.errors import FabricError

_SHOW_FUNCTIONS = 1  # RTEXT_FILTER_VF of linux/rtnetlink.h


class Settings:
    """Of function `number` of the card behind the interface `parent`."""

    def __init__(self, parent: str, number: int) -> None:
        self._parent = parent
        self._number = number

    def read(self) -> dict[str, Any]:
        """`mac` and `vlan` (0: none). FabricError if the card does not tell."""
        with IPRoute() as route:
            for link in route.link("get", index=self._index(route), ext_mask=_SHOW_FUNCTIONS):
                functions = link.get_attr("IFLA_VFINFO_LIST")
                for function in functions.get_attrs("IFLA_VF_INFO") if functions else ():
                    mac, vlan = function.get_attr("IFLA_VF_MAC"), function.get_attr("IFLA_VF_VLAN")
                    if mac["vf"] == self._number:
                        return {"mac": mac["mac"], "vlan": vlan["vlan"]}
        raise FabricError(f"{self._parent} does not tell about its virtual function {self._number}")

    def write(self, settings: dict[str, Any]) -> None:
        """Sets both. FabricError with the card's refusal."""
        with IPRoute() as route:
            try:
                route.link("set", index=self._index(route), vf={"vf": self._number, **settings})
            except NetlinkError as error:
                raise FabricError(
                    f"cannot set the address of virtual function {self._number} of {self._parent}: {error}"
                ) from error

    def _index(self, route: IPRoute) -> int:
        found = route.link_lookup(ifname=self._parent)
        if not found:
            raise FabricError(f"there is no interface {self._parent}", "was it removed or renamed?")
        return int(found[0])
