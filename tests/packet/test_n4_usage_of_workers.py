# SPDX-License-Identifier: Apache-2.0
"""What usage reports say of sessions of several workers, while packets flow, is what was forwarded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.polled_core import CORE
from weir import plan
from weir.lab import Lab
from weir.measure.accounting import balance, seen
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import TrafficConfigure

from . import pfcp_usage_messages as metering
from .control_plane import N4, ControlPlane, cause, element
from .one_function import Way, data_plane, running
from .pfcp_messages import Element, pfcp
from .test_n4_usage import set_up, usage
from .test_upf_sessions import DURATION_NS, GNB, STANDING, TEID_FIRST, ends, streams

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root"),
    pytest.mark.long,
]

GNB_TEID_FIRST = 0x9000
IP_BYTES = 128 - 14 - 4  # of a frame, without its Ethernet header and its check sequence
BOTH = 31


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def configuration(way: Way) -> dict[str, Any]:
    """A gnb with sessions in a row, and a upf that an SMF is to give the same ones."""
    teids = {"teid_first": TEID_FIRST, "gnb_teid_first": GNB_TEID_FIRST}
    upf = {"sessions": 0, "sessions_max": STANDING, "n4_address": N4, "n4_teids": "consecutive"}
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "usage",
            "chain": [["ran", "upf"]],
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {
                "ran": {"nf": "gnb", "options": {"sessions": STANDING, **teids}},
                "upf": {"nf": "upf", "options": {**upf, **teids}, **way},
            },
            "cores": {"tester": [CORE], "functions": [CORE], "switch": [CORE]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "usage-00000000")
    return plan.configure(topology, lab).arguments()


def session(number: int) -> Element:
    """Of the UE of that number, with one usage reporting rule of both directions."""
    rule = metering.urr(BOTH)
    message = metering.metered(rule, uplink=(BOTH,), downlink=(BOTH,))
    inside = [one for group in message.IE_list if isinstance(one := group, pfcp.IE_Compound)]
    while inside:
        one = inside.pop()
        if isinstance(one, pfcp.IE_Compound):
            inside += one.IE_list
        elif isinstance(one, pfcp.IE_UE_IP_Address):
            one.ipv4 = f"10.45.0.{1 + number}"
        elif isinstance(one, pfcp.IE_OuterHeaderCreation):
            one.ipv4, one.TEID = GNB, GNB_TEID_FIRST + number
    return message


@pytest.mark.parametrize(
    "way",
    [{"architecture": "run-to-completion"}, {"architecture": "dispatch", "workers": 3}],
    ids=lambda way: way["architecture"],
)
def test_reports_of_all_sessions_have_every_byte_that_was_forwarded(
    client: DataPlaneClient, netns: str, way: Way
) -> None:
    area = "f2" if way["architecture"] == "run-to-completion" else "f2.dispatcher"
    offered = streams()
    measured = dict.fromkeys(range(STANDING), (0, 0))

    def add(number: int, answer: Any, why: str) -> None:
        ((rule, _, uplink, downlink),) = usage(answer, why)
        assert rule == BOTH
        measured[number] = measured[number][0] + uplink, measured[number][1] + downlink

    with running(client, configuration(way)), ControlPlane(netns) as smf:
        client.listen(area, "upf", f"/run/netns/{netns}")
        smf.associate()
        seids = {number: set_up(smf, session(number))[0] for number in range(STANDING)}
        client.configure_traffic(TrafficConfigure.model_validate({"streams": offered}))
        before = seen(client.ledger(), ())
        client.start_traffic({one["id"]: 2_000 for one in offered}, DURATION_NS, 50_000_000)
        while (result := client.traffic_result(50)) is None:
            for number, seid in seids.items():
                add(number, smf.ask(seid, metering.query(BOTH)), "IMMER")
        after = seen(client.ledger(), ())
        for number, seid in seids.items():
            answer = smf.ask(seid, pfcp.PFCPSessionDeletionRequest())
            assert cause(answer) == 1
            add(number, answer, "TERMR")
            assert element(answer, pfcp.IE_UR_SEQN).number >= 1
    account = balance(before, after, result, [ends(one) for one in offered])
    assert not [drop for drop in account.drops if drop.packets]
    assert account.delivered == account.offered > 0
    sent = {one.id: one.delivered * IP_BYTES for one in result.streams}
    assert measured == {number: (sent[number], sent[STANDING + number]) for number in range(STANDING)}
