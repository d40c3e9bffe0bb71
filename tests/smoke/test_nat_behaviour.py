# SPDX-License-Identifier: Apache-2.0
"""How `nat` and nftables in its place treat hosts with real stacks, asked alike (RFC 4787, 5382, 5508)."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from weir.fabric import namespace

from . import host_traffic
from .host_traffic import opened
from .test_end_hosts import forwarding, lab_of, topology_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

EXTERNAL = "203.0.113.1"
INSIDE, INSIDE_TOO = "198.18.0.1", "198.18.0.2"
OUTSIDE, OUTSIDE_TOO = "198.19.0.1", "198.19.0.2"
PORT = 5000
UNHEARD_S = 1.0
OPTIONS = {"external": f"{EXTERNAL}/32"}
WEIR: dict[str, Any] = {"router": {"tenants": [{"prefix": "198.18.0.0/24"}], "external": f"{EXTERNAL}/32"}}
"""nat, and l3fwd behind it, which leads hairpinned packets back inside."""
LINUX: dict[str, Any] = {"kind": "kernel", "nf": "nat", "options": OPTIONS}


@dataclass(frozen=True)
class Behaviour:
    """In the words of RFC 4787, sections 4 and 5, and RFC 5508."""

    preserves_ports: bool
    """The first host's port is its external one."""
    endpoint_independent_mapping: bool
    """Of a host whose port another host has outside: one external endpoint whoever is sent to (REQ-1)."""
    overloads_ports: bool
    """Two hosts have one external endpoint, towards different remote ones (REQ-3b forbids it)."""
    endpoint_independent_filtering: bool
    """Who was not sent to may send to the external endpoint (REQ-8)."""
    hairpins: bool
    """A host inside reaches another one by that one's external endpoint (REQ-9)."""
    translates_errors: bool
    """An ICMP error about a translated packet reaches who sent it (RFC 5508, REQ-4)."""
    echoes: bool
    """Of two hosts that ask with one identifier, both are answered (RFC 5508, REQ-1)."""


@dataclass(frozen=True)
class Network:
    """The hosts of a deployment: one namespace with two addresses at each end."""

    left: str
    right: str

    def udp(self, netns: str, address: str, port: int) -> socket.socket:
        made = opened(netns, socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((address, port))
        return made


def with_two_addresses(pair: host_traffic.Pair) -> Network:
    """A second one for each end."""
    for netns, address in ((pair.left, INSIDE_TOO), (pair.right, OUTSIDE_TOO)):
        with namespace.inside(netns):
            subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "eth0"], check=True)
    return Network(pair.left, pair.right)


def heard(listening: socket.socket) -> tuple[str, int]:
    """Who sent what came next."""
    _, sender = listening.recvfrom(2048)
    return sender[0], sender[1]


def is_heard(listening: socket.socket, data: bytes) -> bool:
    """Whether just that comes, in a time in which on an idle wire all does."""
    listening.settimeout(UNHEARD_S)
    with suppress(TimeoutError):
        while True:
            found, _ = listening.recvfrom(2048)
            if found == data:
                return True
    return False


@contextmanager
def sockets(*made: socket.socket) -> Iterator[None]:
    try:
        yield
    finally:
        for one in made:
            one.close()


def mappings(network: Network) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """External endpoints of two hosts with one port, towards three remote endpoints each."""
    inside = [network.udp(network.left, address, PORT) for address in (INSIDE, INSIDE_TOO)]
    remote = [
        network.udp(network.right, address, port)
        for address, port in ((OUTSIDE, 7001), (OUTSIDE, 7002), (OUTSIDE_TOO, 7001))
    ]
    found: tuple[list[tuple[str, int]], list[tuple[str, int]]] = ([], [])
    with sockets(*inside, *remote):
        # The first host's port is taken towards one remote; a NAT by tuples sees that there alone.
        for host, listening in ((0, remote[0]), (1, remote[1]), (1, remote[2]), (1, remote[0])):
            inside[host].sendto(b"who am I?", listening.getsockname())
            found[host].append(heard(listening))
    return found


def filtered(network: Network) -> bool:
    """Whether only who was sent to is heard."""
    inside = network.udp(network.left, INSIDE, PORT + 1)
    known = network.udp(network.right, OUTSIDE, 7003)
    stranger = network.udp(network.right, OUTSIDE, 7004)
    with sockets(inside, known, stranger):
        inside.sendto(b"hello", known.getsockname())
        external = heard(known)
        known.sendto(b"an answer", external)
        assert inside.recv(2048) == b"an answer"
        stranger.sendto(b"from a stranger", external)
        return not is_heard(inside, b"from a stranger")


def hairpinned(network: Network) -> bool:
    inside = network.udp(network.left, INSIDE, PORT + 2)
    other = network.udp(network.left, INSIDE_TOO, PORT + 3)
    known = network.udp(network.right, OUTSIDE, 7005)
    with sockets(inside, other, known):
        inside.sendto(b"hello", known.getsockname())
        other.sendto(b"round the corner", heard(known))
        return is_heard(inside, b"round the corner")


def refused(network: Network) -> bool:
    """A port where nobody listens: the host outside says so by ICMP, about the packet as it got it."""
    inside = network.udp(network.left, INSIDE, PORT + 4)
    with sockets(inside):
        inside.connect((OUTSIDE, 7999))
        inside.send(b"anyone?")
        inside.settimeout(UNHEARD_S * 5)
        try:
            inside.recv(2048)
        except OSError as error:
            return error.errno == errno.ECONNREFUSED
    return False


def behaviour(network: Network) -> Behaviour:
    first, second = mappings(network)
    assert {address for address, _ in (*first, *second)} == {EXTERNAL}
    for address in (INSIDE, INSIDE_TOO):
        assert address not in {one for one, _ in (*first, *second)}
    return Behaviour(
        preserves_ports=first[0][1] == PORT,
        endpoint_independent_mapping=len(set(second)) == 1,
        overloads_ports=bool(set(first) & set(second)),
        endpoint_independent_filtering=not filtered(network),
        hairpins=hairpinned(network),
        translates_errors=refused(network),
        echoes=all(echoed(network, address) for address in (INSIDE, INSIDE_TOO)),
    )


def echoed(network: Network, source: str) -> bool:
    """A ping from that address with the identifier that the other one has too."""
    with namespace.inside(network.left):
        asked = subprocess.run(
            ["ping", "-c", "1", "-W", "5", "-e", "77", "-I", source, OUTSIDE],
            capture_output=True,
            check=False,
        )
    return asked.returncode == 0


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (
            WEIR,
            Behaviour(
                preserves_ports=True,
                endpoint_independent_mapping=True,
                overloads_ports=False,
                endpoint_independent_filtering=True,
                hairpins=True,
                translates_errors=True,
                echoes=True,
            ),
        ),
        (
            LINUX,
            Behaviour(
                preserves_ports=True,
                endpoint_independent_mapping=False,
                overloads_ports=True,
                endpoint_independent_filtering=False,
                hairpins=False,
                translates_errors=True,
                echoes=True,
            ),
        ),
    ],
    ids=["nat", "nftables"],
)
@pytest.mark.usefixtures("run_root")
def test_hosts_find_the_behaviour_that_each_is_known_for(
    function: dict[str, Any], expected: Behaviour
) -> None:
    topology = topology_of(lab := lab_of("linux-bridge", {"edge": function}))
    with forwarding(lab, topology):
        (pair,) = host_traffic.pairs(topology)
        assert behaviour(with_two_addresses(pair)) == expected
