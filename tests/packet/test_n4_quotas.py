# SPDX-License-Identifier: Apache-2.0
"""Quotas of usage reporting rules: packets stop at them, the SMF of Scapy's is told, and may grant more."""

from __future__ import annotations

import os
import time

import pytest
from scapy.packet import Packet as ScapyPacket

from . import pfcp_buffer_messages as waiting
from . import pfcp_usage_messages as metering
from .control_plane import ControlPlane, cause
from .pfcp_messages import Element, pfcp
from .pfcp_usage_messages import granted, limited
from .replay import Replay
from .test_n4_usage import ACCEPTED, BOTH, UPLINK, down, set_up, smf, up, usage

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root")

OVER = "quota_exhausted"
__all__ = ["smf"]


def total(bytes_: int) -> Element:
    return pfcp.IE_VolumeQuota(TOVOL=1, total=bytes_)


def test_packets_stop_at_a_volume_and_go_on_with_the_next_one(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, limited(total(1000), volume_quota=1))
    up(chain, teid, 600)
    down(chain, 300)
    up(chain, teid, 101, dropped=OVER)  # the first one that does not fit
    up(chain, teid, 28, dropped=OVER)  # nor does any other now
    down(chain, 28, dropped=OVER)
    report = smf.report()
    assert usage(report, "VOLQU") == [(BOTH, 0, 600, 300)]
    smf.accept(report, seid)
    assert smf.hears_nothing()
    assert cause(smf.ask(seid, granted(total(500)))) == ACCEPTED
    up(chain, teid, 500)
    down(chain, 28, dropped=OVER)
    assert usage(smf.report(), "VOLQU") == [(BOTH, 1, 500, 0)]


@pytest.mark.parametrize(
    ("quota", "before", "after"),
    [
        (pfcp.IE_VolumeQuota(ULVOL=1, uplink=200), ((100, 0), (0, 900), (100, 0)), (28, 0)),
        (pfcp.IE_VolumeQuota(DLVOL=1, downlink=200), ((900, 0), (0, 200)), (0, 28)),
        (pfcp.IE_VolumeQuota(TOVOL=1, ULVOL=1, total=500, uplink=400), ((0, 300), (200, 0)), (28, 0)),
        (pfcp.IE_VolumeQuota(TOVOL=1, total=0), (), (28, 0)),
    ],
)
def test_a_volume_is_of_either_way_or_of_both(
    chain: Replay,
    smf: ControlPlane,
    quota: ScapyPacket,
    before: tuple[tuple[int, int], ...],
    after: tuple[int, int],
) -> None:
    _, teid = set_up(smf, limited(quota, volume_quota=1))
    for dropped, steps in (("", before), (OVER, (after,))):
        for uplink, downlink in steps:
            if uplink:
                up(chain, teid, uplink, dropped=dropped)
            else:
                down(chain, downlink, dropped=dropped)
    sums = tuple(sum(one[way] for one in before) for way in (0, 1))
    assert usage(smf.report(), "VOLQU") == [(BOTH, 0, *sums)]


def test_packets_stop_when_the_time_is_used_up(chain: Replay, smf: ControlPlane) -> None:
    second = pfcp.IE_TimeQuota(quota=1)
    seid, teid = set_up(smf, limited(second, duration=True, time_quota=1))
    time.sleep(1.2)
    up(chain, teid, 100)  # its time begins here
    report = smf.report()
    assert usage(report, "TIMQU") == [(BOTH, 0, 100, 0)]
    smf.accept(report, seid)
    up(chain, teid, 28, dropped=OVER)
    assert cause(smf.ask(seid, granted(second))) == ACCEPTED
    down(chain, 100)
    assert usage(smf.report(), "TIMQU") == [(BOTH, 1, 0, 100)]
    down(chain, 28, dropped=OVER)


def test_who_did_not_ask_is_not_told(chain: Replay, smf: ControlPlane) -> None:
    quotas = total(100), pfcp.IE_TimeQuota(quota=1)
    seid, teid = set_up(smf, limited(*quotas, duration=True))
    up(chain, teid, 100)
    up(chain, teid, 28, dropped=OVER)
    assert smf.hears_nothing()
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 0, 100, 0)]


def test_one_used_up_quota_of_several_stops_a_rule_and_not_the_others(
    chain: Replay, smf: ControlPlane
) -> None:
    of_uplink = metering.urr(UPLINK, total(100), volume_quota=1)
    rules = metering.urr(BOTH, total(10_000), volume_quota=1), of_uplink
    seid, teid = set_up(smf, metering.metered(*rules))
    up(chain, teid, 100)
    up(chain, teid, 28, dropped=OVER)
    down(chain, 500)
    assert usage(smf.report(), "VOLQU") == [(UPLINK, 0, 100, 0)]
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 0, 100, 500)]


def test_what_another_session_had_used_up_is_not_the_next_ones(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, limited(total(100), volume_quota=1))
    up(chain, teid, 200, dropped=OVER)
    assert cause(smf.ask(seid, pfcp.PFCPSessionDeletionRequest())) == ACCEPTED
    _, teid = set_up(smf, metering.metered(metering.urr(BOTH), uplink=(BOTH,), downlink=(BOTH,)))
    up(chain, teid, 1400)


def test_what_waits_is_of_the_quota_when_it_leaves(chain: Replay, smf: ControlPlane) -> None:
    seid, teid = set_up(smf, limited(total(100), volume_quota=1))
    assert cause(smf.ask(seid, waiting.idle(notify=False))) == ACCEPTED
    down(chain, 60, dropped="held")
    down(chain, 60, dropped="held")
    assert usage(smf.ask(seid, metering.query(BOTH)), "IMMER") == [(BOTH, 0, 0, 0)]
    up(chain, teid, 100)
    assert cause(smf.ask(seid, waiting.reachable())) == ACCEPTED
    down(chain, 28, dropped="held")  # behind those
    up(chain, teid, 28, dropped=OVER)
    assert usage(smf.report(), "VOLQU") == [(BOTH, 1, 100, 0)]
