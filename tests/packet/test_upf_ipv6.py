# SPDX-License-Identifier: Apache-2.0
"""UEs with IPv6 prefixes, of upf and gnb, against Scapy's GTP-U: byte by byte, of sessions of the options and
of those that an SMF of Scapy's sets up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Any

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
)
from scapy.layers.l2 import Ether
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from tests.polled_core import CORE
from weir import plan
from weir.lab import Lab
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from . import pfcp_messages as messages
from .control_plane import ControlPlane, cause, element
from .frames import framed
from .one_function import data_plane, running
from .pfcp_messages import pfcp
from .replay import Dropped, Forwarded, Options, Replay, replay

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

N3, GNB, SERVER = "192.0.2.1", "192.0.2.2", "203.0.113.9"
SERVER6 = "2001:db8:53::9"
FIRST = IPv6Address("2001:db8:1:fffd::")
OPTIONS: Options = {
    "sessions": 300,
    "ue_first_address": "10.45.0.1",
    "ue_first_prefix": f"{FIRST}/64",
    "teid_first": 0x1000,
    "gnb_teid_first": 0x9000,
    "qfi": 5,
}
ACCEPTED, INCORRECT, NOT_SUPPORTED = 1, 69, 76


def ue(number: int, interface: int = 0x5EED) -> str:
    """An address of UE `number`, counted from 0."""
    return str(FIRST + (number << 64) + interface)


def users(number: int) -> list[ScapyPacket]:
    """Packets that a UE may send."""
    ip = IPv6(src=ue(number), dst=SERVER6, hlim=17, tc=0x28, fl=0x12345)
    return [
        ip / UDP(sport=4000, dport=53) / b"?",
        ip / TCP(sport=4001, dport=443, flags="PA") / (b"x" * 1300),
        ip / ICMPv6EchoRequest(id=7, data=b"ping"),
        ip / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / UDP(sport=1, dport=2),
        ip / IPv6ExtHdrFragment(offset=20, m=1, nh=17) / (b"piece" * 8),
        IPv6(src=ue(number, interface=2**64 - 1), dst=SERVER6, nh=59),
    ]


def answers(number: int) -> list[ScapyPacket]:
    """Packets that are for a UE."""
    ip = IPv6(src=SERVER6, dst=ue(number, interface=1), hlim=9)
    return [
        ip / UDP(sport=53, dport=4000) / b"!",
        ip / TCP(sport=443, dport=4001, flags="PA") / (b"y" * 1400),
        ip / IPv6ExtHdrFragment(offset=3, nh=17) / b"the rest of it",
    ]


def tunnel(teid: int, user: ScapyPacket, vlans: int = 0) -> bytes:
    """What a gNB sends of that session, by Scapy."""
    header = GTP_U_Header(teid=teid, gtp_type=255) / GTPPDUSessionContainer(type=1, QFI=5)
    return framed(IP(src=GNB, dst=N3) / UDP(sport=2152, dport=2152) / header / user, vlans=vlans)


@pytest.mark.parametrize("vlans", [0, 1])
def test_what_leaves_a_tunnel_is_the_users_packet(vlans: int) -> None:
    numbers = (0, 2, 3, 299)  # the third one carries into the next word
    sent = [(number, user) for number in numbers for user in users(number)]
    with replay(("upf", OPTIONS)) as chain:
        outcomes = chain.send_all([tunnel(0x1000 + number, user, vlans=vlans) for number, user in sent])
        counted = {one.labels["direction"]: one.bytes for one in chain.report("upf0").counters}
    assert outcomes == [Forwarded(framed(user, vlans=vlans)) for _, user in sent]
    assert counted["uplink"] == sum(len(user) for _, user in sent)


def test_scapy_reads_in_a_tunnel_of_ipv4_what_was_for_the_user() -> None:
    packets = [(number, packet) for number in (0, 3, 299) for packet in answers(number)]
    with replay(("upf", OPTIONS)) as chain:
        outcomes = chain.send_all([framed(packet) for _, packet in packets], "inbound")
    for (number, packet), outcome in zip(packets, outcomes, strict=True):
        assert isinstance(outcome, Forwarded)
        seen = Ether(outcome.frame)
        assert (seen.type, seen[IP].src, seen[IP].dst) == (0x0800, N3, GNB)
        assert seen[IP].len == len(bytes(seen[IP])) == seen[UDP].len + 20
        again = seen[IP].copy()
        del again.chksum
        assert IP(bytes(again)).chksum == seen[IP].chksum
        assert (seen[GTP_U_Header].teid, seen[GTPPDUSessionContainer].QFI) == (0x9000 + number, 5)
        assert outcome.frame.endswith(bytes(packet))


@pytest.mark.parametrize("prefix", ["2001:db8:1:fffd::/64", "2001:db8:7::fff0/128", "2001:db8:100::/44"])
def test_both_versions_go_through_gnb_and_upf_in_one_batch(prefix: str) -> None:
    address, bits = prefix.split("/")
    step = 1 << (128 - int(bits))
    up: list[ScapyPacket] = []
    down: list[ScapyPacket] = []
    for number in range(0, 300, 7):
        of_ipv4 = f"10.45.{(number + 1) // 256}.{(number + 1) % 256}"
        of_ipv6 = str(IPv6Address(address) + number * step)
        up += [IP(src=of_ipv4, dst=SERVER) / UDP() / b"4", IPv6(src=of_ipv6, dst=SERVER6) / UDP() / b"six"]
        down += [IPv6(src=SERVER6, dst=of_ipv6) / UDP() / b"six", IP(src=SERVER, dst=of_ipv4) / UDP() / b"4"]
    options = {**OPTIONS, "ue_first_prefix": prefix}
    with replay(("gnb", options), ("upf", options)) as chain:
        assert chain.send_all([framed(one) for one in up]) == [Forwarded(framed(one)) for one in up]
        outcomes = chain.send_all([framed(one) for one in down], "inbound")
    assert outcomes == [Forwarded(framed(one)) for one in down]


def test_what_is_nobodys_or_not_whole_is_dropped_for_its_reason() -> None:
    whole = users(1)[0]
    dropped: dict[str, list[ScapyPacket]] = {
        "spoofed": [users(0)[0], IPv6(src="fe80::1", dst="ff02::2") / UDP(), IPv6(src="::", dst=SERVER6)],
        "malformed": [Raw(bytes(whole)[:-1]), Raw(bytes(whole)[:39]), Raw(b"\x60"), Raw(b"\x50" * 60)],
    }
    with replay(("upf", OPTIONS)) as chain:
        for reason, packets in dropped.items():
            for packet in packets:
                assert chain.send(tunnel(0x1001, packet)) == Dropped(reason, "upf"), (reason, packet)
        for nobody in (ue(300), str(FIRST - 1), "::", "fe80::1"):
            packet = IPv6(src=SERVER6, dst=nobody) / UDP()
            assert chain.send(framed(packet), "inbound") == Dropped("unknown_ue", "upf")


def test_the_maximum_bit_rate_is_of_both_versions_together() -> None:
    options = {**OPTIONS, "mbr_downlink_bps": 8, "mbr_burst_bytes": 100}
    of_ipv4 = IP(src=SERVER, dst="10.45.0.1") / UDP() / bytes(32)  # 60 bytes
    of_ipv6 = IPv6(src=SERVER6, dst=ue(0)) / UDP()  # 48 bytes
    with replay(("upf", options)) as chain:
        assert isinstance(chain.send(framed(of_ipv4), "inbound"), Forwarded)
        assert chain.send(framed(of_ipv6), "inbound") == Dropped("above_mbr", "upf")


def down(chain: Replay, user: ScapyPacket) -> object:
    """The tunnel and the QoS flow in which that for the UE leaves, or why it is dropped."""
    outcome = chain.send(framed(user), "inbound")
    if isinstance(outcome, Dropped):
        return outcome.reason
    assert outcome.frame.endswith(bytes(user))
    seen = Ether(outcome.frame)
    return seen[IP].dst, seen[GTP_U_Header].teid, seen[GTPPDUSessionContainer].QFI


def up(chain: Replay, teid: int, user: ScapyPacket) -> object:
    """None where it leaves the tunnel as it was sent, or why it is dropped."""
    outcome = chain.send(tunnel(teid, user))
    if isinstance(outcome, Dropped):
        return outcome.reason
    assert outcome == Forwarded(framed(user))
    return None


MINE6 = str(IPv6Address(messages.PREFIX) + 7)
UP4, UP6 = IP(src=messages.UE, dst=SERVER) / ICMP() / bytes(30), IPv6(src=MINE6, dst=SERVER6) / UDP()
DOWN4, DOWN6 = (
    IP(src=SERVER, dst=messages.UE) / ICMP(),
    IPv6(src=SERVER6, dst=MINE6) / UDP(sport=9, dport=4000),
)
IN_TUNNEL = (messages.GNB, 77, 9)


@needs_root
@pytest.mark.parametrize(
    ("ip", "prefix"),
    [(messages.UE, ""), ("", messages.PREFIX), (messages.UE, messages.PREFIX), ("", MINE6)],
)
def test_an_smf_sets_up_sessions_of_either_version_and_of_both(
    netns: str, chain: Replay, ip: str, prefix: str
) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, messages.of_versions(ip, prefix))
        assert cause(answer) == ACCEPTED
        teid, seid = element(answer, pfcp.IE_FTEID).TEID, element(answer, pfcp.IE_FSEID).seid
        assert up(chain, teid, UP4) == (None if ip else "spoofed")
        assert up(chain, teid, UP6) == (None if prefix else "spoofed")
        assert down(chain, DOWN4) == (IN_TUNNEL if ip else "unknown_ue")
        assert down(chain, DOWN6) == (IN_TUNNEL if prefix else "unknown_ue")
        assert cause(smf.ask(seid, messages.handover())) == ACCEPTED
        assert down(chain, DOWN6 if prefix else DOWN4) == (messages.OTHER_GNB, 4_000_000_000, 9)
        assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        assert down(chain, DOWN4) == down(chain, DOWN6) == "unknown_ue"
    assert chain.report("upf0").figures["chain"]["rules"] == 0  # none is asked: all go one way


@needs_root
def test_rules_are_of_the_version_whose_address_they_name(netns: str, chain: Replay) -> None:
    in_other = (messages.OTHER_GNB, 78, 9)
    dns = (messages.OTHER_GNB, 78, 5)
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, messages.a_rule_a_version())
        assert cause(answer) == ACCEPTED
        teid = element(answer, pfcp.IE_FTEID).TEID
        assert up(chain, teid, UP6) is None
        assert up(chain, teid, UP4) == "no_rule"
        assert down(chain, DOWN4) == IN_TUNNEL
        assert down(chain, DOWN6) == in_other
        assert down(chain, IPv6(src=SERVER6, dst=MINE6) / UDP(sport=53, dport=4000)) == dns
        assert down(chain, IPv6(src="2001:db8:54::9", dst=MINE6) / UDP(sport=53, dport=4000)) == in_other
        behind = IPv6(src=SERVER6, dst=MINE6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrFragment(m=1)
        assert down(chain, behind / UDP(sport=53, dport=4000)) == dns
        later = IPv6(src=SERVER6, dst=MINE6) / IPv6ExtHdrFragment(offset=4, nh=17)
        assert down(chain, later / bytes([0, 53, 0, 53])) == in_other
        assert down(chain, IPv6(src="2001:db8::1", dst=MINE6, fl=0x54321) / UDP()) == dns
        assert down(chain, IPv6(src="2001:db8::1", dst=MINE6, fl=0x54320) / UDP()) == in_other
        esp = bytes.fromhex("00001000")
        assert down(chain, IPv6(src="2001:db8::1", dst=MINE6, nh=50) / (esp + bytes(8))) == dns
        assert down(chain, IPv6(src="2001:db8::1", dst=MINE6, nh=50) / (esp[::-1] + bytes(8))) == in_other


@needs_root
def test_addresses_that_cannot_be_served_are_refused_and_named(netns: str, chain: Replay) -> None:
    delegated = pfcp.IE_UE_IP_Address(spare=1, SD=1, V6=1, ipv6=messages.PREFIX, extra_data=b"\x38")
    longer = pfcp.IE_UE_IP_Address(spare=8, SD=1, V6=1, ipv6=messages.PREFIX, extra_data=b"\x38")
    as_usual = pfcp.IE_UE_IP_Address(spare=8, SD=1, V6=1, ipv6=messages.PREFIX, extra_data=b"\x40")
    chosen = pfcp.IE_UE_IP_Address(spare=4, SD=1)
    neither = pfcp.IE_UE_IP_Address(SD=1)
    none = messages.ue_address(prefix="::", SD=1)
    with ControlPlane(netns) as smf:
        smf.associate()
        for address, expected in (
            (delegated, NOT_SUPPORTED),
            (longer, NOT_SUPPORTED),
            (chosen, NOT_SUPPORTED),
            (neither, INCORRECT),
            (none, INCORRECT),
        ):
            answer = smf.ask(0, with_address(address))
            assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (expected, 93)
        other = messages.a_rule_a_version()
        other.IE_list[4].IE_list[2] = pfcp.IE_PDI(IE_list=messages.for_ue("", "2001:db8:46:2::"))
        answer = smf.ask(0, other)
        assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (INCORRECT, 93)
        assert down(chain, DOWN6) == "unknown_ue"
        assert cause(smf.ask(0, with_address(as_usual))) == ACCEPTED
        assert down(chain, DOWN6) == IN_TUNNEL
        # The prefix is a UE's that has a session.
        assert cause(smf.ask(0, messages.of_versions())) == 73


def with_address(address: ScapyPacket) -> messages.Element:
    message = messages.of_versions()
    message.IE_list[3].IE_list[2].IE_list[1] = address
    return message


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def through_workers() -> dict[str, Any]:
    """A gnb, and behind it a upf of three workers, of UEs with an address and a prefix each."""
    options = {"sessions": 9, "ue_first_prefix": "2001:db8:1::/64"}
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "ipv6",
            "chain": [["ran", "upf"]],
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {
                "ran": {"nf": "gnb", "options": options},
                "upf": {"nf": "upf", "options": options, "architecture": "dispatch", "workers": 3},
            },
            "cores": {"tester": [CORE], "functions": [CORE], "switch": [CORE]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "ipv6-00000000")
    return plan.configure(topology, lab).arguments()


def streams(number: int) -> list[dict[str, Any]]:
    """Of one UE: each version of IP, up and down."""
    ends = ((f"10.45.0.{1 + number}", SERVER), (f"2001:db8:1:{number:x}::1", SERVER6))
    sides = ("tester.left", "tester.right")
    made: list[dict[str, Any]] = []
    for ip, addresses in zip((4, 6), ends, strict=True):
        for way in (0, 1):
            template = {
                "ip": ip,
                "src_mac": "02:00:00:00:00:01",
                "dst_mac": "02:00:00:00:00:02",
                "src_ip": addresses[way],
                "dst_ip": addresses[1 - way],
            }
            where = {"port": sides[way], "to": sides[1 - way]}
            made.append({"id": len(made), **where, "frame": {"bytes": 128}, "template": template})
    return made


@pytest.mark.parametrize("number", [0, 4, 8])
def test_both_versions_of_a_ue_meet_at_one_worker_both_ways(client: DataPlaneClient, number: int) -> None:
    offered = streams(number)
    with running(client, through_workers()):
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        client.start_traffic({one["id"]: 2_000 for one in offered}, 50_000_000, 20_000_000)
        while (result := client.traffic_result(1)) is None:
            pass
        areas = client.ledger().areas
    arrived = {one.id: one.delivered for one in result.streams}
    assert all(arrived[one["id"]] > 50 for one in offered)
    busy = {
        one.name: sum(path.stages[0].packets_in for path in one.paths)
        for one in areas
        if one.name.startswith("f2.worker")
    }
    assert sorted(busy) == [f"f2.worker{worker}" for worker in range(3)]
    assert busy == {name: sum(arrived.values()) if name[-1] == str(number % 3) else 0 for name in busy}
