# SPDX-License-Identifier: Apache-2.0
"""acl against its reference: hand-made and generated packets, rules that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.protocol import DataPlaneError

from .acl_reference import Acl
from .replay import replay
from .rule_traffic import generated, hand_made, random_changes, random_rules
from .rules_reference import Rules


@pytest.mark.parametrize("default", ["permit", "deny"])
def test_hand_made_packets_become_what_the_reference_says(tmp_path: Path, default: str) -> None:
    sent = list(hand_made())
    assert len(sent) >= 200
    file = tmp_path / "acl.rules"
    file.write_text(random_rules(12, seed=3))
    with replay(("acl", {"rules": str(file), "default": default})) as chain:
        chain.compare(Acl(Rules(file.read_text(), default)).handle, sent)


@pytest.mark.long
def test_random_rules_that_change_are_as_the_reference_says(tmp_path: Path) -> None:
    file = tmp_path / "acl.rules"
    file.write_text("")
    expected = Acl(Rules("", "deny"))
    with replay(("acl", {"rules": str(file)})) as chain:
        for seed in range(8):
            file.write_text(random_rules(40, seed))
            chain.command("acl0", "reload")
            expected.rules = Rules(file.read_text(), "deny")
            chain.compare(expected.handle, list(generated(150, seed)))


def test_a_bad_line_is_named_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "acl.rules"
    file.write_text("permit any any any\n")
    sent = list(generated(20, seed=1))
    with replay(("acl", {"rules": str(file)})) as chain:
        file.write_text("permit any any any\ndeny tcp 10.0.0.1/8 any\n")
        with pytest.raises(DataPlaneError, match=r"acl\.rules:2: '10\.0\.0\.1/8' is not a prefix"):
            chain.command("acl0", "reload")
        chain.compare(Acl(Rules("permit any any any", "deny")).handle, sent)


@pytest.mark.long
@pytest.mark.parametrize("fastpath_flows", [None, 64])
def test_single_rules_that_change_are_as_the_reference_says(
    tmp_path: Path, fastpath_flows: int | None
) -> None:
    text = random_rules(40, seed=7)
    file, changes = tmp_path / "acl.rules", tmp_path / "changes"
    file.write_text(text)
    expected = Acl(Rules(text, "deny"))
    with replay(("acl", {"rules": str(file)}), fastpath_flows=fastpath_flows) as chain:
        for seed in range(16):
            lines, text = random_changes(text, 1 + seed % 6, seed)
            changes.write_text(lines)
            chain.command("acl0", "change", changes=str(changes))
            expected.rules = expected.rules.changed(lines)
            assert chain.report("acl0").figures["chain"]["rules"] == len(expected.rules.rules)
            chain.compare(expected.handle, list(generated(150, seed)))


def test_a_change_that_cannot_be_done_is_named_and_none_of_it_is_done() -> None:
    sent = list(generated(20, seed=1))
    listed = "add deny any any any first,remove permit udp any any,remove permit any any any"
    with replay(("acl", {"rule_list": "permit any any any"})) as chain:
        with pytest.raises(DataPlaneError, match=r"change_list:2: there is no rule permit udp any any"):
            chain.command("acl0", "change", change_list=listed)
        assert chain.report("acl0").figures["chain"]["rules"] == 1
        chain.compare(Acl(Rules("permit any any any", "deny")).handle, sent)
