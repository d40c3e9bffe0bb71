# SPDX-License-Identifier: Apache-2.0
"""What this kernel can do, found out by doing it in a network namespace that nobody sees."""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import socket
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Literal

from pyroute2 import IPRoute
from pyroute2.ethtool import Ethtool
from pyroute2.netlink import genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

from weir.fabric import namespace, netlink

_ARGUMENTS: dict[str, dict[str, object]] = {"veth": {"peer": {"ifname": "peer"}}, "bridge": {}}
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_PERF_ATTRIBUTES_BYTES = 112
_PERF_TYPE_HARDWARE, _PERF_COUNT_CPU_CYCLES = 0, 0
_PERF_EXCLUDE_KERNEL, _PERF_EXCLUDE_HYPERVISOR = 1 << 5, 1 << 6
_SIOCETHTOOL, _ETHTOOL_GET_TS_INFO = 0x8946, 0x41
_SOF_TIMESTAMPING_RX_HARDWARE = 1 << 2
_HWTSTAMP_FILTER_NONE, _HWTSTAMP_FILTER_ALL = 0, 1
_MODPROBE_S = 10.0
_OFFLOADS = ("checksum", "scatter-gather", "segmentation", "gro", "lro", "vlan")


def makes_namespaces() -> bool:
    """Whether this process may make network namespaces: root in a container may not."""
    try:
        with namespace.nameless():
            return True
    except OSError:
        return False


def makes(kind: str) -> bool:
    """Whether the kernel makes interfaces of that kind: "veth", "bridge". Loads its module if it has one."""
    with netlink.opened(IPRoute, namespace.nameless()) as route:
        try:
            route.link("add", ifname="probe", kind=kind, **_ARGUMENTS[kind])
        except NetlinkError:
            return False
    return True


def has_module(name: str) -> bool:
    """Whether that part of the kernel is there, built in or as a module, which is then loaded."""
    if (Path("/sys/module") / name).is_dir():
        return True
    try:
        return subprocess.run(["modprobe", "--quiet", name], check=False, timeout=_MODPROBE_S).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def bridge_netfilter() -> bool:
    """Whether br_netfilter is there, which leads bridged packets through netfilter where it is asked to."""
    return Path("/proc/sys/net/bridge").is_dir()


def opens_packet_sockets() -> bool:
    """Whether the kernel gives AF_PACKET sockets."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError:
        return False
    return True


def ovs_datapath() -> bool:
    """Whether the kernel has Open vSwitch's datapath: its generic netlink family. Loads its module."""
    with netlink.opened(GenericNetlinkSocket) as generic:
        try:
            generic.bind("ovs_datapath", genlmsg)
        except NetlinkError:
            return False
    return True


@cache
def veth_offloads() -> str:
    """Kinds of offload that are on in a new veth pair, which Weir leaves as it is; "unknown" without root."""
    if os.geteuid() != 0:
        return "unknown: only root can see them"
    try:
        with netlink.opened(IPRoute, namespace.nameless()) as route:
            route.link("add", ifname="probe", kind="veth", **_ARGUMENTS["veth"])
            kinds = _offloads("probe")
    except (NetlinkError, OSError) as error:
        return f"unknown: {error}"
    return "veth: " + (", ".join(kinds) or "none")


def offloads(interface: str) -> tuple[str, ...] | None:
    """Kinds of offload that are on in that interface; None if the kernel does not say."""
    try:
        return _offloads(interface)
    except (NetlinkError, OSError):
        return None


def _offloads(interface: str) -> tuple[str, ...]:
    with netlink.opened(Ethtool) as ethtool:
        features = ethtool.get_features(interface).features.values()
    on = [feature.name for feature in features if feature.enable]
    return tuple(sorted({f"{name[:2]} {kind}" for name in on for kind in _OFFLOADS if kind in name}))


def rx_stamps(interface: str) -> Literal["all", "some", "none"] | None:
    """Which received packets the card behind that interface can stamp; None if the kernel does not say.

    ETHTOOL_GET_TS_INFO (linux/ethtool.h, linux/net_tstamp.h), which needs no rights.
    """
    info = ctypes.create_string_buffer(struct.pack("=I40x", _ETHTOOL_GET_TS_INFO), 44)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            request = struct.pack("@16sP16x", interface.encode(), ctypes.addressof(info))
            fcntl.ioctl(asked, _SIOCETHTOOL, request)
    except OSError:
        return None
    kinds, rx_filters = struct.unpack_from("=4xI20xI", info.raw)
    if not kinds & _SOF_TIMESTAMPING_RX_HARDWARE or not rx_filters & ~(1 << _HWTSTAMP_FILTER_NONE):
        return "none"
    return "all" if rx_filters & 1 << _HWTSTAMP_FILTER_ALL else "some"


def counts_cycles() -> bool:
    """Whether the kernel counts this process's cycles in hardware: perf_event_open(2), as weir-lean asks."""
    attributes = bytearray(_PERF_ATTRIBUTES_BYTES)
    struct.pack_into("=IIQ", attributes, 0, _PERF_TYPE_HARDWARE, len(attributes), _PERF_COUNT_CPU_CYCLES)
    struct.pack_into("=Q", attributes, 40, _PERF_EXCLUDE_KERNEL | _PERF_EXCLUDE_HYPERVISOR)
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return False
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, buffer, 0, -1, -1, 0)
    if fd < 0:
        return False
    os.close(fd)
    return True


@cache
def sees_other_users() -> bool:
    """Whether this process may read the environment of another user's: with CAP_SYS_PTRACE; newer kernels
    ask for CAP_PERFMON or CAP_SYS_ADMIN. One is started, and looked at. True where none can be started."""
    try:
        # It ends with its standard input, also if this process is killed.
        shown = subprocess.Popen(["cat"], stdin=subprocess.PIPE, user="nobody", extra_groups=[])
    except (OSError, KeyError, subprocess.SubprocessError):
        return True
    with shown:
        try:
            Path(f"/proc/{shown.pid}/environ").read_bytes()
        except PermissionError:
            return False
    return True
