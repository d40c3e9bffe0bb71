# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy about usage: rules that measure it, and what is reported."""

from __future__ import annotations

from collections.abc import Sequence

from .pfcp_messages import (
    CP_SEID,
    GNB,
    RECOVERY_S,
    SMF,
    Element,
    access,
    core,
    f_seid,
    far,
    node,
    outer_header,
    pdr,
    pfcp,
)


def urr(number: int, *more: Element, volume: bool = True, duration: bool = False, **triggers: int) -> Element:
    """What it measures, and when it reports; `more`: thresholds, a period."""
    return pfcp.IE_CreateURR(
        IE_list=[
            pfcp.IE_URR_Id(id=number),
            pfcp.IE_MeasurementMethod(VOLUM=volume, DURAT=duration),
            pfcp.IE_ReportingTriggers(**triggers),
            *more,
        ]
    )


def metered(*rules: Element, uplink: Sequence[int] = (31, 32), downlink: Sequence[int] = (31,)) -> Element:
    """A session with a rule each way, and these numbers of usage reporting rules at each: unless others are
    given, 31 of both directions, and 32 of uplink at 1,000 bytes, or at ten seconds."""
    at_volume = pfcp.IE_VolumeThreshold(ULVOL=1, uplink=1000)
    at_time = pfcp.IE_TimeThreshold(threshold=10)
    both = urr(31, pfcp.IE_MeasurementPeriod(period=60), periodic_reporting=1)
    of_uplink = urr(32, at_volume, at_time, duration=True, volume_threshold=1, time_threshold=1)
    return pfcp.PFCPSessionEstablishmentRequest(
        IE_list=[
            node(),
            f_seid(SMF, CP_SEID),
            pdr(1, 255, access(), 11, urrs=uplink),
            pdr(21, 255, core(), 12, urrs=downlink),
            far(11, "Core"),
            far(12, "Access", outer_header(GNB, 77)),
            *(rules or (both, of_uplink)),
        ]
    )


def limited(*quotas: Element, duration: bool = False, **triggers: int) -> Element:
    """A session whose packets, both ways, are measured by rule 31 with these quotas."""
    rule = urr(31, *quotas, volume=True, duration=duration, **triggers)
    return metered(rule, uplink=(31,), downlink=(31,))


def limited_twice(both: Sequence[Element], of_downlink: Sequence[Element]) -> Element:
    """A session whose packets are measured by rule 31 both ways, which reports 500 bytes besides, and those
    of downlink by rule 32 too; each has quotas of its own."""
    at_volume = pfcp.IE_VolumeThreshold(TOVOL=1, total=500)
    first = urr(31, at_volume, *both, volume_threshold=1, volume_quota=1)
    second = urr(32, *of_downlink, duration=True, volume_quota=1, time_quota=1)
    return metered(first, second, uplink=(31,), downlink=(31, 32))


def granted(*quotas: Element) -> Element:
    """More for rule 31."""
    rule = pfcp.IE_UpdateURR(IE_list=[pfcp.IE_URR_Id(id=31), *quotas])
    return pfcp.PFCPSessionModificationRequest(IE_list=[rule])


def query(*numbers: int) -> Element:
    """What these rules have measured."""
    asked = [pfcp.IE_QueryURR(IE_list=[pfcp.IE_URR_Id(id=number)]) for number in numbers]
    return pfcp.PFCPSessionModificationRequest(IE_list=asked)


def without_uplink_usage() -> Element:
    """Rule 32 goes, and uplink is of rule 31 alone."""
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[
            pfcp.IE_RemoveURR(IE_list=[pfcp.IE_URR_Id(id=32)]),
            pfcp.IE_UpdatePDR(IE_list=[pfcp.IE_PDR_Id(id=1), pfcp.IE_URR_Id(id=31)]),
        ]
    )


def usage_report(
    kind: type[Element],
    number: int,
    sequence: int,
    time_s: tuple[int, int],
    *more: Element,
    **triggers: int,
) -> Element:
    """From `time_s` to `time_s`; `more`: what was measured."""
    return kind(
        IE_list=[
            pfcp.IE_URR_Id(id=number),
            pfcp.IE_UR_SEQN(number=sequence),
            pfcp.IE_UsageReportTrigger(extra_data=b"\0", **triggers),
            pfcp.IE_StartTime(timestamp=time_s[0]),
            pfcp.IE_EndTime(timestamp=time_s[1]),
            *more,
        ]
    )


def volume(uplink: int, downlink: int) -> Element:
    total = uplink + downlink
    return pfcp.IE_VolumeMeasurement(TOVOL=1, ULVOL=1, DLVOL=1, total=total, uplink=uplink, downlink=downlink)


def reported() -> Element:
    """Rule 32 of a metered session, 10 s after it began, of which 4 s count, when 1,100 bytes have passed."""
    measured = [volume(1100, 0), pfcp.IE_DurationMeasurement(duration=4)]
    of_uplink = usage_report(
        pfcp.IE_UsageReport_SRR, 32, 0, (RECOVERY_S, RECOVERY_S + 10), *measured, VOLTH=1
    )
    return pfcp.PFCPSessionReportRequest(IE_list=[pfcp.IE_ReportType(USAR=1), of_uplink])


def report_taken() -> Element:
    return pfcp.PFCPSessionReportResponse(IE_list=[pfcp.IE_Cause(cause="Request accepted")])
