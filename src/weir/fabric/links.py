# SPDX-License-Identifier: Apache-2.0
"""Step kinds netns, sysctl, veth, tap, bridge and bridge-port: nothing outside the lab's own namespaces."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import socket
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.fabric import namespace
from weir.fabric.host.devices import TUN
from weir.fabric.offloads import switch_off_offloads
from weir.fabric.site import Facts, Site
from weir.plan import Step

_GONE = (errno.ENODEV, errno.ENOENT)


class Netns:
    """A network namespace."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError if one of that name is there: it would not be ours, and undo must not touch it."""
        name = str(step.params["netns"])
        if (namespace.DIRECTORY / name).exists():
            raise FabricError(f"there is a network namespace {name} already", "it is not Weir's: rename it")
        site.note({"ours": True})
        try:
            namespace.create(name)
        except OSError as error:
            raise FabricError(
                f"cannot make network namespace {name}: {error}", "run as root in a full Linux"
            ) from error
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Deletes it; links inside go with it."""
        if not facts.get("ours"):
            return
        site.forget(str(params["netns"]))
        namespace.delete(str(params["netns"]))


class Sysctl:
    """Settings inside a namespace; they go with it."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        """Writes each; a setting that this kernel lacks is passed over, unless it is required."""
        settings, required = step.params["settings"], bool(step.params.get("required"))
        assert isinstance(settings, list)
        with namespace.inside(str(step.params["netns"])):
            for setting in settings:
                key, _, value = str(setting).partition("=")
                path = Path("/proc/sys") / key.replace(".", "/")
                if path.exists():
                    _write(path, key, value)
                elif required:
                    raise FabricError(f"there is no setting {key} in {step.params['netns']}", "see sysctl(8)")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they are gone with the namespace."""


def set_in_namespace(netns: str, settings: Mapping[str, str], required: str | None = None) -> None:
    """Settings of that namespace alone. One that the kernel has for all of them is passed over, and one that
    it lacks, unless its name begins with `required`: FabricError."""
    with namespace.inside(netns):
        for key, value in settings.items():
            path = Path("/proc/sys") / key.replace(".", "/")
            if not path.exists() and required is not None and key.startswith(required):
                raise FabricError(
                    f"there is no setting {key} in {netns}", "load the kernel's module nf_conntrack"
                )
            if path.exists() and path.stat().st_mode & stat.S_IWUSR:
                _write(path, key, value)


def _write(path: Path, key: str, value: str) -> None:
    try:
        path.write_text(value)
    except OSError as error:
        raise FabricError(f"cannot set {key} to {value!r}: {error.strerror}") from error


class Veth:
    """A veth pair: weir-dp's end in the node's namespace, the switch's end in the switch's."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes both ends where they belong, up."""
        params, mtu_bytes = {key: str(value) for key, value in step.params.items()}, _mtu_bytes(step)
        fd = os.open(namespace.DIRECTORY / params["peer_netns"], os.O_RDONLY | os.O_CLOEXEC)
        try:
            site.route(params["netns"]).link(
                "add",
                ifname=params["interface"],
                kind="veth",
                mtu=mtu_bytes,
                state="up",
                peer={"ifname": params["peer_interface"], "net_ns_fd": fd, "mtu": mtu_bytes},
            )
        except NetlinkError as error:
            raise FabricError(f"cannot make veth pair {params['peer_interface']}: {error}") from error
        finally:
            os.close(fd)
        if step.params.get("peer_without_offloads"):
            switch_off_offloads(params["peer_netns"], params["peer_interface"])
        peer = site.route(params["peer_netns"])
        peer.link("set", index=index(site, params["peer_netns"], params["peer_interface"]), state="up")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes one end, and so both; nothing where the pair goes with its namespace."""
        if not params.get("vanishes"):
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
                mtu=_mtu_bytes(step),
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
        """Deletes it; nothing where it goes with its namespace."""
        if not params.get("vanishes"):
            delete(site, str(params["netns"]), str(params["bridge"]))

    def datapath(self, facts: Facts) -> str:  # noqa: ARG002
        """The kernel's, of its version."""
        return f"Linux bridge {platform.release()} (kernel)"

    def in_kernel(self, facts: Facts) -> bool:  # noqa: ARG002
        """Always."""
        return True


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


def _mtu_bytes(step: Step) -> int:
    """As large as a frame with its FCS: what it needs, and room for a VLAN tag."""
    return int(str(step.params["mtu_bytes"]))


def index(site: Site, netns: str, interface: str) -> int:  # noqa: ARG001 - as its neighbours are called
    """The kernel's number of an interface. FabricError if there is none of that name.

    Not by netlink, whose answer has everything else of it, too: a cloud asks some thousand times.
    """
    with namespace.inside(netns):
        try:
            return socket.if_nametoindex(interface)
        except OSError as error:
            raise FabricError(
                f"there is no interface {interface} in {netns}", "was it removed from outside?"
            ) from error


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


_SET_INTERFACE, _SET_PERSISTENT = 0x400454CA, 0x400454CB  # TUNSETIFF, TUNSETPERSIST of <linux/if_tun.h>
_TAP, _NO_PACKET_INFO, _VIRTIO_HEADER, _SEVERAL_QUEUES = 0x0002, 0x1000, 0x4000, 0x0100


def opened_tap(netns: str, name: str, queues: int) -> int:
    """A descriptor of one queue of a tap interface, which is made if it is not there. OSError."""
    flags = _TAP | _NO_PACKET_INFO | _VIRTIO_HEADER
    flags |= _SEVERAL_QUEUES if queues > 1 else 0
    with namespace.inside(netns):
        fd = os.open(TUN, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.ioctl(fd, _SET_INTERFACE, struct.pack("16sH22x", name.encode(), flags))
        except OSError:
            os.close(fd)
            raise
    return fd


class Tap:
    """A tap interface that stays when nobody has it open."""

    def do(self, step: Step, site: Site) -> Facts:
        """Makes it, up."""
        netns, name, queues = (step.params[key] for key in ("netns", "interface", "queues"))
        fd = opened_tap(str(netns), str(name), int(str(queues)))
        try:
            fcntl.ioctl(fd, _SET_PERSISTENT, 1)
        finally:
            os.close(fd)
        route = site.route(str(netns))
        route.link("set", index=index(site, str(netns), str(name)), mtu=_mtu_bytes(step), state="up")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Deletes it."""
        delete(site, str(params["netns"]), str(params["interface"]))
