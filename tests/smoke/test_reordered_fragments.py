# SPDX-License-Identifier: Apache-2.0
"""Fragments in every order between two hosts: `firewall` and `acl` beside nftables, which reassembles."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, fragment6

from . import host_traffic
from .host_traffic import Pair, opened
from .test_end_hosts import forwarding, lab_of, topology_of
from .test_host_programs import own_address

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

PERMITTED, DENIED = 7101, 7102
UNHEARD_S = 1.0
Pieces = list[bytes]
ORDERS: dict[str, Callable[[Pieces], Pieces]] = {
    "in order": lambda pieces: pieces,
    "backwards": lambda pieces: pieces[::-1],
    "the first one last": lambda pieces: [*pieces[1:], pieces[0]],
    "the first one in the middle": lambda pieces: [pieces[1], pieces[0], *pieces[2:]],
    "each twice": lambda pieces: [piece for piece in pieces for _ in range(2)],
    "without the first one": lambda pieces: pieces[1:],
    "without the last one": lambda pieces: pieces[:-1],
}


def datagram(source: str, target: str, port: int, number: int) -> tuple[bytes, Pieces]:
    """Its payload, and its fragments as they are sent."""
    payload = f"{port} {number} ".encode().ljust(500, b".")
    if ":" in target:
        whole = IPv6(src=source, dst=target) / IPv6ExtHdrFragment(id=number) / UDP(sport=9, dport=port)
        return payload, [bytes(one) for one in fragment6(whole / payload, 200)]  # type: ignore[no-untyped-call]
    whole4 = IP(src=source, dst=target, id=number) / UDP(sport=9, dport=port) / payload
    return payload, [bytes(one) for one in whole4.fragment(fragsize=160)]  # type: ignore[no-untyped-call]


def sender(pair: Pair) -> socket.socket:
    """Whose frames are sent as they are."""
    made = opened(pair.left, pair.family, socket.SOCK_RAW, socket.IPPROTO_RAW)
    if pair.family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, 36, 1)  # IPV6_HDRINCL
    return made


def heard(listening: socket.socket) -> Iterator[bytes]:
    """What comes, until nothing has come for so long."""
    listening.settimeout(UNHEARD_S)
    with suppress(TimeoutError):
        while True:
            yield listening.recv(4096)


def arriving(pair: Pair, own: str) -> dict[tuple[str, int], int]:
    """How often a datagram to that port arrived whole, by the order in which its fragments were sent."""
    number = 1000
    found: dict[tuple[str, int], int] = {}
    for port in (PERMITTED, DENIED):
        with opened(pair.right, pair.family, socket.SOCK_DGRAM) as listening, sender(pair) as sending:
            listening.bind((pair.to_right, port))
            sent = {}
            for name, order in ORDERS.items():
                payload, pieces = datagram(own, pair.to_right, port, number := number + 1)
                sent[payload] = name
                for piece in order(pieces):
                    sending.sendto(piece, (pair.to_right, 0))
            came = [sent[payload] for payload in heard(listening)]
            found |= {(name, port): came.count(name) for name in ORDERS}
    return found


def measured(function: Mapping[str, Any]) -> list[dict[tuple[str, int], int]]:
    """Of each version of IP."""
    topology = topology_of(lab := lab_of("linux-bridge", {"edge": dict(function)}))
    with forwarding(lab, topology):
        return [arriving(pair, own_address(topology, pair)) for pair in host_traffic.pairs(topology)]


@pytest.mark.long
@pytest.mark.usefixtures("run_root")
def test_a_datagram_passes_whole_whatever_the_order_of_its_fragments_as_through_nftables(
    tmp_path: Path,
) -> None:
    rules = tmp_path / "edge.rules"
    rules.write_text(f"permit udp any any any {PERMITTED}\n")
    options = {"rules": str(rules), "arp": "forward", "neighbor_discovery": "forward"}
    whole = {name: int(not name.startswith("without")) for name in ORDERS}
    expected = {(name, PERMITTED): count for name, count in whole.items()}
    expected |= {(name, DENIED): 0 for name in ORDERS}
    linux = measured({"kind": "kernel", "nf": "firewall", "options": {"rules": str(rules)}})
    assert linux == [expected] * 2
    for nf in ("firewall", "acl"):
        assert measured({"nf": nf, "options": options}) == linux, nf
