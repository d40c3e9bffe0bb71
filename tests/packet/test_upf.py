# SPDX-License-Identifier: Apache-2.0
"""upf and gnb against Scapy's GTP-U: what leaves a tunnel is the user's packet, byte by byte, and Scapy reads
what enters one as it was meant."""

from __future__ import annotations

import random
from typing import Any

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from .frames import cut, framed
from .replay import Direction, Dropped, Forwarded, Options, replay

N3, GNB, SERVER = "192.0.2.1", "192.0.2.2", "203.0.113.9"
TEID_FIRST, GNB_TEID_FIRST = 0x1000, 0x9000
OPTIONS: Options = {
    "n3_address": N3,
    "gnb_address": GNB,
    "sessions": 300,
    "ue_first_address": "10.45.0.1",
    "teid_first": TEID_FIRST,
    "gnb_teid_first": GNB_TEID_FIRST,
    "qfi": 5,
}
OUTER_BYTES = 44


def ue(number: int) -> str:
    return f"10.45.{(number + 1) // 256}.{(number + 1) % 256}"


def tunnel(number: int, user: ScapyPacket, **fields: Any) -> ScapyPacket:
    """What a gNB sends of that session, by Scapy; with `qfi` a PDU session container."""
    qfi = fields.pop("qfi", None)
    header = GTP_U_Header(teid=TEID_FIRST + number, gtp_type=255, **fields)
    if qfi is not None:
        header = header / GTPPDUSessionContainer(type=1, QFI=qfi)
    return IP(src=GNB, dst=N3) / UDP(sport=2152, dport=2152) / header / user


def users(number: int) -> list[ScapyPacket]:
    """Packets that a UE may send."""
    ip = IP(src=ue(number), dst=SERVER, ttl=17, tos=0x28)
    return [
        ip / UDP(sport=4000, dport=53) / b"?",
        ip / TCP(sport=4001, dport=443, flags="S"),
        ip / TCP(sport=4001, dport=443, flags="PA") / (b"x" * 1300),
        ip / ICMP(id=7) / b"ping",
        IP(src=ue(number), dst=SERVER, options=[b"\x01" * 4]) / UDP(sport=1, dport=2),
        IP(src=ue(number), dst=SERVER, frag=20, flags="MF", proto=17) / (b"piece" * 8),
        IP(src=ue(number), dst=SERVER, proto=50) / b"ESP, or so",
    ]


@pytest.mark.parametrize("fields", [{}, {"qfi": 5}, {"qfi": 63, "S": 1, "seq": 9}, {"PN": 1, "npdu": 3}])
@pytest.mark.parametrize("vlans", [0, 2])
def test_what_leaves_a_tunnel_is_the_users_packet(fields: dict[str, int], vlans: int) -> None:
    numbers = (0, 1, 255, 299)
    sent = [
        (framed(tunnel(number, user, **fields), vlans=vlans), framed(user, vlans=vlans))
        for number in numbers
        for user in users(number)
    ]
    with replay(("upf", OPTIONS)) as chain:
        outcomes = chain.send_all([frame for frame, _ in sent])
        counted = {
            counter.labels["direction"]: (counter.packets, counter.bytes)
            for counter in chain.report("upf0").counters
        }
    assert outcomes == [Forwarded(expected) for _, expected in sent]
    assert counted == {
        "uplink": (len(sent), sum(len(user) for number in numbers for user in users(number))),
        "downlink": (0, 0),
    }


def answers(number: int) -> list[ScapyPacket]:
    """Packets that are for a UE."""
    ip = IP(src=SERVER, dst=ue(number), ttl=9)
    return [
        ip / UDP(sport=53, dport=4000) / b"!",
        ip / TCP(sport=443, dport=4001, flags="SA"),
        ip / TCP(sport=443, dport=4001, flags="PA") / (b"y" * 1400),
        IP(src=SERVER, dst=ue(number), frag=3, proto=17) / b"the rest of it",
    ]


@pytest.mark.parametrize("vlans", [0, 1])
@pytest.mark.parametrize("container", [True, False])
def test_scapy_reads_in_a_tunnel_what_was_for_the_user(vlans: int, container: bool) -> None:
    numbers = (0, 7, 299)
    packets = [(number, packet) for number in numbers for packet in answers(number)]
    frames = [framed(packet, vlans=vlans) for _, packet in packets]
    with replay(("upf", {**OPTIONS, "pdu_session_container": container})) as chain:
        outcomes = chain.send_all(frames, "inbound")
    for (number, packet), outcome, frame in zip(packets, outcomes, frames, strict=True):
        assert isinstance(outcome, Forwarded)
        seen = Ether(outcome.frame)
        assert bytes(seen)[:12] == frame[:12]
        assert (Dot1Q in seen) == bool(vlans)
        outer, gtp = seen[IP], seen[GTP_U_Header]
        assert (outer.src, outer.dst, outer.ttl, outer.flags) == (N3, GNB, 64, "DF")
        assert outer.chksum == IP(bytes(rebuilt(outer))).chksum
        assert (outer[UDP].sport, outer[UDP].dport, outer[UDP].chksum) == (2152, 2152, 0)
        assert outer.len == len(bytes(outer)) == outer[UDP].len + 20
        assert (gtp.teid, gtp.gtp_type) == (GNB_TEID_FIRST + number, 255)
        assert gtp.length == len(bytes(gtp)) - 8
        assert (GTPPDUSessionContainer in gtp) == container
        if container:
            assert (gtp[GTPPDUSessionContainer].type, gtp[GTPPDUSessionContainer].QFI) == (0, 5)
        assert outcome.frame.endswith(bytes(packet))


def test_a_frame_as_long_as_a_request_may_say_is_told_with_its_tunnel_around_it() -> None:
    user = IP(src=SERVER, dst=ue(3)) / UDP(sport=53, dport=4000)
    frame = framed(user / (b"z" * (2048 - len(bytes(user)) - 14)))
    assert len(frame) == 2048
    with replay(("upf", OPTIONS)) as chain:
        (outcome,) = chain.send_all([frame], "inbound")
    assert isinstance(outcome, Forwarded)
    assert len(outcome.frame) == len(frame) + OUTER_BYTES
    assert outcome.frame.endswith(frame[-2000:])


def rebuilt(packet: ScapyPacket) -> ScapyPacket:
    """The same with a checksum that Scapy works out."""
    again = packet.copy()
    del again.chksum
    return again


def test_what_a_gnb_puts_into_tunnels_a_upf_takes_out_of_them_both_ways() -> None:
    dice = random.Random(5)
    up = [framed(packet) for number in range(0, 300, 11) for packet in users(number)]
    down = [framed(packet) for number in range(0, 300, 13) for packet in answers(number)]
    sizes = [
        framed(IP(src=ue(3), dst=SERVER) / UDP(sport=1, dport=2) / dice.randbytes(size))
        for size in range(0, 1400, 37)
    ]
    with replay(("gnb", OPTIONS), ("upf", OPTIONS)) as chain:
        assert chain.send_all(up + sizes) == [Forwarded(frame) for frame in up + sizes]
        assert chain.send_all(down, "inbound") == [Forwarded(frame) for frame in down]


def test_what_is_nobodys_is_dropped_for_its_reason() -> None:
    user = IP(src=ue(1), dst=SERVER) / UDP()
    outbound = {
        "spoofed": tunnel(0, user),
        "unknown_teid": tunnel(300, user),
        "not_gtpu": IP(src=GNB, dst=N3) / UDP(dport=53),
        "malformed": tunnel(1, Raw(bytes(user)[:19])),
        "outer_fragment": IP(src=GNB, dst=N3, flags="MF") / UDP(sport=2152, dport=2152) / bytes(40),
    }
    with replay(("upf", OPTIONS)) as chain:
        for reason, packet in outbound.items():
            assert chain.send(framed(packet)) == Dropped(reason, "upf"), reason
        assert chain.send(framed(IPv6() / UDP()), "inbound") == Dropped("unknown_ue", "upf")
        assert chain.send(framed(IP(dst="10.45.2.0") / UDP()), "inbound") == Dropped("unknown_ue", "upf")
        directions: tuple[Direction, ...] = ("outbound", "inbound")
        for direction in directions:
            arp = framed(ARP(pdst=N3))
            assert chain.send(arp, direction) == Forwarded(arp)


def test_frames_cut_or_changed_anywhere_are_dropped_or_lead_to_a_users_own_packet() -> None:
    dice = random.Random(7)
    whole = framed(tunnel(4, IP(src=ue(4), dst=SERVER) / UDP(sport=5, dport=6) / bytes(30), qfi=5))
    frames = [frame for _, frame in cut(whole)]
    for _ in range(2000):
        changed = bytearray(whole)
        changed[dice.randrange(14, len(changed))] ^= 1 << dice.randrange(8)
        frames.append(bytes(changed))
    passed = 0
    with replay(("upf", {**OPTIONS, "error_indications_pps": 0})) as chain:
        for frame, outcome in zip(frames, chain.send_all(frames), strict=True):
            if isinstance(outcome, Forwarded) and outcome.frame != frame:
                passed += 1
                assert Ether(outcome.frame)[IP].src == ue(4)
    assert 500 < passed < 2000
