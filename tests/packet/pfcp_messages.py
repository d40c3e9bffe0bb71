# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy: of nodes, and of sessions with their flows."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from scapy.contrib.pfcp import PFCP
from scapy.packet import Packet as ScapyPacket

pfcp: Any = importlib.import_module("scapy.contrib.pfcp")
"""Its elements have no types."""
Element = Any
"""One of them, or a message."""

SMF, UPF, GNB, OTHER_GNB, UE = "192.0.2.100", "192.0.2.101", "192.0.2.7", "192.0.2.8", "10.46.0.1"
PREFIX = "2001:db8:46:1::"
RECOVERY_S = 3_900_000_000
CP_SEID, UP_SEID = 0x1122334455667788, 0x99AABBCCDDEEFF01


def node(ip: str = SMF) -> Element:
    return pfcp.IE_NodeId(id_type="IPv4", ipv4=ip)


def recovery(since_s: int = RECOVERY_S) -> Element:
    return pfcp.IE_RecoveryTimeStamp(timestamp=since_s)


def f_seid(ip: str, seid: int) -> Element:
    return pfcp.IE_FSEID(v4=1, seid=seid, ipv4=ip)


def uplink_pdr(ue: str = UE, **f_teid: Any) -> Element:
    """From the gNB; the UPF is to choose the TEID unless another F-TEID is given."""
    chosen = f_teid or {"V4": 1, "CH": 1, "CHID": 1, "choose_id": 5}
    pdi = [
        pfcp.IE_SourceInterface(interface="Access"),
        pfcp.IE_FTEID(**chosen),
        pfcp.IE_NetworkInstance(instance="access"),
        pfcp.IE_UE_IP_Address(V4=1, ipv4=ue),
    ]
    return pfcp.IE_CreatePDR(
        IE_list=[
            pfcp.IE_PDR_Id(id=1),
            pfcp.IE_Precedence(precedence=255),
            pfcp.IE_PDI(IE_list=pdi),
            pfcp.IE_OuterHeaderRemoval(header="GTP-U/UDP/IPv4"),
            pfcp.IE_FAR_Id(id=11),
            pfcp.IE_QER_Id(id=21),
        ]
    )


def downlink_pdr(ue: str = UE) -> Element:
    pdi = [
        pfcp.IE_SourceInterface(interface="Core"),
        pfcp.IE_NetworkInstance(instance="internet"),
        pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=ue),
    ]
    return pfcp.IE_CreatePDR(
        IE_list=[
            pfcp.IE_PDR_Id(id=2),
            pfcp.IE_Precedence(precedence=255),
            pfcp.IE_PDI(IE_list=pdi),
            pfcp.IE_FAR_Id(id=12),
            pfcp.IE_QER_Id(id=21),
        ]
    )


def far(number: int, towards: str, outer: ScapyPacket | None = None) -> Element:
    parameters = [pfcp.IE_DestinationInterface(interface=towards), *([outer] if outer else [])]
    action = pfcp.IE_ApplyAction(FORW=1)
    return pfcp.IE_CreateFAR(
        IE_list=[pfcp.IE_FAR_Id(id=number), action, pfcp.IE_ForwardingParameters(IE_list=parameters)]
    )


def outer_header(gnb: str, teid: int) -> Element:
    return pfcp.IE_OuterHeaderCreation(GTPUUDPIPV4=1, TEID=teid, ipv4=gnb)


def qer() -> Element:
    gates = pfcp.IE_GateStatus(ul="OPEN", dl="CLOSED")
    rates = pfcp.IE_MBR(ul=50_000, dl=10_000_000_000)
    return pfcp.IE_CreateQER(IE_list=[pfcp.IE_QER_Id(id=21), gates, rates, pfcp.IE_QFI(QFI=5)])


def establishment(*without: type[ScapyPacket], ue: str = UE, **f_teid: Any) -> Element:
    """Both directions of a session; without elements of those kinds, inside others too."""
    elements = [
        node(),
        f_seid(SMF, CP_SEID),
        uplink_pdr(ue, **f_teid),
        downlink_pdr(ue),
        far(11, "Core"),
        far(12, "Access", outer_header(GNB, 77)),
        qer(),
        pfcp.IE_PDNType(pdn_type="IPv4"),
    ]
    return pfcp.PFCPSessionEstablishmentRequest(IE_list=_left(elements, without))


def _left(elements: list[ScapyPacket], without: tuple[type[ScapyPacket], ...]) -> list[ScapyPacket]:
    left = [one for one in elements if not isinstance(one, without)]
    for one in left:
        if isinstance(one, pfcp.IE_Compound):
            one.IE_list = _left(list(one.IE_list), without)
    return left


def buffering() -> Element:
    """What comes from the UE is to wait, too: what this UPF cannot."""
    message = establishment()
    for one in message.IE_list:
        if isinstance(one, pfcp.IE_CreateFAR):
            one.IE_list[1] = pfcp.IE_ApplyAction(BUFF=1, NOCP=1)
    return message


def handover(*, end_marker: bool = False, fars: Sequence[int] = (12,), teid: int = 4_000_000_000) -> Element:
    """To another gNB; with SNDEM the one before is told."""
    flags = [pfcp.IE_PFCPSMReqFlags(spare=0, SNDEM=1)] if end_marker else []
    parameters = pfcp.IE_UpdateForwardingParameters(IE_list=[outer_header(OTHER_GNB, teid), *flags])
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[pfcp.IE_UpdateFAR(IE_list=[pfcp.IE_FAR_Id(id=far), parameters.copy()]) for far in fars]
    )


def without_downlink() -> Element:
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[
            pfcp.IE_RemovePDR(IE_list=[pfcp.IE_PDR_Id(id=2)]),
            pfcp.IE_RemoveFAR(IE_list=[pfcp.IE_FAR_Id(id=12)]),
            pfcp.IE_UpdateQER(IE_list=[pfcp.IE_QER_Id(id=21), pfcp.IE_GateStatus(ul="CLOSED", dl="CLOSED")]),
        ]
    )


def without_qfi() -> Element:
    """Downlink goes by another QER, which names no QoS flow."""
    gates = pfcp.IE_GateStatus(ul="OPEN", dl="OPEN")
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[
            pfcp.IE_CreateQER(IE_list=[pfcp.IE_QER_Id(id=24), gates]),
            pfcp.IE_UpdatePDR(IE_list=[pfcp.IE_PDR_Id(id=2), pfcp.IE_QER_Id(id=24)]),
        ]
    )


DNS, WEB = "permit out 17 from 203.0.113.9 53 to assigned", "permit out 6 from any 80,8000-8080 to assigned"


DNS6 = "permit out 17 from 2001:db8:53::/48 53 to assigned"


def sdf(
    description: str = "",
    number: int | None = None,
    tos: bytes = b"",
    spi: int | None = None,
    label: int | None = None,
) -> Element:
    """A service data flow filter; one that has only a number is described elsewhere in the session."""
    given: dict[str, Any] = {}
    if description:
        given |= {"FD": 1, "flow_description": description.encode()}
    if tos:
        given |= {"TTC": 1, "tos_traffic_class": tos[0], "tos_traffic_mask": tos[1]}
    if spi is not None:
        given |= {"SPI": 1, "security_parameter_index": spi}
    if label is not None:
        given |= {"FL": 1, "flow_label": label}
    if number is not None:
        given |= {"BID": 1, "sdf_filter_id": number}
    return pfcp.IE_SDF_Filter(**given)


def pdr(
    number: int, precedence: int, pdi: list[Element], far_id: int, *qers: int, urrs: Sequence[int] = ()
) -> Element:
    """Of either direction, by its detection information."""
    uplink = [pfcp.IE_OuterHeaderRemoval(header="GTP-U/UDP/IPv4")] if number < DOWNLINK_FIRST else []
    return pfcp.IE_CreatePDR(
        IE_list=[
            pfcp.IE_PDR_Id(id=number),
            pfcp.IE_Precedence(precedence=precedence),
            pfcp.IE_PDI(IE_list=pdi),
            *uplink,
            pfcp.IE_FAR_Id(id=far_id),
            *(pfcp.IE_QER_Id(id=one) for one in qers),
            *(pfcp.IE_URR_Id(id=one) for one in urrs),
        ]
    )


DOWNLINK_FIRST = 20


def access(*more: Element) -> list[Element]:
    """Detection information of what comes from the UE."""
    chosen = pfcp.IE_FTEID(V4=1, CH=1, CHID=1, choose_id=5)
    return [pfcp.IE_SourceInterface(interface="Access"), chosen, *more]


def core(*more: Element) -> list[Element]:
    """Detection information of what is for the UE."""
    ue = pfcp.IE_UE_IP_Address(V4=1, SD=1, ipv4=UE)
    return [pfcp.IE_SourceInterface(interface="Core"), ue, *more]


def ue_address(ip: str = "", prefix: str = "", **more: Any) -> Element:
    """A UE's IPv4 address, IPv6 address or prefix, or both."""
    given: dict[str, Any] = {}
    if ip:
        given |= {"V4": 1, "ipv4": ip}
    if prefix:
        given |= {"V6": 1, "ipv6": prefix}
    return pfcp.IE_UE_IP_Address(**given, **more)


def for_ue(ip: str = "", prefix: str = "", *more: Element) -> list[Element]:
    """Detection information of what is for a UE with these."""
    return [pfcp.IE_SourceInterface(interface="Core"), ue_address(ip, prefix, SD=1), *more]


def of_versions(ip: str = UE, prefix: str = PREFIX) -> Element:
    """A session of a UE with that address, that prefix, or both, and a rule each way."""
    elements = [
        node(),
        f_seid(SMF, CP_SEID),
        pdr(1, 255, access(), 11),
        pdr(21, 255, for_ue(ip, prefix), 12),
        far(11, "Core"),
        far(12, "Access", outer_header(GNB, 77)),
    ]
    return pfcp.PFCPSessionEstablishmentRequest(IE_list=elements)


def a_rule_a_version() -> Element:
    """What is of IPv6 has a tunnel of its own, and DNS of a prefix another QoS flow there; of IPv4 comes
    nothing from the UE."""
    elements = [
        node(),
        f_seid(SMF, CP_SEID),
        pdr(1, 255, access(ue_address(prefix=PREFIX)), 11),
        pdr(21, 255, for_ue(UE), 12),
        pdr(22, 255, for_ue("", PREFIX), 14, 23),
        pdr(23, 10, for_ue("", PREFIX, sdf(DNS6), sdf(label=0x54321), sdf(spi=0x1000)), 14, 21),
        far(11, "Core"),
        far(12, "Access", outer_header(GNB, 77)),
        far(14, "Access", outer_header(OTHER_GNB, 78)),
        flow_qer(21, 5),
        flow_qer(23, 9),
    ]
    return pfcp.PFCPSessionEstablishmentRequest(IE_list=elements)


def flow_qer(number: int, flow: int, ul: str = "OPEN", dl: str = "OPEN") -> Element:
    """Gates of a QoS flow, and its number."""
    gates = pfcp.IE_GateStatus(ul=ul, dl=dl)
    return pfcp.IE_CreateQER(IE_list=[pfcp.IE_QER_Id(id=number), gates, pfcp.IE_QFI(QFI=flow)])


def bearers() -> Element:
    """A session with three flows each way: DNS in a tunnel of its own, the web with its downlink gate closed,
    and in QoS flow 9 what is neither."""
    elements = [
        node(),
        f_seid(SMF, CP_SEID),
        pdr(3, 255, access(), 11, 23),
        pdr(1, 10, access(sdf(number=1)), 11, 21),
        pdr(2, 20, access(sdf(number=2), pfcp.IE_QFI(QFI=6)), 13, 22),
        pdr(23, 255, core(), 12, 23),
        pdr(21, 10, core(sdf(DNS, 1)), 14, 21),
        pdr(22, 20, core(sdf(WEB, 2), sdf(tos=b"\xb8\xfc")), 12, 22),
        far(11, "Core"),
        far(12, "Access", outer_header(GNB, 77)),
        pfcp.IE_CreateFAR(IE_list=[pfcp.IE_FAR_Id(id=13), pfcp.IE_ApplyAction(DROP=1)]),
        far(14, "Access", outer_header(OTHER_GNB, 78)),
        flow_qer(21, 5),
        flow_qer(22, 6, dl="CLOSED"),
        flow_qer(23, 9),
    ]
    return pfcp.PFCPSessionEstablishmentRequest(IE_list=elements)


def web_goes_first() -> Element:
    """The web's gates open, and it is asked before DNS, which is described anew and so fits all of UDP."""
    gates = pfcp.IE_GateStatus(ul="OPEN", dl="OPEN")
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[
            pfcp.IE_UpdateQER(IE_list=[pfcp.IE_QER_Id(id=22), gates]),
            pfcp.IE_UpdatePDR(IE_list=[pfcp.IE_PDR_Id(id=22), pfcp.IE_Precedence(precedence=5)]),
            pfcp.IE_UpdatePDR(
                IE_list=[
                    pfcp.IE_PDR_Id(id=21),
                    pfcp.IE_PDI(IE_list=core(sdf("permit out 17 from any to any", 1))),
                ]
            ),
        ]
    )


def one_flow_again() -> Element:
    """All rules but those for everything go."""
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[pfcp.IE_RemovePDR(IE_list=[pfcp.IE_PDR_Id(id=number)]) for number in (1, 2, 21, 22)]
    )


def created(teid: int) -> Element:
    chosen = pfcp.IE_FTEID(V4=1, TEID=teid, ipv4=UPF)
    return pfcp.IE_CreatedPDR(IE_list=[pfcp.IE_PDR_Id(id=1), chosen])


def of_session(seid: int, sequence: int, message: ScapyPacket) -> bytes:
    return bytes(PFCP(S=1, seid=seid, seq=sequence) / message)


def of_nodes(sequence: int, message: ScapyPacket) -> bytes:
    return bytes(PFCP(S=0, seq=sequence) / message)
