# SPDX-License-Identifier: Apache-2.0
"""firewall against its reference: hand-made and generated packets, rules that change under sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from .firewall_reference import Firewall
from .replay import Options, replay
from .rule_traffic import generated, hand_made, random_changes, random_rules
from .rules_reference import Rules


@pytest.mark.parametrize(("syn_first", "fastpath_flows"), [(True, None), (False, None), (True, 64)])
def test_hand_made_packets_become_what_the_reference_says(
    tmp_path: Path, syn_first: bool, fastpath_flows: int | None
) -> None:
    sent = list(hand_made())
    assert len(sent) >= 200
    file = tmp_path / "firewall.rules"
    file.write_text("deny udp any any 9 9\npermit any 10.0.0.0/8 any\n")
    options: Options = {"rules": str(file), "tcp_syn_first": syn_first}
    with replay(("firewall", options), fastpath_flows=fastpath_flows) as chain:
        expected = Firewall(Rules(file.read_text(), "deny"), syn_first=syn_first)
        chain.compare(expected.handle, sent)


@pytest.mark.long
@pytest.mark.parametrize("fastpath_flows", [None, 64])
def test_rules_that_change_under_sessions_are_as_the_reference_says(
    tmp_path: Path, fastpath_flows: int | None
) -> None:
    file = tmp_path / "firewall.rules"
    file.write_text("")
    expected = Firewall(Rules("", "deny"))
    with replay(("firewall", {"rules": str(file)}), fastpath_flows=fastpath_flows) as chain:
        for seed in range(8):
            file.write_text(random_rules(40, seed))
            chain.command("firewall0", "reload")
            expected.reload(Rules(file.read_text(), "deny"))
            chain.compare(expected.handle, list(generated(300, seed)))


@pytest.mark.long
@pytest.mark.parametrize("fastpath_flows", [None, 64])
def test_single_rules_that_change_under_sessions_are_as_the_reference_says(
    tmp_path: Path, fastpath_flows: int | None
) -> None:
    text = random_rules(40, seed=7)
    file, changes = tmp_path / "firewall.rules", tmp_path / "changes"
    file.write_text(text)
    expected = Firewall(Rules(text, "deny"))
    with replay(("firewall", {"rules": str(file)}), fastpath_flows=fastpath_flows) as chain:
        for seed in range(16):
            lines, text = random_changes(text, 1 + seed % 6, seed)
            changes.write_text(lines)
            chain.command("firewall0", "change", changes=str(changes))
            expected.reload(expected.rules.changed(lines))
            assert chain.report("firewall0").figures["chain"]["rules"] == len(expected.rules.rules)
            chain.compare(expected.handle, list(generated(200, seed)))
