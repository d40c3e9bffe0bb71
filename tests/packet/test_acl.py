# SPDX-License-Identifier: Apache-2.0
"""acl against its reference: hand-made and generated packets, rules that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.protocol import DataPlaneError

from .acl_reference import Acl
from .replay import replay
from .rule_traffic import generated, hand_made, random_rules
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
