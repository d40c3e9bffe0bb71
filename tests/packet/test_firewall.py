# SPDX-License-Identifier: Apache-2.0
"""firewall against its reference: hand-made and generated packets, rules that change under sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from .firewall_reference import Firewall
from .frames import Sent
from .replay import Replay, replay
from .rule_traffic import generated, hand_made, random_rules
from .rules_reference import Rules


def compare(chain: Replay, expected: Firewall, sent: list[Sent]) -> None:
    """Every packet, in order; runs of one direction go at once."""
    while sent:
        direction = sent[0][0]
        run = next((i for i, (way, _) in enumerate(sent) if way != direction), len(sent))
        frames = [frame for _, frame in sent[:run]]
        for frame, outcome in zip(frames, chain.send_all(frames, direction), strict=True):
            assert outcome == expected.handle(frame), f"{direction} {frame.hex()}"
        sent = sent[run:]


@pytest.mark.parametrize("syn_first", [True, False])
def test_hand_made_packets_become_what_the_reference_says(tmp_path: Path, syn_first: bool) -> None:
    sent = list(hand_made())
    assert len(sent) >= 200
    file = tmp_path / "firewall.rules"
    file.write_text("deny udp any any 9 9\npermit any 10.0.0.0/8 any\n")
    with replay(("firewall", {"rules": str(file), "tcp_syn_first": syn_first})) as chain:
        compare(chain, Firewall(Rules(file.read_text(), "deny"), syn_first=syn_first), sent)


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
            compare(chain, expected, list(generated(300, seed)))
