# SPDX-License-Identifier: Apache-2.0
"""Traffic between two hosts by the kernel's own stack: echo requests, datagrams, a stream with a checksum."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from weir.base.topology import Topology
from weir.fabric import namespace

PATIENCE_S = 20.0  # for one answer: long past what a slowed machine takes
STREAM_BYTES = 2_000_000
ICMP_ECHO, ICMPV6_ECHO = 8, 128
ICMP_ECHO_REPLY, ICMPV6_ECHO_REPLY = 0, 129
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER = 10, 23  # <linux/in.h>, <linux/in6.h>
DONT_FRAGMENT, FRAGMENT = 2, 0
IP_TTL, IPV6_UNICAST_HOPS = 2, 16
IP_MTU, IPV6_MTU = 14, 24
IP_RECVERR, IPV6_RECVERR = 11, 25
ICMP_TIME_EXCEEDED, ICMPV6_TIME_EXCEEDED = 11, 3
_idents = count(os.getpid())


@dataclass(frozen=True)
class Pair:
    """The two hosts, and the addresses of one version of IP by which they reach each other."""

    left: str
    right: str
    to_left: str
    to_right: str

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.to_right else socket.AF_INET

    def turned(self) -> Pair:
        """Seen from the right."""
        return Pair(self.right, self.left, self.to_right, self.to_left)


def pairs(topology: Topology) -> list[Pair]:
    """One for each version of IP that both hosts have."""
    left, right = topology.end_hosts
    spaces = [str(topology.port(host.port).netns) for host in (left, right)]
    return [
        Pair(spaces[0], spaces[1], to_left, to_right)
        for to_left, to_right in zip(right.reached, left.reached, strict=True)
    ]


def opened(netns: str, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """A socket of that host, which does not wait without end."""
    with namespace.inside(netns):
        made = socket.socket(family, kind, protocol)
    made.settimeout(PATIENCE_S)
    return made


def ping(pair: Pair, data_bytes: int, *, fragmented: bool) -> None:
    """One echo request from the left; its answer must have the same data. OSError if none comes, or if the
    request is longer than the MTU and must not be cut."""
    six = pair.family == socket.AF_INET6
    ident = next(_idents) & 0xFFFF
    data = random.Random(data_bytes).randbytes(data_bytes)
    request = _echo(ICMPV6_ECHO if six else ICMP_ECHO, ident, data)
    protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
    with opened(pair.left, pair.family, socket.SOCK_RAW, protocol) as asking:
        level, option = (
            (socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER) if six else (socket.IPPROTO_IP, IP_MTU_DISCOVER)
        )
        asking.setsockopt(level, option, FRAGMENT if fragmented else DONT_FRAGMENT)
        asking.sendto(request, (pair.to_right, 0))
        while True:
            packet, (sender, *_) = asking.recvfrom(65536)
            message = packet if six else packet[(packet[0] & 15) * 4 :]
            kind, found = message[0], struct.unpack("!H", message[4:6])[0]
            if kind == (ICMPV6_ECHO_REPLY if six else ICMP_ECHO_REPLY) and found == ident:
                assert sender == pair.to_right
                assert message[8:] == data
                return


def first_hop(pair: Pair) -> str:
    """Who says that the time of a packet from the left, which may go one hop, is up."""
    with _error_socket(pair) as asking:
        level, option = _levels(pair)[0], IPV6_UNICAST_HOPS if ":" in pair.to_right else IP_TTL
        asking.setsockopt(level, option, 1)
        asking.connect((pair.to_right, 33434))
        asking.send(b"one hop")
        error = _next_error(asking)
        assert error.type in (ICMP_TIME_EXCEEDED, ICMPV6_TIME_EXCEEDED)
        return error.by


def is_unreachable(pair: Pair) -> bool:
    """Whether a packet from the left to that address, which nobody has, is answered by such an error."""
    with _error_socket(pair) as asking:
        asking.connect((pair.to_right, 33434))
        asking.send(b"anyone there?")
        error = _next_error(asking)
        return (error.type, error.code) == ((1, 3) if ":" in pair.to_right else (3, 1))


def path_mtu_bytes(pair: Pair) -> int:
    """What the left host has learnt of its way to the right one."""
    with _error_socket(pair) as asking:
        asking.connect((pair.to_right, 33434))
        level, _ = _levels(pair)
        return asking.getsockopt(level, IPV6_MTU if ":" in pair.to_right else IP_MTU)


def ping_until_too_long(pair: Pair, data_bytes: int) -> None:
    """Sends what is longer than the MTU of a later link, which must not be cut, until the left host was told:
    OSError then."""
    end = time.monotonic() + PATIENCE_S
    with _error_socket(pair) as asking:
        level, discover = _levels(pair)
        asking.setsockopt(level, discover, DONT_FRAGMENT)
        asking.connect((pair.to_right, 33434))
        while time.monotonic() < end:
            asking.send(bytes(data_bytes))
            time.sleep(0.05)


@dataclass(frozen=True)
class _Error:
    type: int
    code: int
    by: str


def _levels(pair: Pair) -> tuple[int, int]:
    """The level of IP's options, and its option for path MTU discovery."""
    if pair.family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER
    return socket.IPPROTO_IP, IP_MTU_DISCOVER


@contextmanager
def _error_socket(pair: Pair) -> Iterator[socket.socket]:
    """A UDP socket of the left host that keeps the errors that it gets."""
    with opened(pair.left, pair.family, socket.SOCK_DGRAM) as made:
        level, _ = _levels(pair)
        made.setsockopt(level, IPV6_RECVERR if ":" in pair.to_right else IP_RECVERR, 1)
        yield made


def _next_error(asking: socket.socket) -> _Error:
    """From its queue: struct sock_extended_err of <linux/errqueue.h>, then the address of who sent it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            _, ancillary, _, _ = asking.recvmsg(2048, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            time.sleep(0.01)
            continue
        data = ancillary[0][2]
        six = len(data) > 16 + 16
        by = socket.inet_ntop(socket.AF_INET6, data[24:40]) if six else socket.inet_ntoa(data[20:24])
        return _Error(type=data[5], code=data[6], by=by)
    raise TimeoutError("no ICMP error came")


def _echo(kind: int, ident: int, data: bytes) -> bytes:
    """Of IPv6 the kernel writes the checksum."""
    head = struct.pack("!BBHHH", kind, 0, 0, ident, 1)
    total = sum(struct.unpack(f"!{(len(head) + len(data)) // 2}H", head + data))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBHHH", kind, 0, ~total & 0xFFFF, ident, 1) + data


def echo_datagram(pair: Pair, data_bytes: int) -> None:
    """A UDP datagram from the left, and the same bytes back from whom it was sent to."""
    data = random.Random(data_bytes).randbytes(data_bytes)
    with (
        opened(pair.right, pair.family, socket.SOCK_DGRAM) as server,
        opened(pair.left, pair.family, socket.SOCK_DGRAM) as client,
    ):
        server.bind(("", 7007))
        client.sendto(data, (pair.to_right, 7007))
        came, sender = server.recvfrom(65536)
        assert came == data
        server.sendto(came, sender)
        back, answering = client.recvfrom(65536)
        assert back == data
        assert answering[:2] == (pair.to_right, 7007)


def stream(pair: Pair, size_bytes: int = STREAM_BYTES) -> None:
    """A TCP connection from the left on which the right sends so many bytes; they arrive as they were."""
    data = random.Random(size_bytes).randbytes(size_bytes)
    with opened(pair.right, pair.family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("", 8080))
        listening.listen()

        def serve() -> None:
            accepted, _ = listening.accept()
            with accepted:
                accepted.settimeout(PATIENCE_S)
                accepted.sendall(data)

        serving = threading.Thread(target=serve)
        serving.start()
        found = hashlib.sha256()
        try:
            with opened(pair.left, pair.family, socket.SOCK_STREAM) as client:
                client.connect((pair.to_right, 8080))
                while chunk := client.recv(1 << 16):
                    found.update(chunk)
        finally:
            serving.join()
    assert found.digest() == hashlib.sha256(data).digest()
