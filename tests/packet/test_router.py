# SPDX-License-Identifier: Apache-2.0
"""The virtual router against its reference, as a lab runs it: each architecture, byte by byte, both sides."""

from __future__ import annotations

import functools
import ipaddress
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from tests.verbs import exchange
from weir.lab.function import ARCHITECTURES
from weir.protocol import DataPlaneClient
from weir.protocol.ledger import Ledger

from .frames import cut, framed
from .one_function import Way, configuration, data_plane, running
from .replay import Direction, Dropped
from .router_reference import INSIDE, OUTSIDE, VirtualRouter

LEFT, RIGHT = "tester.left", "tester.right"
RED, BLUE, REMOTE = "10.1.0.5", "10.2.0.7", "198.51.100.1"
RED6, BLUE6, REMOTE6 = "2001:db8:1::5", "2001:db8:2::7", "2001:db8:ff::1"
HOME = "203.0.113.1"
ROUTER: dict[str, Any] = {
    "tenants": [
        {"prefix": "10.1.0.0/24", "prefix6": "2001:db8:1::/64"},
        {"prefix": "10.2.0.0/24", "prefix6": "2001:db8:2::/64", "next_hop": "02:00:00:00:0b:01"},
    ],
    "external": "203.0.113.0/30",
    "next_hop": "02:00:00:00:0e:01",
    "forwards": [
        {"external": HOME, "port": 80, "to": BLUE, "to_port": 8080},
        {"external": HOME, "port": 53, "to": RED, "protocol": "udp"},
    ],
}
WAYS: dict[str, Way] = {
    **{name: {"architecture": name} for name in ARCHITECTURES},
    "separated, 2 state_cores": {"architecture": "separated", "workers": 2, "state_cores": 2},
}
FAST = {f"{name}, fast path": {**way, "fastpath": True, "fastpath_flows": 64} for name, way in WAYS.items()}
SHARED = ("dispatch", "separated, 2 state_cores")  # order is of flows; hairpins may need another worker

Drops = Counter[tuple[str, str]]  # function, reason
HELD = Dropped("held", "nat")


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def dotted(address: int) -> str:
    return str(ipaddress.IPv4Address(address))


def pieces(packet: ScapyPacket) -> list[bytes]:
    """Its fragments, the later ones before the first, and then all in order."""
    whole = [framed(piece) for piece in packet.fragment(fragsize=64)]
    return whole[2:] + whole


def opening() -> Iterator[bytes]:
    """Tenants talk to the outside and to each other; then what nobody should send."""
    for host, other in ((RED, BLUE), (BLUE, RED)):
        for to in (REMOTE, other, "10.1.0.99"):
            for port in (53, 5000, 5001):
                yield framed(IP(src=host, dst=to) / UDP(sport=port, dport=80) / b"?")
                yield framed(IP(src=host, dst=to) / TCP(sport=port, dport=80, flags="S"))
                yield framed(IP(src=host, dst=to) / TCP(sport=port, dport=80, flags="A") / b"go on")
                yield framed(IP(src=host, dst=to) / ICMP(id=port) / b"ping")
            yield framed(IP(src=host, dst=to, ttl=1) / UDP(sport=5000, dport=80))
            yield framed(IP(src=host, dst=to, proto=47) / b"GRE, or so")
            yield framed(IP(src=host, dst=to, proto=6) / b"no TCP header")
            yield framed(IP(src=host, dst=to, chksum=7) / UDP(sport=5000, dport=80))
            yield framed(IP(src=host, dst=to, options=[b"\x83\x07\x04" + bytes(5)]) / UDP(sport=5000))
            yield framed(IP(src=host, dst=to) / ICMP(type=13))
            yield from pieces(IP(src=host, dst=to, id=7) / UDP(sport=5000, dport=80) / (b"?" * 200))
            inside = bytes(IP(src=to, dst=host) / UDP(sport=80, dport=5000) / b"data!")
            for kind, size in ((3, 33), (11, 28), (12, 27), (5, 33)):
                yield framed(IP(src=host, dst=to) / ICMP(type=kind, code=1) / Raw(inside[:size]))
    yield framed(IP(src=RED, dst="224.0.0.5") / UDP())
    yield from routed_ipv6((RED6, BLUE6), (REMOTE6, BLUE6, RED6, "2001:db8:1::99"))
    yield framed(ARP(pdst=REMOTE))
    for to in (REMOTE, BLUE):
        yield from (frame for _, frame in cut(framed(IP(src=RED, dst=to) / TCP(sport=5000, dport=80))))


def routed_ipv6(hosts: tuple[str, ...], others: tuple[str, ...]) -> Iterator[bytes]:
    """Neither translated nor, where tenants are apart, from one to the other."""
    for host in hosts:
        for to in others:
            yield framed(IPv6(src=host, dst=to) / UDP(sport=5000, dport=80) / b"?")
            yield framed(IPv6(src=host, dst=to) / TCP(sport=5001, dport=80, flags="S"))
            yield framed(IPv6(src=host, dst=to) / ICMPv6EchoRequest(id=7) / b"ping")
            yield framed(IPv6(src=host, dst=to, hlim=1) / UDP(sport=5000, dport=80))
            yield framed(IPv6(src=host, dst=to, nh=47) / Raw(b"GRE, or so"))
            whole = IPv6(src=host, dst=to) / IPv6ExtHdrFragment(id=9) / UDP(sport=5000) / (b"?" * 200)
            yield from map(framed, fragment6(whole, 120))  # type: ignore[no-untyped-call]


def answers(expected: VirtualRouter) -> Iterator[bytes]:
    """From outside: to mappings, to forwarded ports, straight to tenants; errors and fragments."""
    for mapping in list(expected.nat.by_external.values()):
        address, port, protocol = mapping.external
        to = IP(src=REMOTE, dst=dotted(address))
        if protocol == 1:
            yield framed(to / ICMP(type=0, id=port) / b"pong")
            continue
        layer = UDP if protocol == 17 else TCP
        yield framed(to / layer(sport=80, dport=port) / b"!")
        yield framed(to / layer(sport=80, dport=port ^ 1))
        yield from pieces(IP(src=REMOTE, dst=to.dst, id=port) / layer(sport=80, dport=port) / (b"!" * 200))
        sent = bytes(IP(src=to.dst, dst=REMOTE) / layer(sport=port, dport=80) / b"data!")
        for kind in (3, 11):
            yield framed(IP(src="192.0.2.9", dst=to.dst) / ICMP(type=kind) / Raw(sent[:28]))
    for host in (RED, BLUE):
        yield framed(IP(src=REMOTE, dst=host) / UDP(sport=80, dport=5000))
    yield from routed_ipv6((REMOTE6,), (RED6, BLUE6, "2001:db8:3::1"))
    yield framed(IP(src=REMOTE, dst=HOME) / TCP(sport=9, dport=80, flags="S"))
    yield from pieces(IP(src=REMOTE, dst=HOME, id=7) / UDP(sport=80, dport=9) / (b"!" * 200))


def hairpinned(expected: VirtualRouter) -> Iterator[bytes]:
    """From tenants to external addresses: to forwarded ports, to mappings, to none; and errors about them."""
    inner = expected.nat.by_inside[(int(ipaddress.IPv4Address(RED)), 5000, 17)].external
    to = dotted(inner[0])
    for host in (RED, BLUE):
        yield framed(IP(src=host, dst=HOME) / TCP(sport=6000, dport=80, flags="S"))
        yield framed(IP(src=host, dst=HOME) / UDP(sport=6000, dport=53) / b"?")
        yield framed(IP(src=host, dst=HOME) / UDP(sport=6000, dport=54) / b"?")
        yield framed(IP(src=host, dst=to) / UDP(sport=6001, dport=inner[1]) / b"?")
        yield from pieces(IP(src=host, dst=to, id=9) / UDP(sport=6001, dport=inner[1]) / (b"?" * 200))


def generated(expected: VirtualRouter, count: int, seed: int) -> tuple[list[bytes], list[bytes]]:
    """Few hosts and ports, both ways; one packet in eight has a bit of its headers changed."""
    dice = random.Random(seed)
    sent: tuple[list[bytes], list[bytes]] = ([], [])
    known = list(expected.nat.by_external)
    for _ in range(count):
        layer = dice.choice((UDP, TCP))
        inwards = dice.random() < 0.4
        if inwards:
            address, port, _ = dice.choice(known)
            packet = IP(src=REMOTE, dst=dotted(address)) / layer(sport=80, dport=port)
        else:
            source = f"10.{dice.randrange(1, 4)}.0.{dice.randrange(1, 5)}"
            target = dice.choice((REMOTE, REMOTE, f"10.{dice.randrange(1, 4)}.0.{dice.randrange(1, 5)}"))
            packet = IP(src=source, dst=target) / layer(sport=dice.randrange(2000, 2004), dport=80)
        frame = bytearray(framed(packet / dice.randbytes(dice.randrange(40))))
        if dice.random() < 1 / 8:
            frame[dice.randrange(14, 42)] ^= 1 << dice.randrange(8)
        sent[inwards].append(bytes(frame))
    return sent


def dropped(ledger: Ledger) -> Drops:
    """By function and reason, in all areas; every path balances."""
    found: Drops = Counter()
    for area in ledger.areas:
        for path in area.paths:
            assert path.rx_packets == path.tx_packets + sum(path.drops.values()) + sum(
                sum(stage.drops.values()) + stage.held for stage in path.stages
            ), f"{area.name}/{path.name}"
            assert not any(path.drops.values()), f"{area.name}/{path.name}"
            for stage in path.stages:
                found += Counter(
                    {(stage.nf, reason): count for reason, count in stage.drops.items() if count}
                )
    return found


@dataclass(frozen=True)
class Step:
    """Frames of one direction, and what the reference makes of them: by egress, and drops up to here. `late`:
    of fragments that waited for their first one, which is later than where they came."""

    direction: Direction
    frames: list[bytes]
    wanted: tuple[list[bytes], list[bytes]]
    late: tuple[list[bytes], list[bytes]]
    drops: Drops
    late_drops: Drops
    hairpins: bool = False

    def is_as_wanted(self, egress: int, found: list[bytes], *, shared: bool) -> bool:
        """`shared`: flows are shared out, and what waits may wait at another worker than the first one's."""
        wanted, late = self.wanted[egress], self.late[egress]
        if shared:
            return not Counter(wanted) - Counter(found) and not Counter(found) - Counter(wanted + late)
        left = iter(found)
        return all(frame in left for frame in wanted) and sorted(found) == sorted(wanted + late)

    def drops_as_wanted(self, found: Drops, *, shared: bool) -> bool:
        """Likewise."""
        every = self.drops + self.late_drops
        return not self.drops - found and not found - every if shared else found == every


@functools.cache
def script(isolate: bool) -> list[Step]:
    """The reference's answers are the same for every way of running."""
    expected = VirtualRouter({**ROUTER, "isolate": isolate}, macs(areas_of({"router": ROUTER})[1]))
    steps: list[Step] = []
    waiting: list[tuple[bytes, Direction]] = []

    def step(direction: Direction, frames: list[bytes], **more: bool) -> None:
        wanted: tuple[list[bytes], list[bytes]] = ([], [])
        late: tuple[list[bytes], list[bytes]] = ([], [])
        drops = Counter(steps[-1].drops) if steps else Counter()
        late_drops = Counter(steps[-1].late_drops) if steps else Counter()
        for frame in frames:
            outcome = expected.handle(frame, direction)
            if outcome == HELD:
                waiting.append((frame, direction))
            elif isinstance(outcome, Dropped):
                drops[(outcome.at, outcome.reason)] += 1
            else:
                wanted[outcome.egress].append(outcome.frame)
        for one in list(waiting):
            expected.nat.held -= 1
            outcome = expected.handle(*one)
            if outcome == HELD:
                continue
            waiting.remove(one)
            if isinstance(outcome, Dropped):
                late_drops[(outcome.at, outcome.reason)] += 1
            else:
                late[outcome.egress].append(outcome.frame)
        steps.append(Step(direction, frames, wanted, late, drops, late_drops, **more))

    step("outbound", list(opening()))
    step("inbound", list(answers(expected)))
    for seed in (1, 2):
        outwards, inwards = generated(expected, 150, seed)
        step("outbound", outwards)
        step("inbound", inwards)
    step("outbound", list(hairpinned(expected)), hairpins=True)
    return steps


def areas_of(way: Way) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A lab's configuration, without its tester's areas; and the stages in it."""
    config = configuration([], way)
    areas = [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]
    stages = [stage for area in areas for path in area["paths"] for stage in path.get("stages", ())]
    for stage in stages:
        if stage["nf"] == "nat" and stage.get("options"):
            stage["options"]["fragment_wait_ms"] = 60000  # none is up meanwhile
    return {**config, "areas": areas}, stages


def macs(stages: list[dict[str, Any]]) -> dict[str, str]:
    """What the lab filled in."""
    options: dict[str, str] = next(stage["options"] for stage in stages if stage["nf"] == "l3fwd")
    return options


@pytest.mark.parametrize(
    ("name", "isolate"),
    [*((name, False) for name in {**WAYS, **FAST}), ("pipeline", True), ("dispatch, fast path", True)],
)
def test_packets_become_what_the_reference_says(client: DataPlaneClient, name: str, isolate: bool) -> None:
    shared = name.startswith(SHARED)
    config, _ = areas_of({**{**WAYS, **FAST}[name], "router": {**ROUTER, "isolate": isolate}})
    with running(client, config):
        for step in script(isolate):
            if step.hairpins and shared:
                continue
            entry = LEFT if step.direction == "outbound" else RIGHT
            arrived = exchange(client, {LEFT: [], RIGHT: [], entry: step.frames})
            for side, egress in ((RIGHT, OUTSIDE), (LEFT, INSIDE)):
                assert step.is_as_wanted(egress, arrived[side], shared=shared), side
            found = dropped(client.ledger())
            assert step.drops_as_wanted(found, shared=shared), (found, step.drops, step.late_drops)


@pytest.mark.parametrize("isolate", [False, True])
def test_the_packets_compared_are_of_all_kinds(isolate: bool) -> None:
    steps = script(isolate)
    assert sum(len(step.frames) for step in steps) > 700
    outwards = [step for step in steps if step.direction == "outbound"]
    turned_back = [frame for step in outwards if not step.hairpins for frame in step.wanted[INSIDE]]
    assert len(turned_back) > 20
    assert steps[-1].wanted[INSIDE]  # by their external addresses
    assert (steps[-1].drops[("acl", "denied")] > 50) is isolate
    reasons = {reason for _, reason in steps[-1].drops}
    assert {"malformed", "truncated", "no_mapping", "ttl_expired"} <= reasons
    assert sum(len(step.late[OUTSIDE]) + len(step.late[INSIDE]) for step in steps) > 20
    assert steps[-1].late_drops


def test_a_tenant_next_to_the_router_needs_no_next_hop(client: DataPlaneClient) -> None:
    router = {"tenants": [{"prefix": "10.1.0.0/24"}, {"prefix": "10.2.0.0/24"}], "external": "203.0.113.1/32"}
    config, _ = areas_of({"router": router})
    mac = {port["name"]: port["mac"] for port in config["ports"]}
    with running(client, config):
        across = exchange(client, {LEFT: [framed(IP(src=RED, dst=BLUE) / UDP())], RIGHT: []})[LEFT]
        out = exchange(client, {LEFT: [framed(IP(src=RED, dst=REMOTE) / UDP())], RIGHT: []})[RIGHT]
    assert across[0][:12].hex(":") == f"{mac['tester.left']}:{mac['f1.left']}"
    assert out[0][:12].hex(":") == f"{mac['tester.right']}:{mac['f1.right']}"


def test_ipv6_is_dropped_where_no_tenant_has_any(client: DataPlaneClient) -> None:
    router = {"tenants": [{"prefix": "10.1.0.0/24"}], "external": "203.0.113.1/32"}
    config, _ = areas_of({"router": router})
    with running(client, config):
        sent = list(routed_ipv6((RED6,), (REMOTE6,)))
        assert not any(exchange(client, {LEFT: sent, RIGHT: []}).values())
        assert dropped(client.ledger()) == {("nat", "not_ipv4"): len(sent)}
