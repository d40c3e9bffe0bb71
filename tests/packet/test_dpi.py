# SPDX-License-Identifier: Apache-2.0
"""dpi against its reference: verdicts packet by packet, and what was charged to whom."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from scapy.layers.dns import DNS, DNSQR
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket

from weir.protocol import DataPlaneError

from .dpi_reference import Inspector
from .frames import Sent, cut, framed
from .replay import Direction, Dropped, Forwarded, Options, Replay, replay

SUBSCRIBER, SERVER = "10.0.0.1", "198.51.100.1"
RULES = r"""
# content charging
10 permit flow tcp 10.0.0.0/8 203.0.113.0/24 any 443
11 drop flow udp any any any 6881-6889
12 drop flow icmp 10.0.0.66 any
13 label flow tcp any any any 8080
20 permit /^GET \/free\//
21 drop /forb[i1]dden/i
22 label /Host: [a-z.]+\.example/
23 drop /start.{1,20}end/s
24 label /^\x16\x03[\x00-\x03]/
25 drop /virus-[0-9]{3}/
"""
TEXTS = (
    b"GET /free/page HTTP/1.1\r\nHost: www.example\r\n\r\n forbidden ",
    b"GET /page HTTP/1.1\r\nHost: www.shop.example\r\nUser-Agent: none\r\n\r\n",
    b"POST /form HTTP/1.1\r\nHost: www.example.org\r\n\r\nthis is ForB1dden here",
    b"something that start\nsand\nends with virus-12 and virus-123",
    b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00" + bytes(range(64)),
    b"nothing of interest at all, only words and more words " * 3,
)
PACKETS_MAX, PAYLOAD_BYTES_MAX = 6, 200


def both_ways(
    text: bytes, sizes: Sequence[int], *, port: int = 4000, server_port: int = 80, src: str = SUBSCRIBER
) -> Iterator[Sent]:
    """A TCP connection: the handshake, `text` in segments of these sizes, an answer, and its end."""
    out, back = IP(src=src, dst=SERVER), IP(src=SERVER, dst=src)

    def to(flags: str, seq: int) -> ScapyPacket:
        return out / TCP(sport=port, dport=server_port, flags=flags, seq=seq)

    def fro(flags: str, seq: int) -> ScapyPacket:
        return back / TCP(sport=server_port, dport=port, flags=flags, seq=seq)

    yield "outbound", framed(to("S", 99))
    yield "inbound", framed(fro("SA", 499))
    at = 0
    for size in sizes:
        yield "outbound", framed(to("PA", 100 + at) / text[at : at + size])
        at += size
    yield "inbound", framed(fro("PA", 500) / b"HTTP/1.1 200 OK\r\n\r\n")
    yield "outbound", framed(to("PA", 100 + at) / b"the end")
    yield "outbound", framed(to("FA", 107 + at))
    yield "inbound", framed(fro("FA", 519))


def hand_made() -> Iterator[Sent]:
    """Texts cut everywhere, and packets that nobody should send."""
    port = 5000
    for text in TEXTS[:4]:
        for first in range(1, len(text), 7):
            port += 1
            yield from both_ways(text, (first, len(text) - first), port=port)
    for vlans in (1, 2, 3):
        yield (
            "outbound",
            framed(IP(src=SUBSCRIBER, dst=SERVER) / TCP(sport=4001, dport=8080) / b"x", vlans=vlans),
        )
    yield from both_ways(TEXTS[5], (len(TEXTS[5]),), port=4002, server_port=8080)
    yield from both_ways(TEXTS[2], (30, 50), port=4003, server_port=443)
    yield "outbound", framed(IP(src=SUBSCRIBER, dst="203.0.113.9") / TCP(dport=443, flags="PA") / TEXTS[2])
    for server_port in (6880, 6881, 6889, 6890, 53):
        yield (
            "outbound",
            framed(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4000, dport=server_port) / b"peer"),
        )
    for number in range(8):
        yield (
            "outbound",
            framed(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4004, dport=99) / f"forb{number}idd"),
        )
        yield "outbound", framed(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4005, dport=99) / b"")
    yield "outbound", framed(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4006, dport=99) / b"ForbIDDEN")
    for src in (SUBSCRIBER, "10.0.0.66"):
        yield "outbound", framed(IP(src=src, dst=SERVER) / ICMP(id=5) / b"ping")
        yield "inbound", framed(IP(src=SERVER, dst=src) / ICMP(type=0, id=5) / b"ping")
        yield "outbound", framed(IP(src=src, dst=SERVER) / ICMP(type=3, code=4) / IP() / UDP())
    yield "outbound", framed(IP(src=SUBSCRIBER, dst=SERVER, proto=47) / b"GRE, or so")
    yield (
        "outbound",
        framed(IP(src=SUBSCRIBER, dst=SERVER, options=[b"\x01" * 4]) / TCP(sport=4007) / b"forbidden"),
    )
    yield "outbound", framed(IPv6(dst="2001:db8::1") / TCP(dport=80) / b"forbidden")
    yield "outbound", framed(IPv6(dst="2001:db8::1", plen=2000) / TCP(dport=80))
    yield "outbound", framed(ARP(pdst=SERVER))
    yield from fragments(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4008, dport=99) / (b"forbidden" * 100))
    yield from fragments(IP(src=SUBSCRIBER, dst=SERVER) / UDP(sport=4009, dport=99) / (b"allowed!!" * 100))
    yield from cut(framed(IP(src=SUBSCRIBER, dst=SERVER) / TCP(sport=4010, dport=80) / b"forb", padded=False))


def fragments(datagram: ScapyPacket) -> Iterator[Sent]:
    """Its fragments in order, then again with another number and the last one first."""
    for number, backwards in ((7, False), (8, True)):
        datagram[IP].id = number
        pieces = datagram.fragment(256)
        for piece in reversed(pieces) if backwards else pieces:
            yield "outbound", framed(piece)


def generated(seed: int, count: int) -> Iterator[Sent]:
    """Connections that send texts in random pieces, some of them twice, late or never."""
    choose = random.Random(seed)
    texts = {(port, side): choose.choice(TEXTS) for port in range(1, 60) for side in ("outbound", "inbound")}
    at = dict.fromkeys(texts, 0)
    for _ in range(count):
        port, side = choose.choice(list(texts))
        way: Direction = "outbound" if side == "outbound" else "inbound"
        place = at[port, side]
        place = max(0, place + choose.choice((0, 0, 0, 0, -5, -20, 3)))
        piece = texts[port, side][place : place + choose.randrange(1, 40)]
        flags = choose.choice(("A", "PA", "PA", "PA", "PA", "PA", "FA", "R", "S")) if piece else "A"
        src, dst = f"10.0.0.{port % 5 + 1}", SERVER
        sport, dport = 1000 + port, 80
        if side == "inbound":
            src, dst, sport, dport = dst, src, dport, sport
        tcp = TCP(sport=sport, dport=dport, flags=flags, seq=(0xFFFFFFF0 + place) % 2**32)
        l4 = UDP(sport=sport, dport=dport) if port % 6 == 0 else tcp
        at[port, side] = max(at[port, side], place + len(piece))
        yield way, framed(IP(src=src, dst=dst) / l4 / piece)


@pytest.fixture(scope="module")
def rules_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dpi") / "rules"
    path.write_text(RULES)
    return path


def charged(chain: Replay) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, int]]]:
    packets: Counter[tuple[str, int]] = Counter()
    counted_bytes: Counter[tuple[str, int]] = Counter()
    for counter in chain.report("dpi0").counters:
        key = (counter.labels["subscriber"], int(counter.labels["rule"]))
        packets[key] += counter.packets
        counted_bytes[key] += counter.bytes
    return packets, counted_bytes


@pytest.mark.parametrize(
    ("made", "ipv6"),
    [pytest.param(hand_made, ipv6, id=f"hand-made-ipv6-{ipv6}") for ipv6 in ("drop", "forward")]
    + [pytest.param(partial(generated, seed, 1500), "drop", id=f"generated-{seed}") for seed in range(3)],
)
def test_verdicts_and_charges_are_those_of_the_reference(
    rules_file: Path, made: Callable[[], Iterator[Sent]], ipv6: str
) -> None:
    sent = list(made())
    reference = Inspector(
        RULES,
        packets_max=PACKETS_MAX,
        payload_bytes_max=PAYLOAD_BYTES_MAX,
        forwards_ipv6=ipv6 == "forward",
    )
    options: Options = {
        "rules_file": str(rules_file),
        "applications": False,
        "packets_max": PACKETS_MAX,
        "payload_bytes_max": PAYLOAD_BYTES_MAX,
        "ipv6": ipv6,
    }
    assert len(sent) >= 200
    with replay(("dpi", options)) as chain:
        outcomes = [chain.send(frame, direction) for direction, frame in sent]
        expected = [reference.decide(frame, direction) for direction, frame in sent]
        for number, (outcome, wanted) in enumerate(zip(outcomes, expected, strict=True)):
            assert outcome == wanted, f"packet {number}: {sent[number]}"
        assert charged(chain) == (reference.packets, reference.bytes)
    kinds = {outcome.reason if isinstance(outcome, Dropped) else "forwarded" for outcome in outcomes}
    assert {"forwarded", "content_rule"} <= kinds


def client_hello(name: bytes) -> bytes:
    """RFC 8446, section 4.1.2, in one record."""

    def counted(content: bytes, bytes_of_length: int = 2) -> bytes:
        return len(content).to_bytes(bytes_of_length, "big") + content

    extensions = b"\x00\x00" + counted(counted(b"\x00" + counted(name)))  # server_name, RFC 6066
    extensions += b"\x00\x0a" + counted(counted(b"\x00\x1d"))  # supported_groups: x25519
    body = (
        b"\x03\x03"
        + bytes(range(32))
        + b"\x00"
        + counted(b"\x13\x01\x13\x02")
        + b"\x01\x00"
        + counted(extensions)
    )
    return b"\x16\x03\x01" + counted(b"\x01" + counted(body, 3))


def test_applications_are_those_that_the_flows_are_made_of() -> None:
    ssh = b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"
    out, back = IP(src=SUBSCRIBER, dst=SERVER), IP(src=SERVER, dst=SUBSCRIBER)
    question = DNS(rd=1, qd=DNSQR(qname="www.example.org"))
    with replay(("dpi", {"packets_max": 2})) as chain:
        for direction, packet in (
            ("outbound", out / TCP(sport=4000, dport=80, flags="PA", seq=1) / TEXTS[1]),
            (
                "outbound",
                out / TCP(sport=4001, dport=443, flags="PA", seq=1) / client_hello(b"www.example.org"),
            ),
            ("outbound", out / UDP(sport=4002, dport=53) / question),
            ("inbound", back / TCP(sport=22, dport=4003, flags="PA", seq=1) / ssh),
            ("outbound", out / TCP(sport=4003, dport=22, flags="PA", seq=1) / ssh),
            ("outbound", out / ICMP(id=5) / b"ping"),
        ):
            way: Direction = "outbound" if direction == "outbound" else "inbound"
            frame = framed(packet)
            assert chain.send(frame, way) == Forwarded(frame)
        for port, server_port in ((4000, 80), (4001, 443), (4002, 53)):
            l4 = UDP if server_port == 53 else TCP
            chain.send(framed(out / l4(sport=port, dport=server_port) / b"more"))
        names = {counter.labels["application"] for counter in chain.report("dpi0").counters}
    assert names == {"HTTP", "TLS", "DNS", "SSH", "ICMP"}


def test_rules_change_while_flows_stay(tmp_path: Path) -> None:
    path = tmp_path / "rules"
    path.write_text("1 drop /bad/\n")
    bad, more, word = (
        framed(IP(src=SUBSCRIBER, dst=SERVER) / TCP(sport=4000, flags="PA", seq=seq) / text)
        for seq, text in ((1, b"bad"), (4, b"more"), (8, b"word"))
    )
    with replay(("dpi", {"rules_file": str(path), "flows_max": 64})) as chain:
        assert chain.send(bad) == Dropped("content_rule", "dpi")
        path.write_text("2 drop /word/\n")
        chain.command("dpi0", "rules-load", rules_file=str(path))
        assert chain.send(more, at_s=2) == Forwarded(more)
        assert chain.send(word, at_s=2) == Dropped("content_rule", "dpi")
        path.write_text("2 drop /(word/\n")
        with pytest.raises(DataPlaneError, match="rules:1: "):
            chain.command("dpi0", "rules-load", rules_file=str(path))
        assert chain.send(word, at_s=2) == Dropped("content_rule", "dpi")
