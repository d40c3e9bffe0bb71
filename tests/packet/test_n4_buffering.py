# SPDX-License-Identifier: Apache-2.0
"""Packets to a UE that cannot be reached wait; an SMF of Scapy's is told, and says what becomes of them. Each
one is somewhere: sent, dropped for its reason, or waiting."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from . import pfcp_buffer_messages as waiting
from . import pfcp_messages as messages
from .control_plane import N4, ControlPlane, cause, element, elements
from .frames import framed
from .pfcp_messages import Element, pfcp
from .polled import Polled, polled
from .test_n4_usage import set_up

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

SERVER, UE, OTHER_UE = "203.0.113.9", messages.UE, "10.46.0.2"
ACCEPTED, RULE_FAILURE, NOT_SUPPORTED = 1, 73, 76
NEW = (messages.OTHER_GNB, 88)
OLD = (messages.GNB, 77)
OPTIONS = {
    "sessions": 0,
    "sessions_max": 300,
    "n4_address": N4,
    "buffer_packets": 40,
    "buffer_packets_max": 50,
}


@pytest.fixture
def chain(netns: str) -> Iterator[Polled]:
    """A upf without sessions, controlled from that namespace; it keeps 40 packets of a session, 50 in all."""
    with polled([{"nf": "upf", "options": OPTIONS}]) as running:
        running.listen("upf", f"/run/netns/{netns}")
        yield running
        running.drops()  # it balances at the end, too


@pytest.fixture
def smf(netns: str, chain: Polled) -> Iterator[ControlPlane]:
    assert chain.report("upf").figures["f1"]["packets_waiting"] == 0
    with ControlPlane(netns) as one:
        one.associate()
        yield one


def numbered(first: int, count: int, ue: str = UE, port: int = 4000) -> list[bytes]:
    """Packets for a UE, each with its number."""
    return [
        framed(IP(src=SERVER, dst=ue) / UDP(sport=53, dport=port) / f"packet {number:05}".encode())
        for number in range(first, first + count)
    ]


def sent(chain: Polled, frames: list[bytes]) -> list[tuple[tuple[str, int], int]]:
    """In which tunnel, and which number, is what arrives at the gNBs after that; each is whole."""
    arrived, _ = chain.passes(right=frames)
    return [seen(frame) for frame in arrived]


def seen(frame: bytes) -> tuple[tuple[str, int], int]:
    outer = Ether(frame)
    tunnel = outer[IP].dst, outer[GTP_U_Header].teid
    assert outer[IP].len == len(bytes(outer[IP]))
    inside = outer[GTPPDUSessionContainer].payload
    assert inside[IP].dst in (UE, OTHER_UE)
    return tunnel, int(bytes(inside[UDP].payload)[7:12])


def drop_of(chain: Polled, *reasons: str) -> tuple[int, ...]:
    """How many were dropped for each; nothing else was."""
    found = chain.drops()
    assert not set(found) - set(reasons), found
    return tuple(found.get(reason, 0) for reason in reasons)


def in_tunnel(tunnel: tuple[str, int], *numbers: range) -> list[tuple[tuple[str, int], int]]:
    return [(tunnel, number) for some in numbers for number in some]


def open_gates(message: Element) -> Element:
    """The session of `messages.establishment` without its QER."""
    message.IE_list = [one for one in message.IE_list if not isinstance(one, pfcp.IE_CreateQER)]
    for one in message.IE_list:
        if isinstance(one, pfcp.IE_CreatePDR):
            one.IE_list = [each for each in one.IE_list if not isinstance(each, pfcp.IE_QER_Id)]
    return message


def established(smf: ControlPlane) -> int:
    return set_up(smf, open_gates(messages.establishment()))[0]


def test_what_waits_is_told_once_and_leaves_in_its_order_before_what_comes_then(
    chain: Polled, smf: ControlPlane
) -> None:
    seid = established(smf)
    assert sent(chain, numbered(0, 3)) == in_tunnel(OLD, range(3))
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(3, 5)) == []
    assert (chain.waiting(), drop_of(chain)) == (5, ())
    told = smf.report()
    assert element(told, pfcp.IE_ReportType).DLDR == 1
    assert [one.id for one in elements(told) if isinstance(one, pfcp.IE_PDR_Id)] == [waiting.DOWNLINK_PDR]
    assert bytes(told) == messages.of_session(messages.CP_SEID, told.seq, waiting.told(waiting.DOWNLINK_PDR))
    smf.accept(told, seid)
    assert sent(chain, numbered(8, 30)) == []
    assert chain.report("upf").figures["f1"]["packets_waiting"] == 35
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    assert sent(chain, numbered(38, 20)) == in_tunnel(NEW, range(3, 58))
    assert (chain.waiting(), drop_of(chain)) == (0, ())
    assert smf.hears_nothing()
    passed = {one.labels["direction"]: one.packets for one in chain.report("upf").counters}
    assert passed["downlink"] == 58
    assert chain.report("upf").figures["f1"]["n4_reports_accepted"] == 1


def test_a_session_may_begin_without_a_tunnel_and_wait_for_one(chain: Polled, smf: ControlPlane) -> None:
    seid, _ = set_up(smf, waiting.established_idle())
    assert sent(chain, numbered(0, 2)) == []
    assert element(smf.report(), pfcp.IE_PDR_Id).id == 21
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED  # it is to be told again
    assert sent(chain, numbered(2, 1)) == []
    assert element(smf.report(), pfcp.IE_PDR_Id).id == 21
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    assert sent(chain, numbered(3, 1)) == in_tunnel(NEW, range(4))


def test_without_a_request_for_it_nobody_is_told(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    assert cause(smf.ask(seid, waiting.idle(notify=False))) == ACCEPTED
    assert sent(chain, numbered(0, 2)) == []
    assert smf.hears_nothing()
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(2, 1)) == []
    assert element(smf.report(), pfcp.IE_ReportType).DLDR == 1
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    assert sent(chain, []) == in_tunnel(NEW, range(3))


def test_a_full_buffer_drops_what_comes_then(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    other = open_gates(messages.establishment(ue=OTHER_UE))
    other_seid, _ = set_up(smf, other)
    for one in (seid, other_seid):
        assert cause(smf.ask(one, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(0, 45)) == []
    assert (chain.waiting(), *drop_of(chain, "buffer_full")) == (40, 5)
    assert sent(chain, numbered(100, 15, ue=OTHER_UE)) == []  # there is room for ten more
    assert (chain.waiting(), *drop_of(chain, "buffer_full")) == (50, 10)
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    assert sent(chain, []) == in_tunnel(NEW, range(40))
    assert cause(smf.ask(other_seid, waiting.reachable(teid=99))) == ACCEPTED
    assert sent(chain, numbered(0, 1)) == [
        *in_tunnel((messages.OTHER_GNB, 99), range(100, 110)),
        *in_tunnel(NEW, range(1)),
    ]
    assert drop_of(chain, "buffer_full") == (10,)


def test_a_bar_says_how_many_may_wait(chain: Polled, smf: ControlPlane) -> None:
    seid, _ = set_up(smf, waiting.established_idle(packets=3))
    assert sent(chain, numbered(0, 5)) == []
    assert (chain.waiting(), *drop_of(chain, "buffer_full")) == (3, 2)
    assert cause(smf.ask(seid, waiting.bar_of(4))) == ACCEPTED
    assert sent(chain, numbered(5, 5)) == []
    assert (chain.waiting(), *drop_of(chain, "buffer_full")) == (4, 6)
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    assert sent(chain, []) == in_tunnel(NEW, range(3), range(5, 6))


def test_an_action_to_drop_drops_what_waits(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(0, 4)) == []
    assert cause(smf.ask(seid, waiting.dropped())) == ACCEPTED
    assert sent(chain, numbered(4, 1)) == []
    assert (chain.waiting(), *drop_of(chain, "forwarding_action")) == (0, 5)


@pytest.mark.parametrize("then", ["reachable", "idle", "flag"])
def test_drobu_drops_what_waits_before_the_new_action(chain: Polled, smf: ControlPlane, then: str) -> None:
    seid = established(smf)
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(0, 4)) == []
    request = {
        "reachable": waiting.reachable(DROBU=1),
        "idle": waiting.idle(DROBU=1),
        "flag": waiting.flagged(DROBU=1),
    }[then]
    assert cause(smf.ask(seid, request)) == ACCEPTED
    assert sent(chain, numbered(4, 2)) == (in_tunnel(NEW, range(4, 6)) if then == "reachable" else [])
    assert drop_of(chain, "waited_in_vain") == (4,)
    if then != "reachable":
        assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
        assert sent(chain, []) == in_tunnel(NEW, range(4, 6))


def test_the_answer_to_a_report_may_drop_what_waits(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(0, 4)) == []
    told = smf.report()
    smf.tell_nothing(messages.of_session(seid, told.seq, waiting.taken_and_dropped()))
    time.sleep(0.1)
    assert sent(chain, numbered(4, 1)) == []
    assert (chain.waiting(), *drop_of(chain, "waited_in_vain")) == (1, 4)


def test_what_waits_ends_with_its_session(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert sent(chain, numbered(0, 4)) == []
    assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
    assert sent(chain, numbered(4, 1)) == []
    assert (chain.waiting(), *drop_of(chain, "waited_in_vain", "unknown_ue")) == (0, 4, 1)


def test_of_rules_by_flow_each_has_its_own_queue_and_name(chain: Polled, smf: ControlPlane) -> None:
    message = messages.bearers()
    seid, _ = set_up(smf, message)
    assert cause(smf.ask(seid, waiting.idle(far=14))) == ACCEPTED  # DNS alone
    others = [framed(IP(src="203.0.113.10", dst=UE) / UDP(sport=53, dport=1) / b"packet 00077")]
    assert sent(chain, [*numbered(0, 2), *others]) == in_tunnel(OLD, range(77, 78))
    assert element(smf.report(), pfcp.IE_PDR_Id).id == 21
    assert cause(smf.ask(seid, waiting.reachable(far=14))) == ACCEPTED
    assert sent(chain, numbered(2, 1)) == in_tunnel(NEW, range(3))
    assert cause(smf.ask(seid, waiting.idle(far=14))) == ACCEPTED
    assert sent(chain, numbered(3, 2)) == []
    assert cause(smf.ask(seid, messages.one_flow_again())) == ACCEPTED  # the rule ends
    assert sent(chain, numbered(5, 1)) == in_tunnel(OLD, range(5, 6))
    assert drop_of(chain, "waited_in_vain") == (2,)


def test_what_waits_for_too_long_is_dropped(netns: str) -> None:
    with polled([{"nf": "upf", "options": {**OPTIONS, "buffer_time_s": 1}}]) as chain:
        chain.listen("upf", f"/run/netns/{netns}")
        with ControlPlane(netns) as smf:
            smf.associate()
            seid = established(smf)
            assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
            assert sent(chain, numbered(0, 3)) == []
            time.sleep(1.2)
            assert (chain.waiting(), *drop_of(chain, "waited_too_long")) == (0, 3)
            assert sent(chain, numbered(3, 1)) == []
            assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
            assert sent(chain, []) == in_tunnel(NEW, range(3, 4))


def test_what_cannot_wait_is_refused_and_named(chain: Polled, smf: ControlPlane) -> None:
    seid = established(smf)
    answer = smf.ask(seid, waiting.idle(far=11))
    assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (NOT_SUPPORTED, 44)
    unknown = waiting.idle()
    unknown.IE_list[0].IE_list.append(pfcp.IE_BAR_Id(id=9))
    answer = smf.ask(seid, unknown)
    assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (RULE_FAILURE, 88)
    assert sent(chain, numbered(0, 1)) == in_tunnel(OLD, range(1))


def test_commands_let_packets_wait_too(chain: Polled) -> None:
    session = "ue=10.46.0.1 teid=513"
    chain.command("upf", "sessions-add", sessions=f"{session} downlink=buffer")
    assert sent(chain, numbered(0, 3)) == []
    chain.command(
        "upf", "sessions-modify", sessions=f"ue={UE} gnb={NEW[0]} gnb_teid={NEW[1]} downlink=forward"
    )
    assert sent(chain, numbered(3, 1)) == in_tunnel(NEW, range(4))
