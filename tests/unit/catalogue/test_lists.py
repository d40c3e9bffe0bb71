# SPDX-License-Identifier: Apache-2.0
"""Lists in a lab and in a file are parted, and their remarks cut, as native/toolkit/entries.c and rule_set.c
do it."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.catalogue.balancer import services_of
from weir.catalogue.rule_text import rules

VIP = "203.0.113.10:80/tcp"
KEY = ("203.0.113.10", "80", "tcp")
ENTRIES = (
    f"{VIP} 10.0.0.1:80 # main, {VIP} 10.0.0.2:80\n# {VIP} 10.0.0.3:80\n{VIP} 10.0.0.4:80,{VIP} 10.0.0.5:80"
)


@pytest.mark.parametrize("in_a_file", [False, True])
def test_a_remark_among_services_goes_to_the_end_of_its_line(in_a_file: bool, tmp_path: Path) -> None:
    path = tmp_path / "services"
    path.write_text(ENTRIES)
    found = services_of({"services_file": str(path)} if in_a_file else {"services": ENTRIES})
    assert found == {KEY: [("10.0.0.1", "80"), ("10.0.0.4", "80"), ("10.0.0.5", "80")]}


def test_a_remark_in_a_list_of_rules_goes_to_the_next_comma_or_line() -> None:
    listed = "deny tcp any any # one, permit udp any any # two\npermit tcp any any"
    assert [(one.permits, one.match.protocol) for one in rules({"rule_list": listed}, "rule_list")] == [
        (False, "tcp"),
        (True, "udp"),
        (True, "tcp"),
    ]


def test_a_tab_may_stand_between_a_service_and_its_back_end() -> None:
    assert services_of({"services": f"{VIP}\t 10.0.0.1:80"}) == {KEY: [("10.0.0.1", "80")]}
