# SPDX-License-Identifier: Apache-2.0
"""weir-dp's own AF_PACKET port carries frames unchanged, tagged ones too, and counts them exactly."""

from __future__ import annotations

import os
import secrets
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from tests.private_data_plane import private_data_plane
from weir.fabric import namespace
from weir.fabric.packet_sockets import PacketSockets
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

SOL_PACKET, PACKET_AUXDATA = 263, 8
ETH_P_ALL = 0x0003
UNTAGGED = bytes.fromhex("0257000000aa 0257000000bb 88b5") + bytes(range(60))
TAGGED = bytes.fromhex("0257000000aa 0257000000bb 8100 6064 88b5") + bytes(range(60))


@pytest.fixture
def wires() -> Iterator[str]:
    """A namespace with two veth pairs, a0-a1 and b0-b1."""
    name = f"weirtest-{secrets.token_hex(3)}"
    namespace.create(name)
    try:
        with namespace.inside(name), IPRoute() as route:
            Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
            for pair in "ab":
                route.link("add", ifname=f"{pair}0", kind="veth", state="up", peer={"ifname": f"{pair}1"})
                route.link("set", ifname=f"{pair}1", state="up")
        yield name
    finally:
        namespace.delete(name)


@pytest.fixture
def forwarder(wires: str) -> Iterator[DataPlaneClient]:
    """weir-dp that swaps addresses from a1 to b1."""
    core = max(os.sched_getaffinity(0))
    port = {"kind": "packet_socket", "netns": f"/run/netns/{wires}", "rx_queue_size": 64}
    ports = [port | {"name": "a", "interface": "a1"}, port | {"name": "b", "interface": "b1"}]
    swap = {"nf": "l2fwd", "options": {"mode": "mac-swap"}}
    chain = {"name": "right", "in": "a", "stages": [swap], "out": "b"}
    area = {"name": "swap", "core": core, "kind": "chain", "paths": [chain]}
    with (
        private_data_plane(core, memory_mb=128, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        client.configure(Configure.model_validate({"ports": ports, "areas": [area], "mbufs": 2048}))
        yield client


def opened(wires: str, interface: str) -> socket.socket:
    with namespace.inside(wires):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    raw.bind((interface, ETH_P_ALL))
    raw.settimeout(5)
    return raw


def received(raw: socket.socket) -> bytes:
    """The next frame as it was on the wire: the kernel takes the tag off and tells it beside the frame."""
    while True:
        frame, beside, _flags, address = raw.recvmsg(2048, 256)
        if address[2] == socket.PACKET_OUTGOING:
            continue
        status, _length, _snap, _mac, _net, tci, tpid = struct.unpack("=IIIHHHH", beside[0][2])
        if status & 0x10:  # TP_STATUS_VLAN_VALID
            frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        return frame


def swapped(frame: bytes) -> bytes:
    return frame[6:12] + frame[:6] + frame[12:]


@pytest.mark.parametrize("frame", [UNTAGGED, TAGGED], ids=["untagged", "tagged"])
def test_a_frame_passes_unchanged_but_for_the_function(
    wires: str, forwarder: DataPlaneClient, frame: bytes
) -> None:
    with opened(wires, "a0") as left, opened(wires, "b0") as right:
        forwarder.start()
        left.send(frame)
        assert received(right) == swapped(frame)


def test_what_finds_no_room_in_the_ring_is_counted_as_missed(wires: str, forwarder: DataPlaneClient) -> None:
    sent, room = 300, 64
    with opened(wires, "a0") as left:
        for _ in range(sent):  # nobody polls yet
            left.send(UNTAGGED)
    forwarder.start()
    port = next(port for port in forwarder.ledger().ports if port.name == "a")
    while port.rx_packets < room:
        port = next(port for port in forwarder.ledger().ports if port.name == "a")
    assert (port.rx_packets, port.rx_missed) == (room, sent - room)


def test_a_sockets_drops_are_told_by_its_interface(wires: str) -> None:
    with opened(wires, "a0") as left, opened(wires, "a1") as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with namespace.inside(wires):
            sockets = PacketSockets()
        for _ in range(200):
            left.send(UNTAGGED)
        taken = 0
        reader.setblocking(False)
        try:
            while True:
                reader.recv(2048)
                taken += 1
        except BlockingIOError:
            pass
        index = socket_index(wires, "a1")
        assert sockets.drops()[index] == 200 - taken > 0
        sockets.close()


def socket_index(wires: str, interface: str) -> int:
    with namespace.inside(wires):
        return socket.if_nametoindex(interface)
