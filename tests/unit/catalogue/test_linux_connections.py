# SPDX-License-Identifier: Apache-2.0
"""Linux follows connections as Weir's firewall, nat and lb do."""

from __future__ import annotations

import pytest

from weir.catalogue import linux
from weir.lab.nf import Scalar

from .test_linux import ENDS, SERVICE, lines, text


def test_a_firewall_has_sessions_before_rules_and_the_functions_time_outs() -> None:
    options: dict[str, Scalar] = {"udp_timeout_s": 77, "default": "permit", "tcp_syn_first": False}
    found = lines("firewall", options)
    assert found.index("ct state established,related accept") < found.index("accept")
    settings = linux("firewall", options, ENDS).settings
    assert settings["net.netfilter.nf_conntrack_udp_timeout"] == "77"
    assert settings["net.netfilter.nf_conntrack_udp_timeout_stream"] == "77"
    assert settings["net.netfilter.nf_conntrack_tcp_timeout_established"] == "7440"
    assert settings["net.netfilter.nf_conntrack_tcp_loose"] == "1"
    assert linux("firewall", {}, ENDS).settings["net.netfilter.nf_conntrack_tcp_loose"] == "0"


@pytest.mark.parametrize(
    ("nf", "options", "closed", "open_"),
    [
        ("firewall", {}, "tcp_transitory_timeout_s", "tcp_established_timeout_s"),
        ("nat", {"external": "203.0.113.9"}, "tcp_transitory_timeout_s", "tcp_established_timeout_s"),
        ("lb", {"services": SERVICE}, "fin_timeout_s", "tcp_timeout_s"),
    ],
)
def test_a_connection_is_closed_when_both_have_ended_it_and_open_until_then(
    nf: str, options: dict[str, Scalar], closed: str, open_: str
) -> None:
    settings = linux(nf, {**options, closed: 7, open_: 900}, ENDS).settings
    by_state = {
        key.rpartition("tcp_timeout_")[2]: value for key, value in settings.items() if "tcp_timeout_" in key
    }
    beginning = {"syn_sent", "syn_recv"}
    assert {key for key, value in by_state.items() if value == "7"} - beginning == {
        "last_ack",
        "time_wait",
        "close",
    }
    assert {key for key, value in by_state.items() if value == "900"} == {
        "established",
        "fin_wait",
        "close_wait",
        "unacknowledged",
        "max_retrans",
    }


def test_echoes_of_both_families_are_remembered_as_long() -> None:
    settings = linux("firewall", {"icmp_timeout_s": 77}, ENDS).settings
    assert settings["net.netfilter.nf_conntrack_icmp_timeout"] == "77"
    assert settings["net.netfilter.nf_conntrack_icmpv6_timeout"] == "77"


def test_nat_translates_to_its_addresses_and_ports_alone() -> None:
    forwards = "tcp 203.0.113.1:80 10.0.0.5:8080"
    found = lines("nat", {"external": "203.0.113.0/30", "port_min": 1024, "forwards": forwards})
    assert "meta l4proto { tcp, udp } snat to 203.0.113.0-203.0.113.3:1024-65535 persistent" in found
    assert 'iifname "right" ip daddr 203.0.113.1 tcp dport 80 dnat to 10.0.0.5:8080' in found
    assert "ip daddr" not in text("nat", {"external": "203.0.113.9/32"})
    assert "snat to 203.0.113.9:1-65535" in text("nat", {"external": "203.0.113.9/32"})


def test_what_comes_to_an_external_address_is_routed_so_that_nats_rules_count_it() -> None:
    """Without a route it would be lost as no route's, before any rule is asked."""
    options: dict[str, Scalar] = {"external": "203.0.113.0/28"}
    assert lines("nat", options, 1) == ["route replace 203.0.113.0/28 via 169.254.1.1 dev left"]
    found = lines("nat", options)
    assert 'iifname "left" oifname "right" accept' in found
    assert "ct state new,invalid counter name no_mapping drop" in found


def test_what_a_router_joins_inside_is_not_translated() -> None:
    found = lines("nat", {"external": "203.0.113.9/32", "untranslated": "10.1.0.0/16,10.2.0.0/16"})
    assert "ip daddr { 10.1.0.0/16,10.2.0.0/16 } accept" in found


def test_nat_leaves_to_a_firewall_what_a_connection_may_begin_with() -> None:
    options: dict[str, dict[str, Scalar]] = {"firewall": {}, "nat": {"external": "203.0.113.1"}}
    both = {nf: linux(nf, said, ENDS).settings for nf, said in options.items()}
    shared = set(both["firewall"]) & set(both["nat"])
    assert {key: both["nat"][key] for key in shared} == {key: both["firewall"][key] for key in shared}
    assert set(both["firewall"]) - shared == {
        "net.netfilter.nf_conntrack_tcp_loose",
        "net.netfilter.nf_conntrack_generic_timeout",
    }
