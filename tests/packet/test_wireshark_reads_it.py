# SPDX-License-Identifier: Apache-2.0
"""What a upf sends on N4 and N3 is what Wireshark reads, without a fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet as ScapyPacket

from . import pfcp_buffer_messages as waiting
from . import pfcp_messages as messages
from . import pfcp_usage_messages as metering
from . import wireshark
from .control_plane import ControlPlane, element, network, upf
from .frames import framed
from .pfcp_messages import pfcp
from .polled import polled
from .replay import Forwarded, Options, replay
from .test_n4_usage import set_up, up
from .wireshark import dissected, over_udp

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace: run as root"),
    pytest.mark.long,
    wireshark.needed,
]

PFCP_PORT = 8805
SETUP_RESPONSE, ESTABLISHED, MODIFIED, DELETED, REPORT = "6", "51", "53", "55", "56"
SERVER = "203.0.113.9"


def test_answers_and_reports_of_n4(tmp_path: Path) -> None:
    with network() as netns, replay(upf()) as chain, ControlPlane(netns) as smf:
        chain.listen("upf0", f"/run/netns/{netns}")
        sent = [bytes(smf.associate())]
        refused = smf.ask(0, messages.establishment(pfcp.IE_CreateFAR))
        seid, teid = set_up(smf, metering.metered())
        up(chain, teid, 900)
        queried = smf.ask(seid, metering.query(31, 32))
        up(chain, teid, 1100)
        reported = smf.report()
        smf.accept(reported, seid)
        deleted = smf.ask(seid, pfcp.PFCPSessionDeletionRequest())
        smf.sequence += 1
        idle_seid, _ = set_up(smf, waiting.established_idle())
        chain.send(
            framed(IP(src=SERVER, dst=messages.UE) / UDP(sport=9000, dport=4000) / b"waits"), "inbound"
        )
        waits = smf.report()
        smf.ask(idle_seid, pfcp.PFCPSessionDeletionRequest())
        set_up_again = smf.ask(0, messages.bearers())
        sent += [bytes(one) for one in (refused, queried, reported, deleted, waits, set_up_again)]
    fields = ("msg_type", "seid", "cause", "offending_ie", "urr_id", "ur_seqn")
    volumes = tuple(f"volume_measurement.{one}vol" for one in ("to", "ul", "dl"))
    rows = dissected(
        [over_udp(one, PFCP_PORT) for one in sent],
        tmp_path,
        *(f"pfcp.{name}" for name in (*fields, *volumes, "f_teid.teid", "report_type.dldr", "pdr_id")),
    )
    cp_seid = hex(messages.CP_SEID)
    assert rows[0][:4] == [SETUP_RESPONSE, "", "1", ""]
    assert rows[1][:4] == [ESTABLISHED, cp_seid, "66", str(pfcp.IE_CreateFAR.ie_type)]
    assert rows[2][:9] == [MODIFIED, cp_seid, "1", "", "31,32", "0,0", "900,900", "900,900", "0,0"]
    assert rows[3][:9] == [REPORT, cp_seid, "", "", "32", "1", "1100", "1100", "0"]
    assert rows[4][:9] == [DELETED, cp_seid, "1", "", "31,32", "1,2", "1100,0", "1100,0", "0,0"]
    assert [rows[5][0], *rows[5][10:]] == [REPORT, "1", "21"]
    assert rows[6][0] == ESTABLISHED
    assert rows[6][9] == ",".join([hex(element(set_up_again, pfcp.IE_FTEID).TEID)] * 3)


@pytest.mark.parametrize("container", [True, False])
def test_packets_in_tunnels_of_n3(container: bool, tmp_path: Path) -> None:
    options: Options = {
        "sessions": 3,
        "ue_first_prefix": "2001:db8:1::/64",
        "ue_first_address": "10.45.0.1",
        "gnb_teid_first": 0x9000,
        "qfi": 5,
        "pdu_session_container": container,
    }
    users: list[ScapyPacket] = [
        IP(src=SERVER, dst="10.45.0.1") / UDP(sport=9000, dport=4000) / b"odd",
        IP(src=SERVER, dst="10.45.0.2") / TCP(sport=9001, dport=4001, flags="PA") / bytes(1300),
        IP(src=SERVER, dst="10.45.0.3", frag=20, flags="MF", proto=17) / bytes(40),
        IPv6(src="2001:db8:53::9", dst="2001:db8:1:2::7") / UDP(sport=9002, dport=4002) / b"six",
    ]
    with replay(("upf", options)) as chain:
        outcomes = chain.send_all([framed(one) for one in users], "inbound")
    frames = [one.frame for one in outcomes if isinstance(one, Forwarded)]
    rows = dissected(
        frames,
        tmp_path,
        *("gtp.message", "gtp.teid", "gtp.ext_hdr.pdu_ses_con.qos_flow_id"),
        *("ip.dst", "ip.len", "ipv6.dst", "ipv6.plen"),
    )
    assert [row[:3] for row in rows] == [
        ["0xff", f"0x{0x9000 + number:08x}", "5" if container else ""] for number in (0, 1, 2, 2)
    ]
    assert [row[3].split(",")[1:] for row in rows] == [["10.45.0.1"], ["10.45.0.2"], ["10.45.0.3"], []]
    assert [row[4].split(",")[1] for row in rows[:3]] == [str(len(one)) for one in users[:3]]
    assert [row[5:] for row in rows] == [["", ""]] * 3 + [["2001:db8:1:2::7", "11"]]


def test_end_markers_of_n3(tmp_path: Path) -> None:
    down = framed(IP(src=SERVER, dst="10.45.0.1") / UDP(sport=9000, dport=4000) / b"before")
    with polled([{"nf": "upf", "options": {"sessions": 1, "gnb_teid_first": 0x9000}}]) as chain:
        before, _ = chain.passes(right=[down])
        chain.command("upf", "sessions-modify", sessions="ue=10.45.0.1 gnb_teid=7 end_marker=true")
        frames, _ = chain.passes(right=[down])
    rows = dissected([*before, *frames], tmp_path, "gtp.message", "gtp.teid", "gtp.length")
    old, new = "0x00009000", "0x00000007"
    assert [row[:2] for row in rows] == [["0xff", old], ["0xfe", old], ["0xff", new]]
    assert rows[1][2] == "0"
