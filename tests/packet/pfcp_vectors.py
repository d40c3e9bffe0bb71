# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy, for C tests of ours: `python -m tests.packet.pfcp_vectors` writes them, as headers
and as the inputs that fuzzing begins from."""

from __future__ import annotations

from pathlib import Path

from .pfcp_buffer_messages import bar_of, established_idle, flagged, idle, reachable, taken_and_dropped
from .pfcp_messages import (
    CP_SEID,
    UP_SEID,
    UPF,
    Element,
    a_rule_a_version,
    bearers,
    buffering,
    created,
    establishment,
    f_seid,
    handover,
    node,
    of_nodes,
    of_session,
    of_versions,
    one_flow_again,
    pfcp,
    recovery,
    web_goes_first,
    without_downlink,
    without_qfi,
)
from .pfcp_usage_messages import (
    granted,
    limited,
    limited_twice,
    metered,
    query,
    report_taken,
    reported,
    without_uplink_usage,
)

FOLDER = Path(__file__).resolve().parents[2] / "native" / "nf" / "upf" / "pfcp"
HEADERS = {
    "session_vectors_test.h": (
        "heartbeat", "association_setup", "association_release", "establishment", "handover",
        "without_downlink", "without_qfi", "deletion", "other_ue", "third_ue", "teid_of_the_smf", "buffering",
        "idle_from_the_beginning",
    ),
    "flow_vectors_test.h": (
        "bearers", "both_versions", "prefix_alone", "a_rule_a_version", "web_goes_first", "one_flow_again",
    ),
    "usage_vectors_test.h": (
        "metered", "limited", "limited_twice", "granted", "usage_reported", "report_taken",
    ),
    "refused_vectors_test.h": (
        "no_node_id", "no_f_seid", "no_far", "no_precedence", "no_source_interface", "no_gate_status",
    ),
    "response_vectors_test.h": (
        "heartbeat_response", "association_setup_response", "establishment_response", "refusal",
    ),
}  # fmt: skip
"""Messages that tests in C use, by header."""
CORPUS = FOLDER / "pfcp_fuzz_corpus"
TALKS = FOLDER / "agent_fuzz_corpus"


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
        "handover_with_end_marker": of_session(UP_SEID, 38, handover(end_marker=True)),
        "without_downlink": of_session(UP_SEID, 5, without_downlink()),
        "without_qfi": of_session(UP_SEID, 45, without_qfi()),
        "deletion": of_session(UP_SEID, 6, pfcp.PFCPSessionDeletionRequest()),
        "other_ue": of_session(0, 8, establishment(ue="10.46.0.2")),
        "third_ue": of_session(0, 9, establishment(ue="10.46.0.3")),
        "bearers": of_session(0, 12, bearers()),
        "both_versions": of_session(0, 27, of_versions()),
        "prefix_alone": of_session(0, 28, of_versions(ip="")),
        "a_rule_a_version": of_session(0, 29, a_rule_a_version()),
        "web_goes_first": of_session(UP_SEID, 13, web_goes_first()),
        "one_flow_again": of_session(UP_SEID, 14, one_flow_again()),
        "metered": of_session(0, 15, metered()),
        "limited": of_session(0, 40, limited(*quotas(1000, 5), duration=True, volume_quota=1, time_quota=1)),
        "limited_twice": of_session(
            0, 46, limited_twice([pfcp.IE_VolumeQuota(TOVOL=1, total=1000)], quotas(600, 5))
        ),
        "granted": of_session(UP_SEID, 41, granted(*quotas(500, 5))),
        "query_both": of_session(UP_SEID, 16, query(31, 32)),
        "without_uplink_usage": of_session(UP_SEID, 17, without_uplink_usage()),
        "idle_from_the_beginning": of_session(0, 35, established_idle(packets=9)),
        "idle": of_session(UP_SEID, 36, idle()),
        "reachable": of_session(UP_SEID, 37, reachable()),
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
    features = pfcp.IE_UPFunctionFeatures(length=2, FTUP=1, UDBC=1, EMPU=1)
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


def quotas(total_bytes: int, time_s: int) -> list[Element]:
    """A volume of both ways, and a time."""
    return [pfcp.IE_VolumeQuota(TOVOL=1, total=total_bytes), pfcp.IE_TimeQuota(quota=time_s)]


GIVEN_SEID = 2**64 - 1
"""Stands for the last one that was given out, in inputs of the agent's fuzzing."""


def talks() -> dict[str, bytes]:
    """Datagrams of control plane functions in a row, as inputs that the agent's fuzzing begins from."""
    known = requests()
    setup, opening = known["association_setup"], known["establishment"]
    moving = of_session(GIVEN_SEID, 20, handover(end_marker=True))
    closing = of_session(GIVEN_SEID, 21, without_downlink())
    deleting = of_session(GIVEN_SEID, 22, pfcp.PFCPSessionDeletionRequest())
    return {
        "session": _talk(setup, opening, moving, closing, deleting, known["association_release"]),
        "bearers": _talk(
            setup,
            known["bearers"],
            of_session(GIVEN_SEID, 39, handover(end_marker=True, fars=(12, 14))),
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
        "versions": _talk(
            setup, known["both_versions"], known["prefix_alone"], deleting, known["a_rule_a_version"]
        ),
        "quotas": _talk(
            setup,
            known["limited"],
            of_session(GIVEN_SEID, 42, granted(*quotas(100, 1))),
            of_session(GIVEN_SEID, 43, query(31)),
            of_session(GIVEN_SEID, 44, granted(*quotas(0, 0))),
            deleting,
        ),
        "buffering": _talk(
            setup,
            known["idle_from_the_beginning"],
            of_session(GIVEN_SEID, 30, bar_of(2)),
            of_session(GIVEN_SEID, 31, idle()),
            of_session(GIVEN_SEID, 0, taken_and_dropped()),
            of_session(GIVEN_SEID, 32, reachable()),
            of_session(GIVEN_SEID, 33, idle(notify=False)),
            of_session(GIVEN_SEID, 34, flagged(DROBU=1)),
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


def text(header: str) -> str:
    """One header of C."""
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* PFCP messages as Scapy writes them: python -m tests.packet.pfcp_vectors */",
        "#include <stdint.h>",
        "",
        '#include "span_test.h"',
        "",
        "/* clang-format off */",
    ]
    known = {**requests(), **responses()}
    for name in HEADERS[header]:
        message = known[name]
        lines += ["", f"static const uint8_t {name}[] = {{"]
        for at in range(0, len(message), 14):
            lines.append("\t" + " ".join(f"0x{byte:02x}," for byte in message[at : at + 14]))
        lines.append("};")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the headers and the corpus."""
    for header in HEADERS:
        (FOLDER / header).write_text(text(header), encoding="ascii")
    CORPUS.mkdir(exist_ok=True)
    for name, message in requests().items():
        (CORPUS / name).write_bytes(message)
    TALKS.mkdir(exist_ok=True)
    for name, talk in talks().items():
        (TALKS / name).write_bytes(talk)


if __name__ == "__main__":
    main()
