# SPDX-License-Identifier: Apache-2.0
"""What usage reporting rules measure, byte by byte, and when a upf reports it to an SMF of Scapy's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.pfcp import PFCP
from scapy.layers.inet import IP, UDP

from . import pfcp_messages as messages
from . import pfcp_usage_messages as metering
from .control_plane import ControlPlane, cause, element, elements, upf
from .frames import framed
from .pfcp_messages import Element, pfcp
from .replay import Dropped, Replay, replay

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

N3, SERVER, UE = "192.0.2.1", "203.0.113.9", messages.UE
ACCEPTED, CONDITIONAL_MISSING, INCORRECT, RULE_FAILURE, NO_RESOURCES, NOT_SUPPORTED = 1, 67, 69, 73, 75, 76
BOTH, UPLINK = 31, 32
IP_UDP_BYTES = 28
TRIGGERS = ("PERIO", "VOLTH", "TIMTH", "VOLQU", "TIMQU", "TERMR", "IMMER")


@pytest.fixture
def smf(netns: str, chain: Replay) -> Iterator[ControlPlane]:
    assert chain.report("upf0").figures["chain"]["n4_associations"] == 0
    with ControlPlane(netns) as one:
        one.associate()
        yield one


def set_up(smf: ControlPlane, message: Element) -> tuple[int, int]:
    """Its SEID and its TEID; reports come to this SMF."""
    for one in message.IE_list:
        if isinstance(one, pfcp.IE_FSEID):
            one.ipv4 = smf.ip
    answer = smf.ask(0, message)
    assert cause(answer) == ACCEPTED
    return element(answer, pfcp.IE_FSEID).seid, element(answer, pfcp.IE_FTEID).TEID


def down(chain: Replay, ip_bytes: int, *, dropped: str = "") -> None:
    """Sends a packet of so many bytes, from its IP header on, to the UE."""
    user = IP(src=SERVER, dst=UE) / UDP(sport=53, dport=4000) / bytes(ip_bytes - IP_UDP_BYTES)
    outcome = chain.send(framed(user), "inbound")
    assert (outcome.reason if isinstance(outcome, Dropped) else "") == dropped


def up(chain: Replay, teid: int, ip_bytes: int, *, dropped: str = "") -> None:
    """The same, from the UE."""
    user = IP(src=UE, dst=SERVER) / UDP(sport=4000, dport=53) / bytes(ip_bytes - IP_UDP_BYTES)
    outer = IP(src=messages.GNB, dst=N3) / UDP(sport=2152, dport=2152)
    outcome = chain.send(framed(outer / GTP_U_Header(teid=teid, gtp_type=255) / user))
    assert (outcome.reason if isinstance(outcome, Dropped) else "") == dropped


def usage(message: PFCP, trigger: str) -> list[tuple[int, int, int, int]]:
    """Of each report in it: the rule, its number, bytes of uplink and of downlink. All for that trigger."""
    found = []
    for one in elements(message):
        if not isinstance(one, pfcp.IE_UsageReport_SRR | pfcp.IE_UsageReport_SMR | pfcp.IE_UsageReport_SDR):
            continue
        why = element(one, pfcp.IE_UsageReportTrigger)
        assert [name for name in TRIGGERS if getattr(why, name)] == [trigger]
        began_s, ended_s = (element(one, kind).timestamp for kind in (pfcp.IE_StartTime, pfcp.IE_EndTime))
        assert 0 <= ended_s - began_s < 60
        measured = element(one, pfcp.IE_VolumeMeasurement)
        assert measured.total == measured.uplink + measured.downlink
        number, sequence = element(one, pfcp.IE_URR_Id).id, element(one, pfcp.IE_UR_SEQN).number
        found.append((number, sequence, measured.uplink, measured.downlink))
    return found


def test_each_report_has_the_bytes_since_the_last_one(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, metering.metered())
    up(chain, teid, 100)
    up(chain, teid, 60)
    down(chain, 1400)
    assert usage(smf.ask(seid, metering.query(BOTH, UPLINK)), "IMMER") == [
        (BOTH, 0, 160, 1400),
        (UPLINK, 0, 160, 0),
    ]
    down(chain, 500)
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 1, 0, 500)]
    up(chain, teid, 80)
    assert usage(smf.ask(seid, metering.without_uplink_usage()), "TERMR") == [(UPLINK, 1, 80, 0)]
    up(chain, teid, 70)
    down(chain, 71)
    deleted = smf.ask(seid, pfcp.PFCPSessionDeletionRequest())
    assert cause(deleted) == ACCEPTED
    assert usage(deleted, "TERMR") == [(BOTH, 2, 150, 71)]
    assert chain.report("upf0").figures["chain"]["rules"] == 0


def test_all_rules_are_queried_by_a_flag(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, metering.metered())
    up(chain, teid, 100)
    all_of_them = pfcp.PFCPSessionModificationRequest(IE_list=[pfcp.IE_PFCPSMReqFlags(QUARR=1)])
    assert usage(smf.ask(seid, all_of_them), "IMMER") == [(BOTH, 0, 100, 0), (UPLINK, 0, 100, 0)]


def test_what_is_dropped_is_not_measured(chain: Replay, smf: ControlPlane) -> None:
    message = metering.metered()
    message.IE_list.append(messages.flow_qer(41, 5, dl="CLOSED"))
    for one in message.IE_list:
        if isinstance(one, pfcp.IE_CreatePDR):
            one.IE_list.append(pfcp.IE_QER_Id(id=41))
    seid, teid = set_up(smf, message)
    up(chain, teid, 100)
    down(chain, 1400, dropped="gate_closed")
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 0, 100, 0)]


def test_a_threshold_that_is_passed_is_reported_unasked_and_begins_anew(
    chain: Replay, smf: ControlPlane
) -> None:
    seid, teid = set_up(smf, metering.metered())
    up(chain, teid, 900)
    down(chain, 1400)
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 0, 900, 1400)]
    up(chain, teid, 100)
    report = smf.report()
    assert report.seid == messages.CP_SEID
    assert element(report, pfcp.IE_ReportType).USAR == 1
    assert usage(report, "VOLTH") == [(UPLINK, 0, 1000, 0)]
    smf.accept(report, seid)
    up(chain, teid, 999)
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 1, 1099, 0)]
    up(chain, teid, 30)
    report = smf.report()
    assert usage(report, "VOLTH") == [(UPLINK, 1, 1029, 0)]
    smf.accept(report, seid)
    assert smf.quiet()
    figures = chain.report("upf0").figures["chain"]
    assert {name: figures[f"n4_{name}"] for name in ("reports", "reports_accepted", "malformed")} == {
        "reports": 2,
        "reports_accepted": 2,
        "malformed": 0,
    }


def test_thresholds_of_a_rule_can_be_changed_while_it_measures(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, metering.metered())
    up(chain, teid, 500)
    lower = [pfcp.IE_URR_Id(id=UPLINK), pfcp.IE_VolumeThreshold(TOVOL=1, total=400)]
    changed = pfcp.PFCPSessionModificationRequest(IE_list=[pfcp.IE_UpdateURR(IE_list=lower)])
    assert cause(smf.ask(seid, changed)) == ACCEPTED
    report = smf.report()
    assert usage(report, "VOLTH") == [(UPLINK, 0, 500, 0)]
    smf.accept(report, seid)


def test_several_rules_of_a_direction_count_for_one(chain: Replay, smf: ControlPlane) -> None:
    message = metering.metered()
    dns = messages.pdr(22, 10, messages.core(messages.sdf(messages.DNS, 1)), 12, urrs=(BOTH, UPLINK))
    message.IE_list.append(dns)
    seid, _ = set_up(smf, message)
    down(chain, 100)  # DNS
    user = IP(src=SERVER, dst=UE) / UDP(sport=54, dport=4000) / bytes(72)
    assert not isinstance(chain.send(framed(user), "inbound"), Dropped)
    assert usage(smf.ask(seid, metering.query(BOTH, UPLINK)), "IMMER") == [
        (BOTH, 0, 0, 200),
        (UPLINK, 0, 0, 100),
    ]


PERIOD = pfcp.IE_MeasurementPeriod(period=60)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param([pfcp.IE_TimeQuota(quota=9)], (NOT_SUPPORTED, 74), id="quota of no time"),
        pytest.param([pfcp.IE_VolumeQuota()], (INCORRECT, 73), id="quota of no volume"),
        pytest.param([pfcp.IE_FAR_Id(id=11)], (NOT_SUPPORTED, 108), id="action at a quota"),
        pytest.param([pfcp.IE_QuotaHoldingTime(time_value=9)], (NOT_SUPPORTED, 71), id="holding time"),
        pytest.param([pfcp.IE_MonitoringTime(time_value=9)], (NOT_SUPPORTED, 33), id="monitoring time"),
        pytest.param(
            [pfcp.IE_InactivityDetectionTime(time_value=9)], (NOT_SUPPORTED, 36), id="inactivity detection"
        ),
        pytest.param([pfcp.IE_MeasurementInformation(MBQE=1)], (NOT_SUPPORTED, 100), id="before policing"),
        pytest.param([pfcp.IE_MeasurementPeriod(period=0)], (INCORRECT, 64), id="no period"),
        pytest.param([pfcp.IE_TimeThreshold(threshold=0)], (INCORRECT, 32), id="no time"),
        pytest.param([pfcp.IE_VolumeThreshold()], (INCORRECT, 31), id="no volume"),
    ],
)
def test_what_a_rule_cannot_obey_is_refused_and_named(
    chain: Replay, smf: ControlPlane, more: Sequence[Any], expected: tuple[int, int]
) -> None:
    refused(chain, smf, metering.metered(metering.urr(BOTH, *more), uplink=(BOTH,)), expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param(metering.urr(BOTH, volume=False), (INCORRECT, 62), id="measures nothing"),
        pytest.param(metering.urr(BOTH, volume_quota=1), (CONDITIONAL_MISSING, 73), id="which volume quota"),
        pytest.param(
            metering.urr(BOTH, duration=True, time_quota=1), (CONDITIONAL_MISSING, 74), id="which time quota"
        ),
        pytest.param(
            metering.urr(BOTH, pfcp.IE_VolumeQuota(TOVOL=1, total=9), volume=False, duration=True),
            (NOT_SUPPORTED, 73),
            id="a quota of what is not measured",
        ),
        pytest.param(metering.urr(BOTH, start_of_traffic=1), (NOT_SUPPORTED, 37), id="start of traffic"),
        pytest.param(metering.urr(BOTH, periodic_reporting=1), (CONDITIONAL_MISSING, 64), id="which period"),
        pytest.param(metering.urr(BOTH, volume_threshold=1), (CONDITIONAL_MISSING, 31), id="which volume"),
        pytest.param(
            metering.urr(BOTH, duration=True, time_threshold=1), (CONDITIONAL_MISSING, 32), id="which time"
        ),
        pytest.param(metering.urr(BOTH + 1), (RULE_FAILURE, 81), id="another rule"),
    ],
)
def test_a_rule_that_lacks_what_it_needs_is_refused_and_named(
    chain: Replay, smf: ControlPlane, rule: Element, expected: tuple[int, int]
) -> None:
    refused(chain, smf, metering.metered(rule, uplink=(BOTH,)), expected)


def refused(chain: Replay, smf: ControlPlane, message: Element, expected: tuple[int, int]) -> None:
    """With that cause, and that element named; and nothing of it is there."""
    answer = smf.ask(0, message)
    assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == expected
    down(chain, 100, dropped="unknown_ue")
    for _ in range(3):  # and what it would have counted in is free
        seid, _ = set_up(smf, metering.metered())
        assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED


def test_without_room_for_what_they_count_sessions_are_refused(netns: str) -> None:
    with replay(upf(rules_max=3)) as chain, ControlPlane(netns) as smf:
        chain.listen("upf0", f"/run/netns/{netns}")
        smf.associate()
        four = [metering.urr(number) for number in range(1, 5)]
        answer = smf.ask(0, metering.metered(*four, uplink=(1, 2), downlink=(3, 4)))
        assert (cause(answer), element(answer, pfcp.IE_OffendingIE).type) == (NO_RESOURCES, 6)
        set_up(smf, metering.metered(*four[:3], uplink=(1, 2), downlink=(3,)))
