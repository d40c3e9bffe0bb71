# SPDX-License-Identifier: Apache-2.0
"""policer against its reference: who passes, to the packet, at times of the test's own."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket

from .frames import framed
from .policer_reference import Meter, Policer, SrTcm, TrTcm, TrTcm4115
from .replay import Direction, Dropped, Forwarded, replay

SRTCM = "cir_bps=2000000 cbs_bytes=4000 ebs_bytes=3000"
TRTCM = "cir_bps=1000000 pir_bps=3000000 cbs_bytes=2000 pbs_bytes=5000"
RFC4115 = "cir_bps=1000000 eir_bps=500000 cbs_bytes=2500 ebs_bytes=2500"
FAST = "cir_bps=4000000000 cbs_bytes=3000 ebs_bytes=3000"


def numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (word.split("=") for word in text.split())}


def tenants(tsc_hz: int) -> dict[str, dict[str, Meter]]:
    made: dict[str, Callable[[], Meter]] = {
        "10.1.0.0/16": lambda: SrTcm(tsc_hz, **numbers(SRTCM)),
        "10.1.7.0/24": lambda: TrTcm(tsc_hz, **numbers(TRTCM)),
        "vlan:100": lambda: TrTcm4115(tsc_hz, **numbers(RFC4115)),
        "default": lambda: SrTcm(tsc_hz, **numbers(FAST)),
    }
    return {name: {way: make() for way in ("outbound", "inbound")} for name, make in made.items()}


TENANTS = "\n".join(
    (
        f"10.1.0.0/16 srtcm {SRTCM}",
        f"10.1.7.0/24 trtcm {TRTCM}",
        f"vlan:100 trtcm-4115 {RFC4115}",
        f"default srtcm {FAST}",
    )
)


def traffic(count: int, seed: int) -> list[tuple[Direction, bytes]]:
    """Packets of all tenants, sizes, colours and kinds; some cut, some without an IP header."""
    dice = random.Random(seed)
    sent: list[tuple[Direction, bytes]] = []
    for _ in range(count):
        inside = dice.choice(("10.1.0.5", "10.1.7.9", "10.1.7.10", "10.9.0.1"))
        direction: Direction = dice.choice(("outbound", "outbound", "inbound"))
        src, dst = (inside, "192.0.2.1") if direction == "outbound" else ("192.0.2.1", inside)
        tos = dice.choice((0, 10, 12, 14, 20, 30, 46)) << 2
        layer = dice.choice((UDP, TCP))()
        packet: ScapyPacket = IP(tos=tos, src=src, dst=dst) / layer / dice.randbytes(dice.randrange(1200))
        other = dice.randrange(20)
        if other == 0:
            packet = ARP(pdst=inside)
        elif other == 1:
            packet = IPv6(dst="2001:db8::1", tc=tos) / UDP()
        frame = framed(packet, vlans=dice.randrange(2), padded=dice.random() < 0.5)
        sent.append((direction, frame[: dice.randrange(14, 40)] if other == 2 else frame))
    return sent


@pytest.mark.parametrize(
    ("drop", "dropped", "aware"),
    [
        ("red", ("red",), False),
        ("yellow-and-red", ("yellow", "red"), False),
        ("yellow-and-red", ("yellow", "red"), True),
    ],
)
def test_who_passes_is_what_the_reference_says(
    drop: str, dropped: tuple[str, ...], aware: bool, tmp_path: Path
) -> None:
    dice = random.Random(7)
    seen: set[str] = set()
    file = tmp_path / "tenants"
    file.write_text(TENANTS)
    with replay(("policer", {"tenants_file": str(file), "drop": drop, "colour_aware": aware})) as chain:
        tsc_hz = chain.tsc_hz()
        expected = Policer(tenants(tsc_hz), drop=dropped, colour_aware=aware)
        at_us = 1_000_000
        for direction, frame in traffic(400, seed=3):
            at_us += dice.choice((0, 10, 300, 3000))
            outcome = chain.send(frame, direction, at_s=at_us / 1e6)
            says = expected.handle(frame, direction, at_us * tsc_hz // 1_000_000)
            assert outcome == says, f"{direction} at {at_us} us: {frame.hex()}"
            seen.add(outcome.reason if isinstance(outcome, Dropped) else "forwarded")
    assert seen == {"forwarded", *dropped}


def test_without_a_default_tenant_others_pass() -> None:
    frame = framed(IP(src="192.0.2.9") / UDP())
    with replay(("policer", {"tenants": "10.1.0.0/16 srtcm cir_bps=8 cbs_bytes=1 ebs_bytes=0"})) as chain:
        assert chain.send_all([frame] * 10) == [Forwarded(frame)] * 10
        assert chain.send(framed(IP(src="10.1.0.1") / UDP())) == Dropped("red", "policer")
