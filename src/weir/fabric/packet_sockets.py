# SPDX-License-Identifier: Apache-2.0
"""What the kernel's AF_PACKET sockets dropped, by sock_diag(7): no interface counts that.

A switch that reads an interface through such a socket, as Open vSwitch's userspace datapath does, loses there
whatever it does not read in time.
"""

from __future__ import annotations

import socket
from typing import ClassVar

from pyroute2.netlink import NETLINK_SOCK_DIAG, NLM_F_DUMP, NLM_F_REQUEST, nla, nlmsg
from pyroute2.netlink.diag import SOCK_DIAG_BY_FAMILY, MarshalDiag
from pyroute2.netlink.nlsocket import NetlinkSocket

_SHOW_INFO = 0x01  # linux/packet_diag.h
_SHOW_MEMINFO = 0x10


class _Request(nlmsg):
    fields = (
        ("sdiag_family", "B"),
        ("sdiag_protocol", "B"),
        ("__pad", "H"),
        ("pdiag_ino", "I"),
        ("pdiag_show", "I"),
        ("pdiag_cookie", "Q"),
    )


class _Answer(nlmsg):
    fields = (
        ("pdiag_family", "B"),
        ("pdiag_type", "B"),
        ("pdiag_num", "H"),
        ("pdiag_ino", "I"),
        ("pdiag_cookie", "Q"),
    )
    nla_map = (
        (0, "PACKET_DIAG_INFO", "Info"),
        (6, "PACKET_DIAG_MEMINFO", "Meminfo"),
    )

    class Info(nla):
        fields = (
            ("index", "I"),
            ("version", "I"),
            ("reserve", "I"),
            ("copy_threshold", "I"),
            ("timestamp", "I"),
            ("flags", "I"),
        )

    class Meminfo(nla):
        # enum sk_meminfo of linux/sock_diag.h, in its order
        fields = tuple(
            (name, "I")
            for name in (
                "rmem_alloc",
                "rcvbuf",
                "wmem_alloc",
                "sndbuf",
                "fwd_alloc",
                "wmem_queued",
                "optmem",
                "backlog",
                "drops",
            )
        )


class _Marshal(MarshalDiag):
    msg_map: ClassVar = {socket.AF_PACKET: _Answer}


class PacketSockets(NetlinkSocket):
    """The AF_PACKET sockets of the network namespace in which this was made."""

    def __init__(self) -> None:
        super().__init__(NETLINK_SOCK_DIAG)
        self.set_marshal(_Marshal())

    def drops(self) -> dict[int, int]:
        """Packets that found no room in a socket since it was opened, by the index of its interface."""
        request = _Request()
        request["sdiag_family"] = socket.AF_PACKET
        request["pdiag_show"] = _SHOW_INFO | _SHOW_MEMINFO
        found: dict[int, int] = {}
        for answer in self.nlm_request(request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP):
            index = answer.get_attr("PACKET_DIAG_INFO")["index"]
            found[index] = found.get(index, 0) + answer.get_attr("PACKET_DIAG_MEMINFO")["drops"]
        return found
