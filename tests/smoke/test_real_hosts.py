# SPDX-License-Identifier: Apache-2.0
"""Two Linux hosts, as they are, talk through weir-dp between veth pairs: offloads on, any frame length."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute

from tests.private_data_plane import private_data_plane
from weir.fabric import namespace
from weir.fabric.offloads import switch_off_offloads
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure
from weir.protocol.ledger import PortLedger

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LEFT, RIGHT = "198.18.0.1", "198.18.0.2"
LEFT_6, RIGHT_6 = "fd57::1", "fd57::2"
PATIENCE_S = 30
ETHERTYPE = 0x88B5


@dataclass(frozen=True)
class Hosts:
    """Namespaces of two hosts, each with `eth0`, and of the forwarder, with the other ends, a and b."""

    left: str
    right: str
    middle: str


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    token = secrets.token_hex(3)
    made = Hosts(*(f"weirtest-{token}-{place}" for place in ("l", "r", "m")))
    try:
        for name in (made.left, made.right, made.middle):
            namespace.create(name)
        with namespace.inside(made.middle):
            Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
        for name, end, address, address_6 in (
            (made.left, "a", LEFT, LEFT_6),
            (made.right, "b", RIGHT, RIGHT_6),
        ):
            with namespace.inside(name), IPRoute() as route:
                Path("/proc/sys/net/ipv6/conf/default/accept_dad").write_text("0")
                route.link("add", ifname="eth0", kind="veth", peer={"ifname": end, "net_ns_fd": made.middle})
                host = route.link_lookup(ifname="eth0")[0]
                route.addr("add", index=host, address=address, prefixlen=24)
                route.addr("add", index=host, address=address_6, prefixlen=64)
                route.link("set", index=host, state="up")
            set_link(made.middle, end, state="up")
        yield made
    finally:
        for name in (made.left, made.right, made.middle):
            namespace.delete(name)


def set_link(netns: str, interface: str, **change: object) -> None:
    with namespace.inside(netns), IPRoute() as route:
        route.link("set", ifname=interface, **change)


Stage = dict[str, Any]


def configuration(
    hosts: Hosts, kind: str, first: Sequence[Stage] = (), again: Sequence[Stage] = ()
) -> Configure:
    """Both ways: through stages `first` from the left host, through `again` from the right one."""
    core = max(os.sched_getaffinity(0))
    port = {"kind": kind, "netns": f"/run/netns/{hosts.middle}", "rx_queue_size": 256}
    paths = [
        {"name": "right", "in": "a", "stages": list(first), "out": "b"},
        {"name": "left", "direction": "inbound", "in": "b", "stages": list(again), "out": "a"},
    ]
    ports = [port | {"name": name, "interface": name} for name in ("a", "b")]
    area = {"name": "wire", "core": core, "kind": "chain", "paths": paths}
    return Configure.model_validate({"ports": ports, "areas": [area], "mbufs": 16384})


@contextmanager
def forwarding(configured: Configure) -> Iterator[DataPlaneClient]:
    """weir-dp that does so."""
    with (
        private_data_plane(max(os.sched_getaffinity(0)), memory_mb=128, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        client.configure(configured)
        client.start()
        yield client


@pytest.fixture
def wire(hosts: Hosts, request: pytest.FixtureRequest) -> Iterator[DataPlaneClient]:
    """weir-dp that forwards all frames between the hosts, unchanged."""
    kind = getattr(request, "param", "packet_socket")
    if kind != "packet_socket":
        for host in (hosts.left, hosts.right):
            switch_off_offloads(host, "eth0")
    with forwarding(configuration(hosts, kind)) as client:
        yield client


def opened(netns: str, family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
    with namespace.inside(netns):
        made = socket.socket(family, kind)
    made.settimeout(PATIENCE_S)
    return made


def raw_socket(netns: str) -> socket.socket:
    with namespace.inside(netns):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    raw.bind(("eth0", ETHERTYPE))
    raw.settimeout(PATIENCE_S)
    return raw


def frame_of(length: int, number: int = 0) -> bytes:
    header = bytes.fromhex("ffffffffffff 0257000000bb") + struct.pack("!HI", ETHERTYPE, number)
    return header.ljust(length, b"\0")


def port(wire: DataPlaneClient, name: str) -> PortLedger:
    return next(one for one in wire.ledger().ports if one.name == name)


def becomes(value: Callable[[], int], expected: int) -> bool:
    """Whether it does so in time: counters are behind what arrives."""
    end = time.monotonic() + PATIENCE_S
    while value() != expected and time.monotonic() < end:
        time.sleep(0.01)
    return value() == expected


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, RIGHT), (socket.AF_INET6, RIGHT_6)], ids=["ipv4", "ipv6"]
)
def test_tcp_carries_a_stream_with_all_offloads_on(
    hosts: Hosts, wire: DataPlaneClient, family: socket.AddressFamily, address: str
) -> None:
    bytes_sent = 8 << 20
    stream(hosts, family, address, bytes_sent)
    counted = port(wire, "a")
    assert (counted.rx_too_long, counted.rx_unfinished) == (0, 0)
    assert counted.rx_packets > bytes_sent // 1500  # cut for the wire


def stream(hosts: Hosts, family: socket.AddressFamily, address: str, size_bytes: int) -> None:
    """From the left host to the right one, by TCP; it arrives as it was."""
    sent = secrets.token_bytes(1 << 20) * (size_bytes >> 20)
    came = bytearray()
    with opened(hosts.right, family, socket.SOCK_STREAM) as server:
        server.bind((address, 5001))
        server.listen()

        def receive() -> None:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(PATIENCE_S)
                while chunk := connection.recv(1 << 20):
                    came.extend(chunk)

        receiver = threading.Thread(target=receive)
        receiver.start()
        with opened(hosts.left, family, socket.SOCK_STREAM) as client:
            client.connect((address, 5001))
            client.sendall(sent)
        receiver.join()
    assert came == sent


def switched(netns: str, *words: str) -> None:
    """Offloads of the host's interface, as ethtool(8) has them."""
    ethtool = shutil.which("ethtool")
    if ethtool is None:
        pytest.skip("ethtool is not installed")
    with namespace.inside(netns):
        subprocess.run([ethtool, "-K", "eth0", *words], check=True, capture_output=True)


def refusal(hosts: Hosts, kind: str) -> str:
    with (
        private_data_plane(max(os.sched_getaffinity(0)), memory_mb=128, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
        pytest.raises(DataPlaneError) as refused,
    ):
        client.configure(configuration(hosts, kind))
    return str(refused.value)


@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_a_stock_veth_is_refused_by_a_driver_that_finishes_no_frames(hosts: Hosts, kind: str) -> None:
    said = refusal(hosts, kind)
    assert "eth0, the other end of a, leaves checksums and segments to a card (tx-checksum-ip-generic" in said
    assert (
        f"ethtool -K eth0 tx off in /run/netns/{hosts.left}, or open the interface as packet_socket" in said
    )


@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_what_the_refusal_says_helps(hosts: Hosts, kind: str) -> None:
    for host in (hosts.left, hosts.right):
        switched(host, "tx", "off")
    with forwarding(configuration(hosts, kind)):
        stream(hosts, socket.AF_INET, RIGHT, 1 << 20)
        stream(hosts, socket.AF_INET6, RIGHT_6, 1 << 20)


def test_frames_that_are_left_to_a_card_all_the_same_are_dropped_and_counted(hosts: Hosts) -> None:
    for host in (hosts.left, hosts.right):
        switched(host, "tx", "off")
    with (
        forwarding(configuration(hosts, "af_packet")) as client,
        opened(hosts.right, socket.AF_INET, socket.SOCK_DGRAM) as server,
        opened(hosts.left, socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        server.bind((RIGHT, 5002))
        sender.sendto(b"finished", (RIGHT, 5002))
        assert server.recv(100) == b"finished"
        switched(hosts.left, "tx", "on")
        for _ in range(5):
            sender.sendto(b"not finished", (RIGHT, 5002))
        assert becomes(lambda: port(client, "a").rx_unfinished, 5)
        switched(hosts.left, "tx", "off")
        sender.sendto(b"finished again", (RIGHT, 5002))
        assert server.recv(100) == b"finished again"


@pytest.mark.usefixtures("wire")
def test_udp_arrives_with_a_checksum_that_its_receiver_accepts(hosts: Hosts) -> None:
    with (
        opened(hosts.right, socket.AF_INET, socket.SOCK_DGRAM) as server,
        opened(hosts.left, socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        server.bind((RIGHT, 5002))
        client.sendto(b"question", (RIGHT, 5002))
        question, sender = server.recvfrom(100)
        server.sendto(b"answer", sender)
        assert (question, client.recv(100)) == (b"question", b"answer")


def test_hosts_find_each_other_through_a_firewall_and_connect_one_way(hosts: Hosts, tmp_path: Path) -> None:
    rules = tmp_path / "one-way.rules"
    rules.write_text(f"permit tcp {LEFT} {RIGHT}\n")
    firewall = {"nf": "firewall", "name": "firewall"}
    first = firewall | {"options": {"rules": str(rules), "arp": "forward"}}
    with (
        forwarding(configuration(hosts, "packet_socket", [first], [firewall])) as client,
        opened(hosts.right, socket.AF_INET, socket.SOCK_STREAM) as right,
        opened(hosts.left, socket.AF_INET, socket.SOCK_STREAM) as left,
        opened(hosts.right, socket.AF_INET, socket.SOCK_STREAM) as back,
    ):
        right.bind((RIGHT, 5003))
        right.listen()
        left.connect((RIGHT, 5003))
        left.sendall(b"through")
        connection, _ = right.accept()
        with connection:
            assert connection.recv(100) == b"through"
        back.setblocking(False)
        back.connect_ex((LEFT, 5003))
        assert becomes(lambda: client.ledger().areas[0].paths[1].stages[0].drops["denied"] > 0, True)


@pytest.mark.parametrize("wire", ["packet_socket", "af_packet"], indirect=True)
def test_a_frame_that_no_buffer_holds_is_dropped_and_counted(hosts: Hosts, wire: DataPlaneClient) -> None:
    for netns, interface in ((hosts.left, "eth0"), (hosts.middle, "a")):
        set_link(netns, interface, mtu=9000)
    with raw_socket(hosts.left) as left, raw_socket(hosts.right) as right:
        left.send(frame_of(9000))
        left.send(frame_of(200))
        assert right.recv(65536) == frame_of(200)
    assert becomes(lambda: port(wire, "a").rx_too_long, 1)


def test_long_frames_stay_in_step_when_an_interface_was_down(hosts: Hosts, wire: DataPlaneClient) -> None:
    length = 2020  # more than a place of the ring holds, less than a packet buffer
    for netns, interface in (
        (hosts.left, "eth0"),
        (hosts.middle, "a"),
        (hosts.middle, "b"),
        (hosts.right, "eth0"),
    ):
        set_link(netns, interface, mtu=9000)
    with raw_socket(hosts.left) as left, raw_socket(hosts.right) as right:
        set_link(hosts.middle, "a", state="down")
        set_link(hosts.middle, "a", state="up")
        for number in range(3):
            left.send(frame_of(length, number))
            assert right.recv(65536) == frame_of(length, number)
    counted = port(wire, "a")
    assert (counted.rx_too_long, counted.rx_unread) == (0, 0)


def test_a_frame_that_the_way_out_refuses_is_lost_alone(hosts: Hosts, wire: DataPlaneClient) -> None:
    for netns, interface in ((hosts.left, "eth0"), (hosts.middle, "a")):
        set_link(netns, interface, mtu=1900)
    lengths = [200 if number % 2 else 1800 for number in range(20)]
    with raw_socket(hosts.left) as left, raw_socket(hosts.right) as right:
        wire.stop()
        for number, length in enumerate(lengths):  # one burst
            left.send(frame_of(length, number))
        wire.start()
        for number in range(1, 20, 2):
            assert right.recv(65536) == frame_of(200, number)
    assert becomes(lambda: port(wire, "b").tx_too_long, 10)
    assert [path.drops["tx_queue_full"] for path in wire.ledger().areas[0].paths] == [0, 0]


def test_what_an_interface_that_is_down_refuses_has_a_reason_of_its_own(
    hosts: Hosts, wire: DataPlaneClient
) -> None:
    set_link(hosts.middle, "b", state="down")
    with raw_socket(hosts.left) as left:
        for number in range(20):
            left.send(frame_of(200, number))
        # At least: the host's own neighbour discovery may come through as well.
        assert becomes(lambda: min(port(wire, "b").tx_down, 20), 20)
    assert [path.drops["tx_queue_full"] for path in wire.ledger().areas[0].paths] == [0, 0]
