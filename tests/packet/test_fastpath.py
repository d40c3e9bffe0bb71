# SPDX-License-Identifier: Apache-2.0
"""Real chains with and without the fast path: the same traffic, commands and times, the same packets."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether

from weir.protocol import DataPlaneError

from .replay import Direction, Dropped, Forwarded, Options, Replay, replay

STEPS = 150
FRAMES_A_STEP = 24
FLOWS = 64  # fewer than the traffic has, so that they push each other out
CLIENTS = [f"10.0.0.{host}" for host in range(1, 9)]
SERVERS = [f"198.51.100.{host}" for host in range(1, 5)]
VIP = "203.0.113.10"
EXTERNAL = "192.0.2.1"
Arguments = dict[str, str | int]
Change = tuple[str, str, Arguments]
Chain = tuple[tuple[tuple[str, Options], ...], Callable[[random.Random, Path], Change]]


def nat_l3fwd(rand: random.Random, _folder: Path) -> Change:
    prefix = network(f"{rand.choice(SERVERS)}/{rand.choice((24, 30, 32))}")
    inside, port = rand.choice(CLIENTS), rand.randrange(1, 3)
    external: Arguments = {"protocol": "udp", "external": EXTERNAL, "external_port": 40000 + port}
    changes: list[Change] = [
        ("l3fwd1", "route-add", {"prefix": prefix, "next_hop": f"02:00:00:00:00:{port:02x}"}),
        ("l3fwd1", "route-delete", {"prefix": prefix}),
        ("nat0", "static-add", {**external, "inside": inside, "inside_port": 5000}),
        ("nat0", "static-delete", external),
    ]
    return rand.choice(changes)


def lb_l3fwd(rand: random.Random, _folder: Path) -> Change:
    command = rand.choice(("backend-add", "backend-drain", "backend-remove"))
    service = rand.choice((f"{VIP}:80/tcp", f"{VIP}:53/udp"))
    return "lb0", command, {"service": service, "backend": f"{rand.choice(SERVERS)}:8080"}


def rules(rand: random.Random, folder: Path) -> str:
    """A file of some rules, most of them permits."""
    lines = [
        f"{rand.choice(('permit', 'permit', 'deny'))} {rand.choice(('tcp', 'udp', 'any'))} "
        f"{rand.choice(('any', '10.0.0.0/30', '10.0.0.4/32'))} any any {rand.choice(('any', '80', '1-1000'))}"
        for _ in range(rand.randrange(1, 6))
    ]
    path = folder / f"rules-{rand.randrange(10**9)}"
    path.write_text("\n".join([*lines, "permit udp any any any 53", ""]))
    return str(path)


def firewall_nat_l3fwd(rand: random.Random, folder: Path) -> Change:
    if rand.random() < 0.5:
        return "firewall0", "reload", {"rules": rules(rand, folder)}
    stage, command, arguments = nat_l3fwd(rand, folder)
    return stage.replace("l3fwd1", "l3fwd2").replace("nat0", "nat1"), command, arguments


def acl_lb_l3fwd(rand: random.Random, folder: Path) -> Change:
    if rand.random() < 0.5:
        return "acl0", "reload", {"rules": rules(rand, folder)}
    _stage, command, arguments = lb_l3fwd(rand, folder)
    return "lb1", command, arguments


def dpi_l3fwd(rand: random.Random, folder: Path) -> Change:
    path = folder / f"dpi-{rand.randrange(10**9)}"
    lines = [
        f"{number} {rand.choice(('permit', 'drop', 'label'))} "
        + rand.choice(
            (
                f"flow tcp any any any {rand.choice((53, 80))}",
                "flow udp 10.0.0.0/30 any",
                "/data/",
                "/d.ta$/m",
            )
        )
        for number in rand.sample(range(1, 6), 3)
    ]
    path.write_text("\n".join([*lines, ""]))
    return "dpi0", "rules-load", {"rules_file": str(path)}


def network(prefix: str) -> str:
    return str(ipaddress.ip_network(prefix, strict=False))


L3FWD: Options = {"src_mac": "02:00:00:00:00:aa", "dst_mac": "02:00:00:00:00:bb"}
SERVICES = ", ".join(
    f"{VIP}:{service} {server}:8080" for service in ("80/tcp", "53/udp") for server in SERVERS[:2]
)
NAT: Options = {"external": EXTERNAL, "sessions": 64}
LB: Options = {"services": SERVICES, "table_size": 251}
POLICER: Options = {"tenants": "default srtcm cir_bps=100000 cbs_bytes=1500 ebs_bytes=1500"}
DPI: Options = {"packets_max": 2, "flows_max": 256, "applications": False}
CHAINS: dict[str, Chain] = {
    "dpi-l3fwd": ((("dpi", DPI), ("l3fwd", L3FWD)), dpi_l3fwd),
    "nat-l3fwd": ((("nat", NAT), ("l3fwd", L3FWD)), nat_l3fwd),
    "lb-l3fwd": ((("lb", LB), ("l3fwd", L3FWD)), lb_l3fwd),
    "firewall-nat-l3fwd": (
        (("firewall", {"default": "permit", "sessions": 128}), ("nat", NAT), ("l3fwd", L3FWD)),
        firewall_nat_l3fwd,
    ),
    "acl-lb-l3fwd": (
        (("acl", {"default": "permit"}), ("lb", LB), ("l3fwd", L3FWD), ("policer", POLICER)),
        acl_lb_l3fwd,
    ),
}


def frame(rand: random.Random, src: str, dst: str, sport: int, dport: int) -> bytes:
    if rand.random() < 0.05:
        return built("icmp", src, dst, sport, dport)
    if rand.random() < 0.5:
        flags = rand.choice(("A", "A", "A", "A", "S", "FA", "R"))
        return built("tcp", src, dst, sport, dport, flags=flags, ttl=rand.choice((64, 64, 64, 2, 1)))
    fragment = rand.choice((0,) * 15 + (1,))
    return built("udp", src, dst, sport, dport, fragment=fragment, number=rand.randrange(9))


@cache
def built(
    protocol: str, src: str, dst: str, sport: int, dport: int,
    *, flags: str = "", ttl: int = 64, fragment: int = 0, number: int = 1,
) -> bytes:  # fmt: skip
    """The frame of these. Making it takes Scapy most of a test's time, and many are alike."""
    ip = IP(src=src, dst=dst, ttl=ttl, flags=fragment, id=number)
    if protocol == "icmp":
        content = ip / ICMP(id=sport)
    elif protocol == "tcp":
        content = ip / TCP(sport=sport, dport=dport, flags=flags)
    else:
        content = ip / UDP(sport=sport, dport=dport)
    return bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / content / b"data").ljust(60, b"\0")


@cache
def back(sent: bytes) -> tuple[str, str, int, int]:
    """Addresses and ports of an answer."""
    ip = Ether(sent)[IP]
    l4 = ip.payload
    ports = (l4.dport, l4.sport) if isinstance(l4, (TCP, UDP)) else (1, 1)
    return ip.dst, ip.src, *ports


def traffic(rand: random.Random, left: list[bytes]) -> tuple[Direction, list[bytes]]:
    """Outbound packets of clients, or answers to what has left."""
    if left and rand.random() < 0.4:
        return "inbound", [frame(rand, *back(sent)) for sent in rand.choices(left, k=FRAMES_A_STEP)]
    return "outbound", [
        frame(
            rand,
            rand.choice(CLIENTS),
            rand.choice((*SERVERS, VIP, EXTERNAL)),
            rand.randrange(1024, 1032),
            rand.choice((53, 80, 40001)),
        )
        for _ in range(FRAMES_A_STEP)
    ]


def changed(chain: Replay, change: Change) -> str | None:
    """What the function said against it."""
    stage, command, arguments = change
    try:
        chain.command(stage, command, **arguments)
    except DataPlaneError as error:
        return str(error)
    return None


@pytest.mark.long
@pytest.mark.parametrize("name", CHAINS)
def test_random_traffic_leaves_as_it_does_without_the_fast_path(name: str, tmp_path: Path) -> None:
    stages, change_of = CHAINS[name]
    rand = random.Random(name)
    left: list[bytes] = []
    at_s = 1.0
    reasons = set()
    with replay(*stages) as plain, replay(*stages, fastpath_flows=FLOWS) as fast:
        for step in range(STEPS):
            at_s += rand.choice((0.001, 0.001, 0.5, 70))
            if rand.random() < 0.3:
                change = change_of(rand, tmp_path)
                assert changed(plain, change) == changed(fast, change), (step, change)
            direction, frames = traffic(rand, left)
            expected = plain.send_all(frames, direction, at_s=at_s)
            assert fast.send_all(frames, direction, at_s=at_s) == expected, (step, direction)
            for chain in (plain, fast):  # time jumps: functions see what was used before the jump, not after
                chain.send_all([], at_s=at_s)
            reasons |= {outcome.reason for outcome in expected if isinstance(outcome, Dropped)}
            if direction == "outbound":
                left = [outcome.frame for outcome in expected if isinstance(outcome, Forwarded)] or left
        hits = fast.fastpath_hits()
    assert hits > STEPS, "the fast path was hardly used"
    assert reasons, "nothing was ever dropped"
