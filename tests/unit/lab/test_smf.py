# SPDX-License-Identifier: Apache-2.0
"""The small SMF that comes with labs lets a UPF choose its TEIDs, or gives them (TS 29.244, 8.2.3)."""

from __future__ import annotations

import runpy
from argparse import Namespace
from ipaddress import ip_address
from pathlib import Path

SMF = runpy.run_path(str(Path(__file__).parents[3] / "labs" / "upf-n4" / "smf.py"))


def test_a_upf_chooses_where_nobody_gives_teids_and_else_each_session_has_the_next_one() -> None:
    address = ip_address("192.0.2.1")
    assert SMF["f_teid"](7, Namespace(upf_teid_first=None, upf_n3_address=address)) == b"\x05"
    given = Namespace(upf_teid_first=0x100, upf_n3_address=address)
    assert SMF["f_teid"](7, given).hex() == "01" + "00000107" + "c0000201"


def test_what_it_asks_for_has_the_tunnel_in_the_uplink_rule_alone() -> None:
    tunnel = bytes.fromhex("01" + "00000107" + "c0000201")
    ue, gnb = (ip_address(one).packed for one in ("10.45.0.8", "192.0.2.2"))
    asked = SMF["rules"](ue, tunnel, gnb, 0x42)
    assert asked.count(bytes.fromhex("00150009") + tunnel) == 1
    uplink = asked[: asked.index(ue)]
    assert tunnel in uplink
