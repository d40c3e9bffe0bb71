# SPDX-License-Identifier: Apache-2.0
"""What a cloud's filters counted, read from what nft 1.0.6, iptables-save 1.8.9 and ovs-ofctl 3.1 said of
clouds in which blue.1 sent what it may not, and was sent what its security group refuses: one frame with
another's MAC address, two with a foreign IP address, three such ARP messages, four of a DHCP server, five of
a protocol without rules, seven datagrams to a closed port."""

from __future__ import annotations

from pathlib import Path

from weir.fabric.cloud.drops import of_flows, of_iptables, of_nftables

RECORDED = Path(__file__).parent / "recorded_cloud"
BLUE_1 = (1, 1)
FORGED = {"spoofed_mac": 1, "spoofed_ip": 2, "spoofed_arp": 3, "rogue_dhcp": 4, "other_protocol": 5}


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(encoding="utf-8")


def test_the_bridges_filter_counts_by_instance_and_reason() -> None:
    counted = list(of_nftables(recorded("nft-counters.json")))
    assert {reason: packets for *whose, reason, packets in counted if tuple(whose) == BLUE_1} == FORGED
    assert {tuple(whose) for *whose, _, _ in counted} == {(1, 1), (1, 2), (2, 1)}
    assert sum(packets for *_, packets in counted) == sum(FORGED.values())


def test_security_groups_of_bridges_count_what_they_refuse_and_not_what_they_let_through() -> None:
    counted = list(of_iptables(recorded("iptables-save.txt")))
    assert (*BLUE_1, "security_group", 7) in counted
    assert {reason for *_, reason, _ in counted} == {"security_group", "invalid"}
    assert sum(packets for *_, packets in counted) == 7


def test_the_switch_counts_both_and_flows_that_drop_nothing_are_not_read() -> None:
    of_blue_1: dict[str, int] = {}
    for *whose, reason, packets in of_flows(recorded("ovs-ofctl-dump-flows.txt")):
        if tuple(whose) == BLUE_1:
            of_blue_1[reason] = of_blue_1.get(reason, 0) + packets
    assert {reason: packets for reason, packets in of_blue_1.items() if packets} == {
        **FORGED,
        "security_group": 7,
    }


def test_tables_without_filters_have_no_drops() -> None:
    assert list(of_iptables("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n")) == []
    assert list(of_flows(" cookie=0x0, duration=4.0s, table=0, n_packets=8, actions=NORMAL\n")) == []
    assert list(of_nftables('{"nftables": [{"metainfo": {"version": "1.0.6"}}]}')) == []
