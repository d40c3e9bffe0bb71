# SPDX-License-Identifier: Apache-2.0
"""Step kinds veth, bridge and bridge-port, by netlink, inside the lab's own namespaces only."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.fabric import namespace
from weir.fabric.errors import FabricError
from weir.fabric.step_kind import Facts, Site
from weir.plan import Step

MTU_BYTES = 1518  # a tagged frame of 1522 bytes with FCS still passes
_GONE = (errno.ENODEV, errno.ENOENT)


class Veth:
    """A veth pair: weir-dp's end in the node's namespace, the switch's end in the switch's."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes both ends where they belong, up."""
        params = {key: str(value) for key, value in step.params.items()}
        fd = os.open(namespace.DIRECTORY / params["peer_netns"], os.O_RDONLY | os.O_CLOEXEC)
        try:
            site.route(params["netns"]).link(
                "add",
                ifname=params["interface"],
                kind="veth",
                mtu=MTU_BYTES,
                state="up",
                peer={"ifname": params["peer_interface"], "net_ns_fd": fd, "mtu": MTU_BYTES},
            )
        except NetlinkError as error:
            raise FabricError(f"cannot make veth pair {params['peer_interface']}: {error}") from error
        finally:
            os.close(fd)
        peer = site.route(params["peer_netns"])
        peer.link("set", index=index(site, params["peer_netns"], params["peer_interface"]), state="up")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes one end, and so both."""
        delete(site, str(params["netns"]), str(params["interface"]))


class Bridge:
    """A learning bridge without spanning tree and multicast snooping: every packet in it is the tester's."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, up."""
        name, ageing_s = str(step.params["bridge"]), step.params["ageing_s"]
        assert isinstance(ageing_s, int)
        try:
            site.route(str(step.params["netns"])).link(
                "add",
                ifname=name,
                kind="bridge",
                mtu=MTU_BYTES,
                state="up",
                br_stp_state=0,
                br_mcast_snooping=0,
                br_ageing_time=ageing_s * 100,  # USER_HZ
            )
        except NetlinkError as error:
            raise FabricError(
                f"cannot make bridge {name}: {error}", "the kernel needs the bridge module"
            ) from error
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes it."""
        delete(site, str(params["netns"]), str(params["bridge"]))


class BridgePort:
    """An interface attached to a bridge."""

    def do(self, step: Step, site: Site) -> Facts:
        """Attaches it."""
        netns, interface = str(step.params["netns"]), str(step.params["interface"])
        site.route(netns).link(
            "set",
            index=index(site, netns, interface),
            master=index(site, netns, str(step.params["bridge"])),
        )
        if not step.params["flooded"]:
            site.route(netns).brport(
                "set", index=index(site, netns, interface), unicast_flood=0, mcast_flood=0, bcast_flood=0
            )
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it goes with the interface."""


def index(site: Site, netns: str, interface: str) -> int:
    """The kernel's number of an interface. FabricError if there is none of that name."""
    found = site.route(netns).link_lookup(ifname=interface)
    if not found:
        raise FabricError(f"there is no interface {interface} in {netns}", "was it removed from outside?")
    return int(found[0])


def delete(site: Site, netns: str, interface: str) -> None:
    """Deletes an interface; one that is gone, or whose namespace is, is fine."""
    if not (namespace.DIRECTORY / netns).exists():
        return
    try:
        site.route(netns).link("del", ifname=interface)
    except NetlinkError as error:
        if error.code not in _GONE:
            raise
    except OSError:
        return  # the namespace was announced but not yet mounted
