# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy: of packets that wait for a UE which cannot be reached."""

from __future__ import annotations

from typing import Any

from . import pfcp_messages as messages
from .pfcp_messages import Element, pfcp

DOWNLINK_FAR, DOWNLINK_PDR = 12, 2


def _updated(number: int, *more: Element, **actions: int) -> Element:
    return pfcp.IE_UpdateFAR(
        IE_list=[pfcp.IE_FAR_Id(id=number), pfcp.IE_ApplyAction(**actions), *more],
    )


def _modification(*elements: Element, **flags: int) -> Element:
    said = [pfcp.IE_PFCPSMReqFlags(**flags)] if flags else []
    return pfcp.PFCPSessionModificationRequest(IE_list=[*elements, *said])


def idle(*, notify: bool = True, far: int = DOWNLINK_FAR, **flags: int) -> Element:
    """What is for the UE waits, and the first packet is told."""
    return _modification(_updated(far, BUFF=1, **({"NOCP": 1} if notify else {})), **flags)


def reachable(
    gnb: str = messages.OTHER_GNB, teid: int = 88, far: int = DOWNLINK_FAR, **flags: int
) -> Element:
    """It goes to that gNB."""
    outer = pfcp.IE_UpdateForwardingParameters(IE_list=[messages.outer_header(gnb, teid)])
    return _modification(_updated(far, outer, FORW=1), **flags)


def dropped(far: int = DOWNLINK_FAR) -> Element:
    """What is for the UE, and what waits, is dropped."""
    return _modification(_updated(far, DROP=1))


def flagged(**flags: int) -> Element:
    """Nothing but flags."""
    return _modification(**flags)


def established_idle(packets: int | None = None) -> Element:
    """A session whose UE is to be reached first: its downlink FAR has no tunnel. Its BAR: so many packets."""
    bar = [pfcp.IE_BAR_Id(id=1)] if packets is not None else []
    action = pfcp.IE_ApplyAction(BUFF=1, NOCP=1)
    elements: list[Any] = [
        messages.node(),
        messages.f_seid(messages.SMF, messages.CP_SEID),
        messages.pdr(1, 255, messages.access(), 11),
        messages.pdr(21, 255, messages.for_ue(messages.UE), DOWNLINK_FAR),
        messages.far(11, "Core"),
        pfcp.IE_CreateFAR(
            IE_list=[
                pfcp.IE_FAR_Id(id=DOWNLINK_FAR),
                action,
                pfcp.IE_ForwardingParameters(IE_list=[pfcp.IE_DestinationInterface(interface="Access")]),
                *bar,
            ]
        ),
    ]
    if packets is not None:
        count = pfcp.IE_SuggestedBufferingPacketsCount(count=packets)
        elements.append(pfcp.IE_Create_BAR(IE_list=[pfcp.IE_BAR_Id(id=1), count]))
    return pfcp.PFCPSessionEstablishmentRequest(IE_list=elements)


def bar_of(packets: int) -> Element:
    """The BAR of `established_idle` says another number."""
    count = pfcp.IE_SuggestedBufferingPacketsCount(count=packets)
    return _modification(pfcp.IE_Update_BAR_SMR(IE_list=[pfcp.IE_BAR_Id(id=1), count]))


def told(pdr: int) -> Element:
    """A report that packets wait, as a UPF sends it."""
    return pfcp.PFCPSessionReportRequest(
        IE_list=[
            pfcp.IE_ReportType(DLDR=1),
            pfcp.IE_DownlinkDataReport(IE_list=[pfcp.IE_PDR_Id(id=pdr)]),
        ]
    )


def taken_and_dropped() -> Element:
    """The answer to that: what waits is not worth it."""
    return pfcp.PFCPSessionReportResponse(
        IE_list=[pfcp.IE_Cause(cause="Request accepted"), pfcp.IE_PFCPSRRspFlags(spare=0, DROBU=1)]
    )
