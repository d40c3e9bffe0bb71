# SPDX-License-Identifier: Apache-2.0
"""Step kind span: this host's end of a wire to another one: a VXLAN tunnel, a VLAN of a network card, or a
device on one.

The device is in a namespace of the deployment's; the tunnel's own packets, and the card, stay where this
process is. Nothing of the host's is changed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric import namespace, netlink
from weir.fabric.counters import Counter, interface_drops, interfaces_of
from weir.fabric.links import delete, index
from weir.fabric.offloads import switch_off_offloads
from weir.fabric.site import Facts, Site
from weir.plan import Step

_UP, _PROMISCUOUS = 0x1, 0x100  # IFF_UP, IFF_PROMISC of <linux/if.h>
_FAMILIES = {4: 2, 6: 10}  # AF_INET, AF_INET6
_MODULES = {"vxlan": "vxlan", "vlan": "8021q", "card": "macvlan"}


class Span:
    """One of them."""

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """Whether the interface below is here, is up and carries what is asked for."""
        try:
            below, mtu_bytes = _below(params)
        except FabricError as error:
            return str(error)
        needed_bytes = int(params["mtu_bytes"]) + int(params["overhead_bytes"])
        frame_bytes = int(params["frame_bytes"])
        if mtu_bytes >= needed_bytes:
            return None
        fitting_bytes = frame_bytes - (needed_bytes - mtu_bytes)
        return (
            f"frames of {frame_bytes} bytes do not fit: by {params['span']} they need an MTU of "
            f"{needed_bytes} bytes at {below}, which has {mtu_bytes}: raise it on all hosts and on what is "
            f"between them (`ip link set {below} mtu {needed_bytes}`), or send frames of at most "
            f"{fitting_bytes} bytes"
        )

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, up, a tunnel without offloads, for frames as long as what is below carries. FabricError
        where the host lacks that."""
        why = self.lacking(step.params)
        if why is not None:
            raise FabricError(f"cannot {step.text}: {why}")
        params, (below, below_bytes) = step.params, _below(step.params)
        mtu_bytes = below_bytes - int(str(params["overhead_bytes"]))
        kind, netns, name = str(params["span"]), str(params["netns"]), str(params["interface"])
        fd = os.open(namespace.DIRECTORY / netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with netlink.opened(IPRoute) as here:
                (link,) = here.link_lookup(ifname=below)
                here.link("add", ifname=name, net_ns_fd=fd, mtu=mtu_bytes, **_DEVICES[kind](params, link))
        except NetlinkError as error:
            raise FabricError(f"cannot {step.text}: {error}", _fix(error, params)) from error
        finally:
            os.close(fd)
        if kind == "vxlan":  # a device on a card has none of its own
            switch_off_offloads(netns, name)
        device, route = index(site, netns, name), site.route(netns)
        route.link("set", index=device, state="up")
        if kind == "vlan":  # as is the card, as long as this is: frames are not addressed to it
            route.link("set", index=device, flags=_UP | _PROMISCUOUS, change=_PROMISCUOUS)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes it, and not only with its namespace, which the kernel takes down when it comes to it."""
        delete(site, str(params["netns"]), str(params["interface"]))

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:  # noqa: ARG002
        """What each of its ends here took, gave and dropped."""
        found = []
        for link in topology.links:
            here = topology.span_here(link)
            statistics = interfaces_of(here[1].netns).get(here[1].interface) if here is not None else None
            if here is None or statistics is None:
                continue
            place = f"{here[0].name}:{here[1].host}"
            found += interface_drops(place, statistics)
            for way in ("tx", "rx"):
                found.append(Counter(f"{place} {way}", None, "packets", statistics[f"{way}_packets"]))
        return found


def _vxlan(params: Mapping[str, Any], link: int) -> dict[str, Any]:
    """Its other end is told, and nothing is learnt: there are two."""
    local, remote = str(params["local"]), str(params["remote"])
    six = "6" if ip_address(local).version == 6 else ""
    return {
        "kind": "vxlan",
        "vxlan_id": int(params["vni"]),
        "vxlan_link": link,
        f"vxlan_local{six}": local,
        f"vxlan_group{six}": remote,
        "vxlan_port": int(params["udp_port"]),
        "vxlan_learning": 0,
    }


def _vlan(params: Mapping[str, Any], link: int) -> dict[str, Any]:
    """What comes in with another tag, or without one, stays the host's."""
    return {"kind": "vlan", "link": link, "vlan_id": int(params["vlan"])}


def _on_card(params: Mapping[str, Any], link: int) -> dict[str, Any]:  # noqa: ARG001
    """It has the card to itself: whatever comes in is its own, for whichever address."""
    return {"kind": "macvlan", "link": link, "macvlan_mode": "passthru"}


_DEVICES: Mapping[str, Callable[[Mapping[str, Any], int], dict[str, Any]]] = {
    "vxlan": _vxlan,
    "vlan": _vlan,
    "card": _on_card,
}


def _below(params: Mapping[str, Any]) -> tuple[str, int]:
    """Name and MTU of the host's interface. FabricError where there is none, or it is down."""
    with netlink.opened(IPRoute) as here:
        if params["span"] == "vxlan":
            number = _number(here, str(params["local"]), str(params["host"]))
        else:
            numbers = here.link_lookup(ifname=str(params["card"]))
            if not numbers:
                raise FabricError(f"this host has no interface {params['card']}", "see `ip link`")
            (number,) = numbers
        (found,) = here.get_links(number)
    name = str(found.get_attr("IFLA_IFNAME"))
    if not found["flags"] & _UP:
        raise FabricError(f"interface {name} is down", f"`ip link set {name} up` brings it up")
    return name, int(found.get_attr("IFLA_MTU"))


def _number(here: IPRoute, address: str, host: str) -> int:
    """Of the interface that has the address."""
    if not address:
        raise FabricError(
            f"it is not known by which address other hosts reach {host}", "name it in hosts.wire.addresses"
        )
    wanted = ip_address(address)
    for one in here.get_addr(family=_FAMILIES[wanted.version]):
        own = one.get_attr("IFA_LOCAL") or one.get_attr("IFA_ADDRESS")
        if own is not None and ip_address(own) == wanted:
            return int(one["index"])
    raise FabricError(f"this host has no address {address}", "mend hosts.wire.addresses, or see `ip address`")


def _fix(error: NetlinkError, params: Mapping[str, Any]) -> str:
    if error.code == errno.EOPNOTSUPP:
        return f"load the kernel's module {_MODULES[str(params['span'])]}"
    if error.code in (errno.EBUSY, errno.EEXIST):
        return "something else has it: see `ip -d link`"
    return "see dmesg"
