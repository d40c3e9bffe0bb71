# SPDX-License-Identifier: Apache-2.0
"""Fields that change from packet to packet, through a chain that is really there: every packet is accounted
for, and Scapy finds the values that were asked for and right checksums on the wire."""

from __future__ import annotations

import os
import struct

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from weir.lab import Lab
from weir.lab.packet_fields import PacketFields

from .sniffing import Sniffing
from .tiny import tiny_lab
from .trials import standing, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

LOAD_PPS, DURATION_S = 2000, 0.3
PORTS, SHARES = (53, 443), (1, 9)
TTLS, DSCPS = (1, 64, 255), (0, 10, 46)
FIELDS = {
    "src_ip": {"prefix": "198.18.4.0/24"},
    "dst_ip": {"first": "198.19.0.10", "last": "198.19.0.12", "order": "in-turn"},
    "src_port": {"first": 1024, "last": 65535},
    "dst_port": {"values": PORTS, "weights": SHARES},
    "dscp": {"values": DSCPS},
    "ttl": {"values": TTLS, "order": "in-turn"},
    "payload_byte": {"first": 0, "last": 255},
}
Tuple = tuple[str, int, str, int]


def lab_of(technology: str) -> Lab:
    tiny = tiny_lab(technology)
    fields = PacketFields.model_validate(FIELDS)
    traffic = tiny.traffic.model_copy(update={"frames": ("129",), "fields": fields})
    return tiny.model_copy(update={"traffic": traffic})


@pytest.mark.parametrize("technology", ["direct", "linux-bridge"])
@pytest.mark.usefixtures("run_root")
def test_every_packet_with_fields_of_its_own_is_accounted_for(technology: str) -> None:
    (trial,) = trials_of(lab_of(technology), 1, LOAD_PPS, DURATION_S, drain_ms=300)
    assert trial.delivered == trial.offered > 0, trial.invalid_because
    assert trial.unaccounted == 0
    assert not any("changed" in why or "differ" in why for why in trial.invalid_because)


@pytest.mark.usefixtures("run_root")
def test_scapy_reads_what_was_asked_for_and_each_answer_is_of_its_packet() -> None:
    right: list[bytes] = []
    left: list[bytes] = []
    with standing(lab_of("linux-bridge"), lambda _trial: None, drain_ms=300) as (deployment, runner):
        assert deployment.topology is not None
        ends = [deployment.topology.port(f"tester.{side}") for side in ("right", "left")]
        with (
            Sniffing(ends[0].netns or "", ends[0].interface or "", right),
            Sniffing(ends[1].netns or "", ends[1].interface or "", left),
        ):
            runner.run("curve", LOAD_PPS, DURATION_S)
    there = {sequence_of(one): one for one in map(checked, stamped(right))}
    back = {sequence_of(one): one for one in map(checked, stamped(left))}
    assert len(there) > 100
    assert len(back) > 100
    for number, packet in there.items():
        assert packet[IP].src.startswith("198.18.4.")
        assert packet[IP].dst == f"198.19.0.{10 + number % 3}"
        assert packet[UDP].dport in PORTS
        assert packet[UDP].sport >= 1024
        assert packet[IP].ttl == TTLS[number % 3]
        assert packet[IP].tos >> 2 in DSCPS
        behind = bytes(packet[UDP].payload)[18:]
        assert behind == behind[:1] * (125 - 42 - 18)
    both = there.keys() & back.keys()
    assert len(both) > 100
    assert all(tuple_of(there[one]) == tuple_of(back[one], back=True) for one in both)
    assert len({tuple_of(one) for one in there.values()}) > 0.99 * len(there)
    assert len({bytes(one[UDP].payload)[18] for one in there.values()}) > 50
    secure = sum(one[UDP].dport == PORTS[1] for one in there.values()) / len(there)
    assert 0.75 < secure < 0.99  # 0.9 of 300 draws at least


def stamped(frames: list[bytes]) -> list[Packet]:
    """Weir's own, not the kernel's."""
    found = [Ether(frame) for frame in frames]
    return [one for one in found if IP in one and UDP in one and len(one) == 125]


def checked(packet: Packet) -> Packet:
    """Which Scapy would give the same checksums."""
    made = packet.copy()
    del made[IP].chksum, made[UDP].chksum
    assert bytes(made) == bytes(packet)
    return packet


def sequence_of(packet: Packet) -> int:
    (number,) = struct.unpack_from("<I", bytes(packet[UDP].payload), 6)
    return int(number)


def tuple_of(packet: Packet, *, back: bool = False) -> Tuple:
    ip, udp = packet[IP], packet[UDP]
    if back:
        return ip.dst, udp.dport, ip.src, udp.sport
    return ip.src, udp.sport, ip.dst, udp.dport
