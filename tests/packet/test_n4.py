# SPDX-License-Identifier: Apache-2.0
"""A upf that an SMF of Scapy's controls by PFCP: its sessions forward packets, nobody else changes them."""

from __future__ import annotations

import os

import pytest
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.pfcp import PFCP
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from weir.protocol import DataPlaneError

from . import pfcp_messages as messages
from .control_plane import N4, ControlPlane, cause, element
from .frames import framed
from .pfcp_messages import Element, pfcp
from .replay import Dropped, Forwarded, Outcome, Replay

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

N3, SERVER, UE = "192.0.2.1", "203.0.113.9", messages.UE
ACCEPTED, SESSION_NOT_FOUND, NO_ESTABLISHED_ASSOCIATION = 1, 65, 72


def up(chain: Replay, teid: int) -> Outcome:
    """What becomes of a packet of the UE in that tunnel."""
    user = IP(src=UE, dst=SERVER) / UDP(sport=4000, dport=53) / b"from the UE, and not short"
    outer = IP(src=messages.GNB, dst=N3) / UDP(sport=2152, dport=2152)
    outcome = chain.send(framed(outer / GTP_U_Header(teid=teid, gtp_type=255) / user))
    assert not isinstance(outcome, Forwarded) or outcome.frame == framed(user)
    return outcome


def down(chain: Replay) -> tuple[str, int] | str:
    """The gNB and the tunnel in which a packet for the UE leaves, or why it is dropped."""
    outcome = chain.send(
        framed(IP(src=SERVER, dst=UE) / UDP(sport=53, dport=4000) / b"for the UE"), "inbound"
    )
    if isinstance(outcome, Dropped):
        return outcome.reason
    seen = Ether(outcome.frame)
    return seen[IP].dst, seen[GTP_U_Header].teid


def counts(chain: Replay, *names: str) -> tuple[int, ...]:
    figures = chain.report("upf0").figures["chain"]
    return tuple(figures[f"n4_{name}"] for name in names)


def open_session() -> Element:
    """Both directions, held back by nothing."""
    return messages.establishment(pfcp.IE_CreateQER, pfcp.IE_QER_Id)


def test_a_session_is_set_up_handed_over_and_deleted_by_an_smf(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf:
        setup = smf.associate()
        assert cause(setup) == ACCEPTED
        assert element(setup, pfcp.IE_NodeId).ipv4 == N4
        assert element(setup, pfcp.IE_UPFunctionFeatures).FTUP == 1
        answer = smf.ask(0, open_session())
        assert cause(answer) == ACCEPTED
        assert answer.seid == messages.CP_SEID
        seid, teid = element(answer, pfcp.IE_FSEID).seid, element(answer, pfcp.IE_FTEID).TEID
        assert element(answer, pfcp.IE_FTEID).ipv4 == N3
        assert isinstance(up(chain, teid), Forwarded)
        assert up(chain, teid ^ 1 << 31) == Dropped("unknown_teid", "upf")
        assert down(chain) == (messages.GNB, 77)

        assert cause(smf.ask(seid, messages.handover())) == ACCEPTED
        assert down(chain) == (messages.OTHER_GNB, 4_000_000_000)
        assert isinstance(up(chain, teid), Forwarded)

        assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        assert up(chain, teid) == Dropped("unknown_teid", "upf")
        assert down(chain) == "unknown_ue"
    assert counts(chain, "associations", "accepted", "refused") == (1, 4, 0)


def test_gates_and_rates_of_a_qer_hold_back_each_its_direction(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, messages.establishment())
        teid = element(answer, pfcp.IE_FTEID).TEID
        assert isinstance(up(chain, teid), Forwarded)
        assert down(chain) == "gate_closed"


def test_who_is_not_associated_is_refused_with_cause_72(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf, ControlPlane(netns, "127.0.0.10") as stranger:
        its_seid = element(open_session(), pfcp.IE_FSEID).seid
        answer = stranger.ask(0, open_session())
        assert (cause(answer), answer.seid) == (NO_ESTABLISHED_ASSOCIATION, its_seid)
        smf.associate()
        seid = element(smf.ask(0, open_session()), pfcp.IE_FSEID).seid
        for asked in (messages.handover(), pfcp.PFCPSessionDeletionRequest()):
            answer = stranger.ask(seid, asked)
            assert (cause(answer), answer.seid) == (NO_ESTABLISHED_ASSOCIATION, 0)
        assert down(chain) == (messages.GNB, 77)
    assert counts(chain, "refused_no_established_association", "refused", "associations") == (3, 3, 1)


def test_what_is_replayed_is_answered_as_before_and_not_done_again(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        seid = element(smf.ask(0, open_session()), pfcp.IE_FSEID).seid
        first = smf.number(seid, messages.handover())
        answer = smf.tell(first)
        back = pfcp.IE_UpdateForwardingParameters(IE_list=[messages.outer_header(messages.GNB, 78)])
        rules = pfcp.IE_UpdateFAR(IE_list=[pfcp.IE_FAR_Id(id=12), back])
        assert cause(smf.ask(seid, pfcp.PFCPSessionModificationRequest(IE_list=[rules]))) == ACCEPTED
        assert smf.tell(first) == answer
        assert down(chain) == (messages.GNB, 78)
    assert counts(chain, "repeated") == (1,)


def test_what_is_malformed_is_ignored_or_refused_and_the_session_stays(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, open_session())
        seid, teid = element(answer, pfcp.IE_FSEID).seid, element(answer, pfcp.IE_FTEID).TEID
        whole = smf.number(seid, messages.handover())
        assert smf.quiet(b"", b"\x20", b"\x20" + bytes(99), *(whole[:size] for size in range(1, len(whole))))
        refusals = {
            66: messages.of_session(0, 70, messages.establishment(pfcp.IE_FSEID)),
            65: messages.of_session(seid ^ 1 << 40, 71, messages.handover()),
            73: messages.of_session(0, 72, open_session()),
            71: messages.of_session(0, 73, messages.establishment(V4=1, TEID=5, ipv4=N3)),
            76: messages.of_session(0, 74, messages.buffering()),
        }
        for expected, message in refusals.items():
            refused = smf.tell(message)
            assert refused is not None
            assert cause(PFCP(refused)) == expected
        version = smf.tell(b"\x41" + whole[1:])
        assert version is not None
        assert PFCP(version).message_type == 11
        assert isinstance(up(chain, teid), Forwarded)
        assert down(chain) == (messages.GNB, 77)
    assert counts(chain, "refused") == (len(refusals) + 1,)


@pytest.mark.parametrize("released", [False, True], ids=["killed", "released"])
def test_an_smf_that_was_started_again_and_numbers_anew_is_not_answered_as_before(
    chain: Replay, netns: str, *, released: bool
) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        first = element(smf.ask(0, messages.establishment()), pfcp.IE_FSEID).seid
        if released:
            smf.ask(None, pfcp.PFCPAssociationReleaseRequest(IE_list=[messages.node(smf.ip)]))
        smf.sequence = 0
        smf.associate(messages.RECOVERY_S + 99)
        figures = chain.report("upf0").figures["chain"]
        assert (figures["n4_associations"], figures["sessions"], figures["n4_repeated"]) == (1, 0, 0)
        answer = smf.ask(0, messages.establishment(ue="10.46.0.2"))
        assert cause(answer) == ACCEPTED
        assert element(answer, pfcp.IE_FSEID).seid != first
        assert chain.report("upf0").figures["chain"]["sessions"] == 1
        user = IP(src=SERVER, dst="10.46.0.2") / UDP(sport=53, dport=4000) / b"for the other UE"
        assert chain.send(framed(user), "inbound") == Dropped("gate_closed", "upf")


def test_a_session_that_a_command_removed_is_not_the_next_one_of_its_ue(chain: Replay, netns: str) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        gone = element(smf.ask(0, messages.bearers()), pfcp.IE_FSEID).seid
        chain.command("upf0", "sessions-remove", sessions=f"ue={UE}")
        there = element(smf.ask(0, messages.bearers()), pfcp.IE_FSEID).seid
        refused = smf.ask(gone, messages.one_flow_again())
        assert cause(refused) == SESSION_NOT_FOUND
        assert cause(smf.ask(gone, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        assert down(chain) == (messages.OTHER_GNB, 78)
        assert cause(smf.ask(there, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        assert down(chain) == "unknown_ue"
        figures = chain.report("upf0").figures["chain"]
        assert (figures["sessions"], figures["n4_sessions"]) == (0, 0)


def test_a_command_has_the_place_of_a_session_when_its_smf_has_deleted_it(chain: Replay, netns: str) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, open_session())
        gone, teid = element(answer, pfcp.IE_FSEID).seid, element(answer, pfcp.IE_FTEID).TEID
        added = f"ue={UE} teid={teid} gnb={messages.OTHER_GNB} gnb_teid=60"
        chain.command("upf0", "sessions-remove", sessions=f"ue={UE}")
        with pytest.raises(DataPlaneError, match=r"leads to place \d+, which is that of a session by N4"):
            chain.command("upf0", "sessions-add", sessions=added)
        assert cause(smf.ask(gone, messages.handover())) == SESSION_NOT_FOUND
        assert cause(smf.ask(gone, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        chain.command("upf0", "sessions-add", sessions=added)
        assert cause(smf.ask(gone, messages.handover())) == SESSION_NOT_FOUND
        assert cause(smf.ask(gone, pfcp.PFCPSessionDeletionRequest())) == SESSION_NOT_FOUND
        assert down(chain) == (messages.OTHER_GNB, 60)
        assert isinstance(up(chain, teid), Forwarded)
        chain.command("upf0", "sessions-remove", sessions=f"ue={UE}")


def test_a_node_that_comes_from_where_another_one_was_has_one_association(chain: Replay, netns: str) -> None:
    with ControlPlane(netns) as one, ControlPlane(netns, "127.0.0.10") as other:
        one.associate()
        other.associate()
        assert chain.report("upf0").figures["chain"]["n4_associations"] == 2
        as_other = pfcp.PFCPAssociationSetupRequest(IE_list=[messages.node(other.ip), messages.recovery()])
        one.ask(None, as_other)
        assert chain.report("upf0").figures["chain"]["n4_associations"] == 1
