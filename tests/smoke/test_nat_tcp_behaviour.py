# SPDX-License-Identifier: Apache-2.0
"""How `nat` and nftables in its place treat TCP connections of real stacks, asked alike (RFC 5382)."""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP

from . import host_traffic
from .host_traffic import opened
from .test_end_hosts import forwarding, lab_of, topology_of
from .test_nat_behaviour import (
    EXTERNAL,
    INSIDE,
    INSIDE_TOO,
    LINUX,
    OUTSIDE,
    OUTSIDE_TOO,
    PORT,
    UNHEARD_S,
    WEIR,
    Network,
    with_two_addresses,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

CLOSE_WITH_RST = struct.pack("ii", 1, 0)  # struct linger


@dataclass(frozen=True)
class Behaviour:
    """In the words of RFC 5382."""

    preserves_ports: bool
    """The first host's port is its external one."""
    endpoint_independent_mapping: bool
    """Of a host whose port another host has outside: one external endpoint for all remote ones (REQ-1)."""
    endpoint_independent_filtering: bool
    """Who was not connected to may connect to the external endpoint (REQ-3)."""
    opens_from_both_sides: bool
    """Two hosts that connect to each other at once are connected (REQ-2)."""
    unsolicited_syns_are_unanswered: bool
    """Whoever connects to an external endpoint of nobody hears nothing at once (REQ-4)."""
    hairpins: bool
    """A host inside connects to another one by that one's external endpoint (REQ-8)."""
    resets_reach_the_other_side: bool
    """An RST, from either side."""
    survives_errors: bool
    """An ICMP error about a connection's packet does not end it (REQ-9)."""
    port_is_free_after_a_reset: bool
    """The same endpoint connects again to the same remote one."""


class Hosts(ExitStack):
    """Sockets of the hosts, closed at the end."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def tcp(self, netns: str, address: str, port: int) -> socket.socket:
        """Which shares its address with others: one may listen and another connect (RFC 5382, section 3)."""
        made = self.enter_context(opened(netns, socket.AF_INET, socket.SOCK_STREAM))
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        made.bind((address, port))
        return made

    def listening(self, netns: str, address: str, port: int) -> socket.socket:
        """One that is connected to."""
        made = self.tcp(netns, address, port)
        made.listen()
        return made

    def connection(
        self, inside: tuple[str, int], server: socket.socket
    ) -> tuple[socket.socket, socket.socket]:
        """From an inside endpoint: both ends."""
        client = self.tcp(self.network.left, *inside)
        client.connect(server.getsockname())
        accepted, _ = server.accept()
        accepted.settimeout(host_traffic.PATIENCE_S)
        return client, self.enter_context(accepted)


def external(connected: socket.socket) -> tuple[str, int]:
    """Whom the remote end is connected to."""
    address, port = connected.getpeername()
    return str(address), int(port)


def is_connected(connecting: socket.socket, target: tuple[str, int], server: socket.socket) -> bool:
    """Whether that reaches the server in a time in which on an idle wire all does; a SYN is sent again
    after a second."""
    connecting.settimeout(2 * UNHEARD_S)
    with suppress(OSError):  # no answer, or one that says so
        connecting.connect(target)
        server.settimeout(host_traffic.PATIENCE_S)
        server.accept()[0].close()
        return True
    return False


def mapped(hosts: Hosts) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """External endpoints of two hosts with one port, towards three remote endpoints each."""
    remote = [
        hosts.listening(hosts.network.right, address, port)
        for address, port in ((OUTSIDE, 7001), (OUTSIDE, 7002), (OUTSIDE_TOO, 7001))
    ]
    first = [external(hosts.connection((INSIDE, PORT), remote[0])[1])]
    second = [external(hosts.connection((INSIDE_TOO, PORT), one)[1]) for one in (*remote[1:], remote[0])]
    return first, second


def is_open_to_strangers(hosts: Hosts) -> bool:
    known = hosts.listening(hosts.network.right, OUTSIDE, 7003)
    inside = (INSIDE, PORT + 1)
    server = hosts.listening(hosts.network.left, *inside)
    _, remote = hosts.connection(inside, known)
    stranger = hosts.tcp(hosts.network.right, OUTSIDE_TOO, 7004)
    return is_connected(stranger, external(remote), server)


def opened_at_once(hosts: Hosts) -> bool:
    """The outside's SYN comes first, and finds nobody; both go on."""
    inside, outside = (INSIDE, PORT + 2), (OUTSIDE, 7005)
    ends = hosts.tcp(hosts.network.right, *outside), hosts.tcp(hosts.network.left, *inside)
    for end, target in zip(ends, ((EXTERNAL, inside[1]), outside), strict=True):
        end.setblocking(False)
        assert end.connect_ex(target) == errno.EINPROGRESS
    waiting = set(ends)
    limit = time.monotonic() + host_traffic.PATIENCE_S
    while waiting and time.monotonic() < limit:
        for end in select.select([], list(waiting), [], 0.1)[1]:
            if end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0:
                return False
            waiting.discard(end)
    if waiting:
        return False
    for end in ends:
        end.settimeout(host_traffic.PATIENCE_S)
    ends[0].sendall(b"in")
    ends[1].sendall(b"out")
    return (ends[0].recv(10), ends[1].recv(10)) == (b"out", b"in")


def is_unanswered(hosts: Hosts) -> bool:
    """Within the time that is waited for one; REQ-4 asks for six seconds."""
    connecting = hosts.tcp(hosts.network.right, OUTSIDE, 7006)
    connecting.settimeout(UNHEARD_S)
    try:
        connecting.connect((EXTERNAL, 5999))
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


def is_hairpinned(hosts: Hosts) -> bool:
    known = hosts.listening(hosts.network.right, OUTSIDE, 7007)
    inside = (INSIDE, PORT + 3)
    server = hosts.listening(hosts.network.left, *inside)
    _, remote = hosts.connection(inside, known)
    return is_connected(hosts.tcp(hosts.network.left, INSIDE_TOO, PORT + 4), external(remote), server)


def is_reset(closing: socket.socket, other: socket.socket) -> bool:
    closing.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, CLOSE_WITH_RST)
    closing.close()
    try:
        other.recv(10)
    except ConnectionResetError:
        return True
    return False


def resets_arrive(hosts: Hosts) -> bool:
    server = hosts.listening(hosts.network.right, OUTSIDE, 7008)
    client, remote = hosts.connection((INSIDE, PORT + 5), server)
    outwards = is_reset(client, remote)
    client, remote = hosts.connection((INSIDE, PORT + 6), server)
    return outwards and is_reset(remote, client)


def connects_again(hosts: Hosts) -> bool:
    server = hosts.listening(hosts.network.right, OUTSIDE, 7009)
    seen = []
    for _ in range(3):
        client, remote = hosts.connection((INSIDE, PORT + 7), server)
        seen.append(external(remote))
        assert is_reset(client, remote)
        remote.close()
    return len(set(seen)) == 1


def survives_errors(hosts: Hosts) -> bool:
    """As a router on the way would tell that a host cannot be reached, or that a hop was too many."""
    server = hosts.listening(hosts.network.right, OUTSIDE, 7010)
    client, remote = hosts.connection((INSIDE, PORT + 8), server)
    address, port = external(remote)
    about = bytes(IP(src=address, dst=OUTSIDE) / TCP(sport=port, dport=7010, seq=1))[:28]
    errors = hosts.enter_context(
        opened(hosts.network.right, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    )
    for kind, code in ((3, 1), (3, 3), (3, 13), (11, 0)):
        errors.sendto(bytes(ICMP(type=kind, code=code) / about), (address, 0))
    remote.sendall(b"still")
    if client.recv(10) != b"still":
        return False
    client.sendall(b"here")
    return remote.recv(10) == b"here"


def behaviour(network: Network) -> Behaviour:
    with Hosts(network) as hosts:
        first, second = mapped(hosts)
        assert {address for address, _ in (*first, *second)} == {EXTERNAL}
        return Behaviour(
            preserves_ports=first[0][1] == PORT,
            endpoint_independent_mapping=len(set(second)) == 1,
            endpoint_independent_filtering=is_open_to_strangers(hosts),
            opens_from_both_sides=opened_at_once(hosts),
            unsolicited_syns_are_unanswered=is_unanswered(hosts),
            hairpins=is_hairpinned(hosts),
            resets_reach_the_other_side=resets_arrive(hosts),
            survives_errors=survives_errors(hosts),
            port_is_free_after_a_reset=connects_again(hosts),
        )


BOTH = {
    "preserves_ports": True,
    "resets_reach_the_other_side": True,
    "survives_errors": True,
    "port_is_free_after_a_reset": True,
}
OWN = (
    "endpoint_independent_mapping",
    "endpoint_independent_filtering",
    "hairpins",
    "unsolicited_syns_are_unanswered",
    "opens_from_both_sides",
)
"""What Weir's does and nftables' does not, as of UDP. Linux says by ICMP that it knows no way to the external
address, which ends the attempt of who is outside before the inside's SYN comes."""


@pytest.mark.parametrize(("function", "own"), [(WEIR, True), (LINUX, False)], ids=["nat", "nftables"])
@pytest.mark.usefixtures("run_root")
def test_connections_find_the_behaviour_that_each_is_known_for(function: dict[str, Any], own: bool) -> None:
    topology = topology_of(lab := lab_of("linux-bridge", {"edge": function}))
    with forwarding(lab, topology):
        (pair,) = host_traffic.pairs(topology)
        assert behaviour(with_two_addresses(pair)) == Behaviour(**BOTH, **dict.fromkeys(OWN, own))
