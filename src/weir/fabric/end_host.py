# SPDX-License-Identifier: Apache-2.0
"""Step kind end-host: a namespace's interface as a host has it, with addresses, and frames as on a wire."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import ending
from weir.fabric.links import index
from weir.fabric.offloads import switch_off_offloads
from weir.fabric.site import Facts, Site
from weir.plan import Step

NAMES, RESOLVER = Path("/etc/hosts"), Path("/etc/resolv.conf")
_NO_RESOLVER = "# There is no name server on the chain: what is not in /etc/hosts is unknown at once.\n"
_IPV6 = Path("/proc/net/if_inet6")
_BITS = {4: 32, 6: 128}
_LINK_SCOPE = 253  # RT_SCOPE_LINK of <linux/rtnetlink.h>


class EndHost:
    """A host at an end of the chain, in a namespace whose interface is there already."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError where the kernel refuses an address, a route or to switch off an offload."""
        netns, interface = str(step.params["netns"]), str(step.params["interface"])
        if any(":" in one for one in _texts(step, "addresses")) and not _IPV6.exists():
            raise FabricError(
                "this kernel has no IPv6, which the chain carries and so its hosts would use",
                "boot it without ipv6.disable=1",
            )
        switch_off_offloads(netns, interface)
        try:
            _set_up(step, site, netns, interface)
        except NetlinkError as error:
            raise FabricError(f"cannot {step.text}: {error}") from error
        names = "\n".join(_texts(step, "names"))
        write_names(site.directory, str(step.params["hosts_file"]), str(step.params["resolver_file"]), names)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends the commands that run in it, which would keep the namespace alive. All else goes with it and
        with the run directory."""
        ending.end_inside(str(params["netns"]))


def write_names(directory: Path, hosts_file: str, resolver_file: str, names: str) -> None:
    """What commands see as /etc/hosts and /etc/resolv.conf: these names, and the machine's."""
    machines = NAMES.read_text(errors="replace") if NAMES.exists() else ""
    (directory / hosts_file).write_text(f"{names}\n{machines}")
    (directory / resolver_file).write_text(_NO_RESOLVER)


def _texts(step: Step, key: str) -> list[str]:
    found = step.params[key]
    assert isinstance(found, list)
    return [str(one) for one in found]


def _set_up(step: Step, site: Site, netns: str, interface: str) -> None:
    route = site.route(netns)
    route.link("set", index=index(site, netns, "lo"), state="up")
    number = index(site, netns, interface)
    route.link("set", index=number, state="down")  # its link-local address is made of the MAC address
    route.link("set", index=number, address=str(step.params["mac"]), mtu=step.params["mtu_bytes"])
    route.link("set", index=number, state="up")
    for neighbour in _texts(step, "neighbours"):
        address, mac = neighbour.split()
        family = _family(address)
        route.neigh("replace", dst=address, lladdr=mac, ifindex=number, state="permanent", family=family)
    for address, peer in zip(_texts(step, "addresses"), _texts(step, "peers"), strict=True):
        version = ipaddress.ip_address(address).version
        route.addr("add", index=number, address=address, prefixlen=_BITS[version])
        scope = {"scope": _LINK_SCOPE} if version == 4 else {}
        family = _family(peer)
        route.route("add", dst=f"{peer}/{_BITS[version]}", oif=number, family=family, **scope)
        route.route("add", dst="default", gateway=peer, oif=number, family=family)


def _family(address: str) -> int:
    return socket.AF_INET if ipaddress.ip_address(address).version == 4 else socket.AF_INET6
