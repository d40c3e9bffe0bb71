# SPDX-License-Identifier: Apache-2.0
"""PFCP messages by Scapy, for C tests of ours: `python -m tests.packet.pfcp_vectors` writes them, as a header
and as the inputs that fuzzing begins from."""

from __future__ import annotations

from pathlib import Path

from .pfcp_messages import (
    CP_SEID,
    UP_SEID,
    UPF,
    bearers,
    buffering,
    created,
    establishment,
    f_seid,
    handover,
    node,
    of_nodes,
    of_session,
    one_flow_again,
    pfcp,
    recovery,
    web_goes_first,
    without_downlink,
)
from .pfcp_usage_messages import metered, query, report_taken, reported, without_uplink_usage

FOLDER = Path(__file__).resolve().parents[2] / "native" / "nf" / "upf" / "pfcp"
HEADER = FOLDER / "vectors_test.h"
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
