# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy, for C tests of ours: `python -m tests.packet.pfcp_vectors` writes them, as a header
and as the inputs that fuzzing begins from."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scapy.contrib.pfcp import PFCP
from scapy.packet import Packet as ScapyPacket

pfcp: Any = importlib.import_module("scapy.contrib.pfcp")
"""Its elements have no types."""
Element = Any
"""One of them, or a message."""

FOLDER = Path(__file__).resolve().parents[2] / "native" / "nf" / "upf" / "pfcp"
HEADER = FOLDER / "vectors_test.h"
CORPUS = FOLDER / "pfcp_fuzz_corpus"
TALKS = FOLDER / "agent_fuzz_corpus"

SMF, UPF, GNB, OTHER_GNB, UE = "192.0.2.100", "192.0.2.101", "192.0.2.7", "192.0.2.8", "10.46.0.1"
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
    """What this UPF cannot."""
    message = establishment()
    for one in message.IE_list:
        if isinstance(one, pfcp.IE_CreateFAR):
            one.IE_list[1] = pfcp.IE_ApplyAction(BUFF=1, NOCP=1)
    return message


def handover() -> Element:
    parameters = pfcp.IE_UpdateForwardingParameters(IE_list=[outer_header(OTHER_GNB, 4_000_000_000)])
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[pfcp.IE_UpdateFAR(IE_list=[pfcp.IE_FAR_Id(id=12), parameters])]
    )


def without_downlink() -> Element:
    return pfcp.PFCPSessionModificationRequest(
        IE_list=[
            pfcp.IE_RemovePDR(IE_list=[pfcp.IE_PDR_Id(id=2)]),
            pfcp.IE_RemoveFAR(IE_list=[pfcp.IE_FAR_Id(id=12)]),
            pfcp.IE_UpdateQER(IE_list=[pfcp.IE_QER_Id(id=21), pfcp.IE_GateStatus(ul="CLOSED", dl="CLOSED")]),
        ]
    )


DNS, WEB = "permit out 17 from 203.0.113.9 53 to assigned", "permit out 6 from any 80,8000-8080 to assigned"


def sdf(description: str = "", number: int | None = None, tos: bytes = b"") -> Element:
    """A service data flow filter; one that has only a number is described elsewhere in the session."""
    given: dict[str, Any] = {}
    if description:
        given |= {"FD": 1, "flow_description": description.encode()}
    if tos:
        given |= {"TTC": 1, "tos_traffic_class": tos[0], "tos_traffic_mask": tos[1]}
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


def created(teid: int) -> Element:
    chosen = pfcp.IE_FTEID(V4=1, TEID=teid, ipv4=UPF)
    return pfcp.IE_CreatedPDR(IE_list=[pfcp.IE_PDR_Id(id=1), chosen])


def of_session(seid: int, sequence: int, message: ScapyPacket) -> bytes:
    return bytes(PFCP(S=1, seid=seid, seq=sequence) / message)


def of_nodes(sequence: int, message: ScapyPacket) -> bytes:
    return bytes(PFCP(S=0, seq=sequence) / message)


def requests() -> dict[str, bytes]:
    """What a control plane function sends, by name."""
    release = pfcp.PFCPAssociationReleaseRequest(IE_list=[node()])
    setup = pfcp.PFCPAssociationSetupRequest(IE_list=[node(), recovery()])
    return {
        "heartbeat": of_nodes(1, pfcp.PFCPHeartbeatRequest(IE_list=[recovery()])),
        "association_setup": of_nodes(2, setup),
        "association_release": of_nodes(0xFFFFFF, release),
        "establishment": of_session(0, 0x010203, establishment()),
        "handover": of_session(UP_SEID, 4, handover()),
        "without_downlink": of_session(UP_SEID, 5, without_downlink()),
        "deletion": of_session(UP_SEID, 6, pfcp.PFCPSessionDeletionRequest()),
        "other_ue": of_session(0, 8, establishment(ue="10.46.0.2")),
        "third_ue": of_session(0, 9, establishment(ue="10.46.0.3")),
        "bearers": of_session(0, 12, bearers()),
        "web_goes_first": of_session(UP_SEID, 13, web_goes_first()),
        "one_flow_again": of_session(UP_SEID, 14, one_flow_again()),
        "metered": of_session(0, 15, metered()),
        "query_both": of_session(UP_SEID, 16, query(31, 32)),
        "without_uplink_usage": of_session(UP_SEID, 17, without_uplink_usage()),
        "teid_of_the_smf": of_session(0, 10, establishment(V4=1, TEID=5, ipv4=UPF)),
        "buffering": of_session(0, 11, buffering()),
        "no_node_id": of_session(0, 7, establishment(pfcp.IE_NodeId)),
        "no_f_seid": of_session(0, 7, establishment(pfcp.IE_FSEID)),
        "no_far": of_session(0, 7, establishment(pfcp.IE_CreateFAR)),
        "no_precedence": of_session(0, 7, establishment(pfcp.IE_Precedence)),
        "no_source_interface": of_session(0, 7, establishment(pfcp.IE_SourceInterface)),
        "no_gate_status": of_session(0, 7, establishment(pfcp.IE_GateStatus)),
    }


def responses() -> dict[str, bytes]:
    """What a user plane function answers, by name."""
    accepted = pfcp.IE_Cause(cause="Request accepted")
    offended = [pfcp.IE_Cause(cause="Mandatory IE missing"), pfcp.IE_OffendingIE(type=57)]
    features = pfcp.IE_UPFunctionFeatures(length=2, FTUP=1)
    setup = [node(UPF), accepted, recovery(), features]
    established = [node(UPF), accepted, f_seid(UPF, UP_SEID), created(0xCAFE0001)]
    return {
        "heartbeat_response": of_nodes(1, pfcp.PFCPHeartbeatResponse(IE_list=[recovery()])),
        "association_setup_response": of_nodes(2, pfcp.PFCPAssociationSetupResponse(IE_list=setup)),
        "establishment_response": of_session(
            CP_SEID, 0x010203, pfcp.PFCPSessionEstablishmentResponse(IE_list=established)
        ),
        "usage_reported": of_session(CP_SEID, 0, reported()),
        "report_taken": of_session(UP_SEID, 0, report_taken()),
        "refusal": of_session(0, 7, pfcp.PFCPSessionEstablishmentResponse(IE_list=[node(UPF), *offended])),
    }


GIVEN_SEID = 2**64 - 1
"""Stands for the last one that was given out, in inputs of the agent's fuzzing."""


def talks() -> dict[str, bytes]:
    """Datagrams of control plane functions in a row, as inputs that the agent's fuzzing begins from."""
    known = requests()
    setup, opening = known["association_setup"], known["establishment"]
    moving = of_session(GIVEN_SEID, 20, handover())
    closing = of_session(GIVEN_SEID, 21, without_downlink())
    deleting = of_session(GIVEN_SEID, 22, pfcp.PFCPSessionDeletionRequest())
    return {
        "session": _talk(setup, opening, moving, closing, deleting, known["association_release"]),
        "bearers": _talk(
            setup,
            known["bearers"],
            of_session(GIVEN_SEID, 23, web_goes_first()),
            of_session(GIVEN_SEID, 24, one_flow_again()),
            deleting,
        ),
        "usage": _talk(
            setup,
            known["metered"],
            of_session(GIVEN_SEID, 25, query(31, 32, 33)),
            of_session(GIVEN_SEID, 26, without_uplink_usage()),
            of_session(GIVEN_SEID, 0, report_taken()),
            deleting,
        ),
        "repeated": _talk(setup, setup, opening, opening, moving, closing, moving),
        "released": _talk(setup, opening, known["other_ue"], known["association_release"], opening),
        "refused": _talk(known["heartbeat"], opening, setup, *known.values()),
        "strangers": _datagram(0, setup) + _datagram(0, opening) + _datagram(1, moving) + _datagram(1, setup),
    }


def _datagram(sender: int, message: bytes) -> bytes:
    return bytes([sender]) + len(message).to_bytes(2, "big") + message


def _talk(*sent: bytes) -> bytes:
    return b"".join(_datagram(0, one) for one in sent)


def text() -> str:
    """The header of C."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* PFCP messages as Scapy writes them: python -m tests.packet.pfcp_vectors */",
        "#include <stdint.h>",
        "",
        '#include "read.h"',
        "",
        "#define SPAN(message) ((struct pfcp_span){.at = (message), .bytes = sizeof(message)})",
        "",
        "/* clang-format off */",
    ]
    for name, message in {**requests(), **responses()}.items():
        lines += ["", f"static const uint8_t {name}[] = {{"]
        for at in range(0, len(message), 14):
            lines.append("\t" + " ".join(f"0x{byte:02x}," for byte in message[at : at + 14]))
        lines.append("};")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the header and the corpus."""
    HEADER.write_text(text(), encoding="ascii")
    CORPUS.mkdir(exist_ok=True)
    for name, message in requests().items():
        (CORPUS / name).write_bytes(message)
    TALKS.mkdir(exist_ok=True)
    for name, talk in talks().items():
        (TALKS / name).write_bytes(talk)


if __name__ == "__main__":
    main()
