# SPDX-License-Identifier: Apache-2.0
"""Sessions whose packets are told apart by service data flows, which an SMF of Scapy's sets up by PFCP."""

from __future__ import annotations

import os

import pytest
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet as ScapyPacket

from weir.protocol import DataPlaneError

from . import pfcp_messages as messages
from .control_plane import ControlPlane, cause, element, elements, upf
from .frames import framed
from .pfcp_messages import pfcp
from .replay import Dropped, Forwarded, Options, Replay, replay

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

N3, SERVER, OTHER, UE = "192.0.2.1", "203.0.113.9", "203.0.113.10", messages.UE
ACCEPTED, NO_RESOURCES, NOT_SUPPORTED = 1, 75, 76
DNS, WEB = UDP(sport=53, dport=4000), TCP(sport=8042, dport=4001)
DNS_UP, WEB_UP = UDP(sport=4000, dport=53), TCP(sport=4001, dport=80)
GNB, OTHER_GNB = (messages.GNB, 77), (messages.OTHER_GNB, 78)


def down(chain: Replay, transport: ScapyPacket, source: str = SERVER, tos: int = 0) -> object:
    """The tunnel and the QoS flow in which that for the UE leaves, or why it is dropped."""
    user = IP(src=source, dst=UE, tos=tos) / transport / b"for the UE, and not short"
    outcome = chain.send(framed(user), "inbound")
    if isinstance(outcome, Dropped):
        return outcome.reason
    seen = Ether(outcome.frame)
    assert outcome.frame.endswith(bytes(user))
    return (seen[IP].dst, seen[GTP_U_Header].teid), seen[GTPPDUSessionContainer].QFI


def up(chain: Replay, teid: int, transport: ScapyPacket, qfi: int | None = 9) -> object:
    """None where it leaves the tunnel as it was sent, or why it is dropped."""
    user = IP(src=UE, dst=SERVER) / transport / b"from the UE, and not short"
    header = GTP_U_Header(teid=teid, gtp_type=255)
    if qfi is not None:
        header /= GTPPDUSessionContainer(type=1, QFI=qfi)
    outer = IP(src=messages.GNB, dst=N3) / UDP(sport=2152, dport=2152)
    outcome = chain.send(framed(outer / header / user))
    if isinstance(outcome, Dropped):
        return outcome.reason
    assert outcome == Forwarded(framed(user))
    return None


def test_each_packet_goes_by_the_first_rule_that_it_fits(netns: str, chain: Replay) -> None:
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, messages.bearers())
        assert cause(answer) == ACCEPTED
        teids = {one.TEID for one in elements(answer) if isinstance(one, pfcp.IE_FTEID)}
        assert len([one for one in elements(answer) if isinstance(one, pfcp.IE_CreatedPDR)]) == 3
        (teid,) = teids  # one tunnel on N3
        seid = element(answer, pfcp.IE_FSEID).seid

        assert down(chain, DNS) == (OTHER_GNB, 5)
        assert down(chain, DNS, source=OTHER) == (GNB, 9)  # of another server
        assert down(chain, UDP(sport=54, dport=4000)) == (GNB, 9)
        assert down(chain, ICMP()) == (GNB, 9)
        assert down(chain, WEB) == "gate_closed"
        assert down(chain, TCP(sport=8081, dport=1)) == (GNB, 9)
        assert down(chain, ICMP(), tos=0xBA) == "gate_closed"  # DSCP 46
        assert down(chain, ICMP(), tos=0xB0) == (GNB, 9)

        assert up(chain, teid, DNS_UP) is None
        assert up(chain, teid, WEB_UP, qfi=9) is None
        assert up(chain, teid, WEB_UP, qfi=6) == "forwarding_action"
        assert up(chain, teid, WEB_UP, qfi=None) is None

        assert cause(smf.ask(seid, messages.web_goes_first())) == ACCEPTED
        assert down(chain, WEB) == (GNB, 6)
        assert down(chain, DNS, source=OTHER) == (OTHER_GNB, 5)
        assert down(chain, DNS, tos=0xB8) == (GNB, 6)

        assert cause(smf.ask(seid, messages.one_flow_again())) == ACCEPTED
        assert down(chain, WEB) == down(chain, DNS) == (GNB, 9)
        assert up(chain, teid, WEB_UP, qfi=6) is None

        assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
        assert down(chain, DNS) == "unknown_ue"
    figures = chain.report("upf0").figures["chain"]
    assert (figures["rules"], figures["n4_refused"]) == (0, 0)
    passed = {one.labels["direction"]: one.packets for one in chain.report("upf0").counters}
    assert passed == {"uplink": 4, "downlink": 11}


def test_what_no_rule_of_a_direction_is_for_is_dropped(netns: str, chain: Replay) -> None:
    message = messages.bearers()
    message.IE_list = [one for one in message.IE_list if not is_pdr(one, 23)]
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, message)
        assert cause(answer) == ACCEPTED
        assert down(chain, DNS) == (OTHER_GNB, 5)
        assert down(chain, ICMP()) == "no_rule"
        assert up(chain, element(answer, pfcp.IE_FTEID).TEID, ICMP()) is None


def is_pdr(one: object, number: int) -> bool:
    return isinstance(one, pfcp.IE_CreatePDR) and one.IE_list[0].id == number


@pytest.mark.parametrize(
    "description",
    [
        "deny out 17 from any to assigned",
        "permit in 17 from any to assigned",
        "permit out tcp from any to assigned",
        "permit out 17 from assigned to any",
        "permit out 17 from 2001:db8::1 to 10.46.0.1",
        "permit out 17 from any 80, to assigned",
        "permit out 17 from any 1,2,3,4,5 to assigned",
        "permit out 17 from any 9-8 to assigned",
        "permit out 17 from any to assigned frag",
        "permit out 17 from any",
    ],
)
def test_a_filter_that_cannot_be_obeyed_is_refused_and_named(
    netns: str, chain: Replay, description: str
) -> None:
    message = messages.bearers()
    for one in message.IE_list:
        if is_pdr(one, 21):
            one.IE_list[2].IE_list[2] = messages.sdf(description, 1)
    with ControlPlane(netns) as smf:
        smf.associate()
        answer = smf.ask(0, message)
        assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (NOT_SUPPORTED, 23)
        assert down(chain, DNS) == "unknown_ue"


def test_rules_for_which_there_is_no_room_are_refused_and_those_that_are_there_stay(netns: str) -> None:
    with replay(upf(rules_max=7)) as chain, ControlPlane(netns) as smf:
        chain.listen("upf0", f"/run/netns/{netns}")
        smf.associate()
        assert cause(smf.ask(0, messages.bearers())) == ACCEPTED
        other = messages.bearers()
        for one in other.IE_list:
            for each in one.IE_list[2].IE_list if isinstance(one, pfcp.IE_CreatePDR) else ():
                if isinstance(each, pfcp.IE_UE_IP_Address):
                    each.ipv4 = "10.46.0.2"
        assert cause(smf.ask(0, other)) == NO_RESOURCES
        assert down(chain, DNS) == (OTHER_GNB, 5)
        assert chain.report("upf0").figures["chain"]["rules"] == 6


FLOWS = f"""
permit out 17 from {SERVER} 53 to assigned qfi=5
permit out 6 from any 80-8080 to assigned qfi=6 mbr_downlink_bps=8
"""


def test_sessions_of_the_options_have_the_flows_of_flow_list() -> None:
    options: Options = {
        "sessions": 2,
        "rules_max": 12,
        "ue_first_address": UE,
        "gnb_address": messages.GNB,
        "gnb_teid_first": 77,
        "mbr_burst_bytes": 50,
        "flow_list": FLOWS,
    }
    with replay(("upf", options)) as chain:
        assert down(chain, DNS) == (GNB, 5)
        assert down(chain, DNS, source=OTHER) == (GNB, 9)
        assert down(chain, ICMP()) == (GNB, 9)
        assert down(chain, WEB) == "above_mbr"
        assert up(chain, 1, WEB_UP) is None
        assert chain.report("upf0").figures["chain"]["rules"] == 12


@pytest.mark.parametrize(
    ("flows", "said"),
    [
        ("permit out udp from any to any", "its protocol is neither"),
        ("permit out 17 from any to any qfi=64", "qfi"),
        ("permit out 17 from any to any,permit out 6 from any to any", "need rules_max: 12"),
        (",".join(["permit out 17 from any to any"] * 8), "too many service data flows"),
    ],
)
def test_a_flow_list_that_cannot_be_is_refused(flows: str, said: str) -> None:
    options: Options = {"sessions": 2, "rules_max": 11, "flow_list": flows}
    with pytest.raises(DataPlaneError, match=said), replay(("upf", options)):
        pass
