# SPDX-License-Identifier: Apache-2.0
"""End markers after a handover: the tunnel that a session had is told that nothing comes in it any more,
behind the last packet, once, by the worker that sent it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from scapy.contrib.gtp import GTP_U_Header
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether

from weir.protocol import DataPlaneError

from . import pfcp_buffer_messages as waiting
from . import pfcp_messages as messages
from .control_plane import N4, ControlPlane, cause
from .frames import framed
from .one_function import Way
from .pfcp_messages import pfcp
from .polled import Polled, polled
from .test_n4_buffering import NEW, OLD, SERVER, UE, numbered, open_gates
from .test_n4_usage import set_up
from .test_upf_sessions import up

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")
ACCEPTED, END_MARKER, G_PDU = 1, 254, 255
AFTER = (messages.OTHER_GNB, 4_000_000_000)
OPTIONS = {"sessions": 0, "sessions_max": 300, "n4_address": N4}

Seen = tuple[int, tuple[str, int]]
"""The message type, and in which tunnel."""


@pytest.fixture
def chain(netns: str) -> Iterator[Polled]:
    with polled([{"nf": "upf", "options": OPTIONS}]) as running:
        running.listen("upf", f"/run/netns/{netns}")
        yield running
        assert not running.drops()


@pytest.fixture
def smf(netns: str, chain: Polled) -> Iterator[ControlPlane]:
    assert chain.waiting() == 0
    with ControlPlane(netns) as one:
        one.associate()
        yield one


def seen(frame: bytes) -> Seen:
    """Each as Scapy reads it, with lengths and checksum as it works them out."""
    outer = Ether(frame)[IP]
    again = outer.copy()
    del again.chksum, again.len, again[UDP].len, again[GTP_U_Header].length
    whole = bytes(again)
    assert bytes(outer)[:20] == whole[:20]
    assert bytes(outer)[24:] == whole[24:]
    return outer[GTP_U_Header].gtp_type, (outer.dst, outer[GTP_U_Header].teid)


def arrived(chain: Polled, frames: list[bytes]) -> list[Seen]:
    return [seen(frame) for frame in chain.passes(right=frames)[0]]


@needs_root
def test_the_old_tunnel_ends_before_the_first_packet_in_the_new_one(chain: Polled, smf: ControlPlane) -> None:
    seid, _ = set_up(smf, open_gates(messages.establishment()))
    assert arrived(chain, numbered(0, 3)) == [(G_PDU, OLD)] * 3
    assert cause(smf.ask(seid, messages.handover(end_marker=True))) == ACCEPTED
    assert arrived(chain, numbered(3, 2)) == [(END_MARKER, OLD), (G_PDU, AFTER), (G_PDU, AFTER)]
    assert cause(smf.ask(seid, messages.handover(end_marker=True))) == ACCEPTED  # to where it is
    assert cause(smf.ask(seid, messages.handover(teid=5))) == ACCEPTED  # without the flag
    assert arrived(chain, numbered(5, 1)) == [(G_PDU, (messages.OTHER_GNB, 5))]
    figures = chain.report("upf").figures["f1"]
    assert (figures["end_markers"], figures["answers_lost"]) == (1, 0)


@needs_root
def test_an_end_marker_is_eight_bytes_behind_the_headers_of_a_packet_there(
    chain: Polled, smf: ControlPlane
) -> None:
    seid, _ = set_up(smf, open_gates(messages.establishment()))
    to_ue = IP(src=SERVER, dst=UE) / UDP() / b"tagged, and not too short to be in it"
    ((frame,), _) = chain.passes(right=[framed(to_ue, vlans=1)])
    assert cause(smf.ask(seid, messages.handover(end_marker=True))) == ACCEPTED
    ((marker,), _) = chain.passes()
    assert marker[:18] == frame[:18]  # where the packet before it went
    assert Ether(marker)[Dot1Q].type == 0x0800
    outer = Ether(marker)[IP]
    assert (outer.src, outer.ttl, outer.flags, outer.len, outer[UDP].len) == ("192.0.2.1", 64, "DF", 36, 16)
    assert bytes(outer)[28:36] == bytes([0x30, END_MARKER, 0, 0, 0, 0, 0, 77])
    assert len(marker) == 60


@needs_root
def test_each_tunnel_of_a_session_with_several_rules_ends_once(chain: Polled, smf: ControlPlane) -> None:
    seid, _ = set_up(smf, messages.bearers())  # PDRs 22 and 23 have one tunnel, and DNS its own
    dns = (messages.OTHER_GNB, 78)
    assert arrived(chain, numbered(0, 1)) == [(G_PDU, dns)]
    assert cause(smf.ask(seid, messages.handover(end_marker=True, fars=(12,), teid=90))) == ACCEPTED
    assert arrived(chain, numbered(1, 1)) == [(END_MARKER, OLD), (G_PDU, dns)]
    assert cause(smf.ask(seid, messages.handover(end_marker=True, fars=(12, 14), teid=91))) == ACCEPTED
    before = {(END_MARKER, dns), (END_MARKER, (messages.OTHER_GNB, 90))}
    marked = arrived(chain, numbered(2, 1))
    assert (set(marked[:2]), marked[2:]) == (before, [(G_PDU, (messages.OTHER_GNB, 91))])


@needs_root
def test_what_waited_follows_in_the_new_tunnel(chain: Polled, smf: ControlPlane) -> None:
    seid, _ = set_up(smf, open_gates(messages.establishment()))
    assert arrived(chain, numbered(0, 1)) == [(G_PDU, OLD)]
    assert cause(smf.ask(seid, waiting.idle())) == ACCEPTED
    assert arrived(chain, numbered(1, 3)) == []
    forwarded = waiting.reachable()
    forwarded.IE_list[0].IE_list[2].IE_list.append(pfcp.IE_PFCPSMReqFlags(spare=0, SNDEM=1))
    assert cause(smf.ask(seid, forwarded)) == ACCEPTED
    assert sorted(arrived(chain, [])) == [(END_MARKER, OLD), *[(G_PDU, NEW)] * 3]


WAYS: tuple[Way, ...] = ({}, {"architecture": "pipeline"}, {"architecture": "dispatch", "workers": 3})


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.get("architecture", "run-to-completion"))
def test_the_worker_of_the_session_ends_its_tunnel_and_no_other_does(way: Way) -> None:
    functions = [{"nf": "upf", "options": {"sessions": 9}}]
    area = {"dispatch": "f1.dispatcher", "pipeline": "f1.upf"}.get(str(way.get("architecture")), "f1")
    with polled(functions, way, area) as chain:
        everybody = [framed(IP(src=SERVER, dst=f"10.45.0.{1 + n}") / UDP() / bytes(30)) for n in range(9)]
        assert len(chain.passes(right=everybody)[0]) == 9
        moved = ",".join(f"ue=10.45.0.{1 + n} gnb_teid={100 + n} end_marker=true" for n in range(9))
        chain.command("upf", "sessions-modify", sessions=moved)
        ended = arrived(chain, [])
        assert sorted(ended) == [(END_MARKER, ("192.0.2.2", 1 + n)) for n in range(9)]
        counted = [of["end_markers"] for of in chain.report("upf").figures.values()]
        assert counted == ([3, 3, 3] if "workers" in way else [9])
        assert not chain.drops()


def test_where_nothing_was_sent_yet_it_goes_back_to_where_uplink_comes_from() -> None:
    with polled([{"nf": "upf", "options": {"sessions": 1}}]) as chain:
        chain.command("upf", "sessions-modify", sessions="ue=10.45.0.1 gnb_teid=7 end_marker=true")
        assert chain.passes() == ([], [])  # nobody knows where that is
        frame, _ = up(1, "10.45.0.1")
        assert chain.passes(left=[frame])[0] == []
        chain.command("upf", "sessions-modify", sessions="ue=10.45.0.1 gnb_teid=8 end_marker=true")
        ((marker,), _) = chain.passes()
        assert seen(marker) == (END_MARKER, ("192.0.2.2", 7))
        assert (marker[:6], marker[6:12]) == (frame[6:12], frame[:6])
        figures = chain.report("upf").figures["f1"]
        assert (figures["end_markers"], figures["answers_lost"]) == (1, 1)
        with pytest.raises(DataPlaneError, match=r"ue=10\.45\.0\.1 has no other tunnel"):
            chain.command("upf", "sessions-modify", sessions="ue=10.45.0.1 end_marker=true")


def test_a_gnb_takes_an_end_marker_as_a_message_about_its_tunnel() -> None:
    marker = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=2152, dport=2152)
    marker /= GTP_U_Header(teid=1, gtp_type=END_MARKER)
    with polled([{"nf": "gnb", "options": {"sessions": 1}}]) as chain:
        assert chain.passes(right=[framed(marker)]) == ([], [])
        assert chain.drops() == {"signal": 1}
