# SPDX-License-Identifier: Apache-2.0
"""Suricata, FastClick and VPP are set up from the options of Weir's functions, or refuse what they cannot do;
and what they say of their drops is read as they say it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weir.catalogue import CatalogueError, Ends
from weir.catalogue.launch import Launch, Place
from weir.catalogue.programs import launch, names
from weir.fabric.function.lost import Lost
from weir.fabric.function.suricata import lost
from weir.fabric.function.vpp import errors
from weir.lab.counterparts import PROGRAMS
from weir.lab.nf import Scalar

from .test_linux import VALUES

ENDS = Ends(
    {
        **VALUES,
        "left.address": "169.254.1.2/30",
        "left.address6": "fd57:1::2/64",
        "right.address": "169.254.2.1/30",
        "right.address6": "fd57:2::1/64",
    },
    ("198.18.0.0/24", "2001:2::/64"),
)
SERVICES = "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8080"
NEEDED: dict[str, dict[str, Scalar]] = {"nat": {"external": "192.0.2.0/30"}, "lb": {"services": SERVICES}}
# As VPP 26.06 printed it: as acl, which let five of eight packets through; as nat, of two from outside that
# had no session, of which another thread counted one.
SHOWN = """\
   Count                  Node                              Reason               Severity
         5          af-packet-input                    timed out block             error
         5          af-packet-input                  total received block          error
         3        acl-plugin-in-ip4-fa                 ACL deny packets            error
         5        acl-plugin-in-ip4-fa                ACL permit packets           error
         8        acl-plugin-in-ip4-fa                 checked packets             error
         1      nat44-ed-out2in-slowpath                no translation             error
         1      nat44-ed-out2in-slowpath                no translation             error
"""


def made(program: str, nf: str, options: dict[str, Scalar], *, sockets: bool = False) -> Launch:
    return launch(program, nf, options, Place(ENDS, (2, 3), sockets))


def commands(nf: str, options: dict[str, Scalar], *, sockets: bool = False) -> list[str]:
    return made("vpp", nf, options, sockets=sockets).files["commands"].splitlines()


def router(nf: str, options: dict[str, Scalar]) -> list[str]:
    return made("fastclick", nf, options).files["router"].splitlines()


def suricata(tmp_path: Path, rules: str, **options: Scalar) -> list[str]:
    (tmp_path / "dpi.rules").write_text(rules)
    return (
        made("suricata", "dpi", {"rules_file": str(tmp_path / "dpi.rules"), **options})
        .files["rules"]
        .splitlines()
    )


def test_a_lab_may_name_exactly_what_the_catalogue_has() -> None:
    assert {(program, nf) for program, one in PROGRAMS.items() for nf in one.stands_for} == set(names())
    for program, nf in names():
        found = launch(program, nf, NEEDED.get(nf, {}), Place(ENDS, (1,)))
        assert found.ready or found.socket


def test_suricata_has_a_rule_of_each_number_for_what_its_payload_is_in(tmp_path: Path) -> None:
    found = suricata(tmp_path, '100 drop /bad bot/i\n200 label /Host: [a-z]+;"x"/\n', ipv6="forward")
    asked = 'content:"bad bot"; nocase; flowbits:set,weir_dropped;'
    assert found[:2] == [
        f'drop tcp any any -> any any (msg:"100"; {asked} gid:6; sid:100;)',
        f'drop udp any any -> any any (msg:"100"; {asked} gid:17; sid:100;)',
    ]
    assert r'alert tcp any any -> any any (msg:"200"; pcre:"/Host: [a-z]+\x3b\x22x\x22/"; gid:6' in found[2]
    assert "flowbits:isset,weir_dropped" in found[-1]


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        (r"/GET \/etc\/passwd/", r'pcre:"/GET \/etc\/passwd/";'),
        (r"/a\"b\;c/i", r'pcre:"/a\x22b\x3bc/i";'),
        (r"/c:\\/d\.exe/", r'pcre:"/c:\\\/d\.exe/";'),
    ],
)
def test_suricata_looks_for_the_expression_that_weir_looks_for(
    expression: str, asked: str, tmp_path: Path
) -> None:
    found = suricata(tmp_path, f"3 label {expression}\n", ipv6="forward")
    assert found == [
        f'alert tcp any any -> any any (msg:"3"; {asked} gid:6; sid:3;)',
        f'alert udp any any -> any any (msg:"3"; {asked} gid:17; sid:3;)',
    ]


def test_a_number_sign_is_a_remark_of_dpi_at_a_lines_beginning_alone(tmp_path: Path) -> None:
    found = suricata(tmp_path, "# first\n \t# second\n3 label /a/#b/i\n5 label /#[0-9]#/\n", ipv6="forward")
    assert [one.partition('"; ')[2].partition(" gid")[0] for one in found[::2]] == [
        'content:"a/#b"; nocase;',
        'pcre:"/#[0-9]#/";',
    ]


def test_suricata_has_flows_both_ways_and_applications_by_its_own_names(tmp_path: Path) -> None:
    text = "400 permit flow tcp 10.0.0.0/8 203.0.113.0/24 any 443\n500 drop application TLS\n"
    assert suricata(tmp_path, text) == [
        'pass tcp 10.0.0.0/8 any <> 203.0.113.0/24 443 (msg:"400"; gid:6; sid:400;)',
        'drop ip any any -> any any (msg:"500"; app-layer-protocol:tls; gid:1; sid:500;)',
        'drop ipv6 any any -> any any (msg:"ipv6"; gid:41; sid:1;)',
    ]


def test_a_rule_of_an_application_matches_nothing_where_suricata_looks_for_none(tmp_path: Path) -> None:
    found = suricata(tmp_path, "500 drop application TLS\n3 label /x/\n", applications=False)
    assert not any("app-layer-protocol" in one for one in found)
    assert 'content:"x"' in found[0]
    with pytest.raises(CatalogueError, match="Suricata knows no BitTorrent"):
        suricata(tmp_path, "500 drop application BitTorrent\n", applications=False)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("100 drop application BitTorrent", "Suricata knows no BitTorrent"),
        ("100 refuse /x/", "no rule"),
        ("100 drop /x/q", "no expression"),
        ("100 drop flow any any any 1 any", "ports of any protocol"),
        ("100 drop flow icmp any any echo-request", "types of messages"),
        ("100 drop flow tcp any 10.0.0.1/8", "host bits"),
    ],
)
def test_what_suricata_cannot_do_is_refused_with_its_line(rule: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"dpi\.rules, line 1") as refused:
        suricata(tmp_path, rule)
    assert said in str(refused.value)


def test_suricata_reads_nothing_of_its_own_directory_which_may_be_there_or_not() -> None:
    files = made("suricata", "dpi", {}).files
    for key in ("classification-file", "reference-config-file"):
        assert f'{key}: "{{file.nothing}}"' in files["config"].splitlines()
    assert files["nothing"] == ""


def test_suricata_does_not_start_without_a_rule_that_it_cannot_read() -> None:
    """Else it says so, and runs with the other ones."""
    assert "--init-errors-fatal" in made("suricata", "dpi", {}).words


def test_suricata_copies_between_both_interfaces_in_a_thread_a_core() -> None:
    config = made("suricata", "dpi", {"udp_timeout_s": 9}).files["config"]
    assert config.count("threads: 2") == 2
    assert "interface: left\n    copy-iface: right\n    copy-mode: ips" in config
    assert "udp: {new: 9, established: 9}" in config


def test_what_suricata_dropped_is_told_by_its_reasons_and_by_interface() -> None:
    ips = {"accepted": 9, "blocked": 7, "drop_reason": {"rules": 4, "flow_drop": 2}}
    stats = {"left": {"pkts": 16, "drop": 3}, "right": {"pkts": 0, "drop": 0}}
    assert [*lost({"ips": ips}, stats, {"left": "left", "right": "right"})] == [
        Lost(".left", "capture_dropped", 3),
        Lost(".right", "capture_dropped", 0),
        Lost("/program", "rules", 4),
        Lost("/program", "flow_drop", 2),
        Lost("/program", "blocked", 1),
    ]


def test_fastclick_routes_to_each_next_hop_and_counts_what_has_no_route() -> None:
    found = router("l3fwd", {"route_list": "192.0.2.0/24 02:00:00:00:00:99, 198.51.100.0/24 default"})
    assert (
        "routed :: DirectIPLookup(198.18.0.0/24 0, 192.0.2.0/24 1, 198.51.100.0/24 2, 0.0.0.0/0 3);" in found
    )
    assert "routed[3] -> no_route;" in found
    encap = "EtherEncap(0x0800, 02:00:00:00:00:22, 02:00:00:00:00:99) -> out1;"
    assert f"routed[1] -> ttl1 :: DecIPTTL -> {encap}" in found


def test_fastclick_has_the_rules_of_acl_in_their_order() -> None:
    rules = "permit tcp 10.0.0.0/8 any 1024-65535 80, deny icmp any any echo-request, permit 47 any any"
    found = "\n".join(router("acl", {"rule_list": rules, "direction": "outbound"}))
    assert (
        "rules_left :: IPFilter(0 tcp && src net 10.0.0.0/8 && src port >= 1024 && src port <= 65535 && dst "
        "port 80,\n  1 icmp && icmp type >= 8 && icmp type <= 8,\n  0 ip proto 47,\n  1 all);"
    ) in found
    assert "frames_right[0] -> out0;" in found
    assert "frames_left[2] -> ipv6;" in found


@pytest.mark.parametrize(("ipv6", "ends_at"), [("drop", "ipv6"), ("forward", "out1")])
def test_fastclick_passes_over_rules_of_ipv6_where_no_rule_is_asked_about_it(ipv6: str, ends_at: str) -> None:
    rules = "permit tcp any 2001:db8::/32 any 443, permit udp any any, permit icmpv6 any any"
    found = router("acl", {"rule_list": rules, "ipv6": ipv6})
    assert "rules_left :: IPFilter(0 udp," in found
    assert found[found.index("rules_left :: IPFilter(0 udp,") + 1] == "  1 all);"
    assert f"frames_left[2] -> {ends_at};" in found


def test_vpp_has_the_chains_addresses_neighbours_and_routes() -> None:
    found = commands("l3fwd", {"route_list": "192.0.2.0/24 02:00:00:00:00:99, 2001:db8::/32 default"})
    assert found[:4] == [
        "create host-interface name left hw-addr 02:00:00:00:00:11 cksum-gso-disable",
        "set interface state host-left up",
        "create host-interface name right hw-addr 02:00:00:00:00:22 cksum-gso-disable",
        "set interface state host-right up",
    ]
    assert "set ip neighbor host-right 169.254.2.2 02:00:00:00:00:02 static" in found
    assert "ip route add 198.18.0.0/24 via 169.254.1.1 host-left" in found
    further = next(one for one in found if one.endswith("02:00:00:00:00:99 static")).split()[4]
    assert f"ip route add 192.0.2.0/24 via {further} host-right" in found
    assert "ip route add 2001:db8::/32 via fd57::2 host-right" in found


def test_vpp_is_ready_when_its_last_command_has_been_carried_out() -> None:
    """Its command line answers seconds before."""
    found = made("vpp", "acl", {})
    assert found.files["commands"].splitlines()[-1] == "show version"
    assert re.search(found.ready, "host-left\nvpp v26.06-release built by root on vm", re.MULTILINE)


@pytest.mark.parametrize(("free", "said"), [(True, ""), (False, " page-size 4k")])
def test_vpp_takes_hugepages_only_where_they_are_free_since_it_leaves_those_that_it_adds(
    free: bool, said: str
) -> None:
    place = Place(ENDS, (2, 3), hugepages=free)
    startup = launch("vpp", "l3fwd", {}, place).files["startup"]
    assert f"buffers {{ buffers-per-numa 16384{said} }}" in startup


def test_vpps_ports_are_memif_where_they_are_sockets() -> None:
    found = made("vpp", "acl", {}, sockets=True)
    assert "create memif socket id 1 filename {left.socket}" in found.files["commands"]
    assert "plugin memif_plugin.so { enable }" in found.files["startup"]
    assert "cpu { main-core 2 corelist-workers 3 }" in found.files["startup"]


def test_vpp_asks_each_packet_as_acl_and_each_session_as_firewall(tmp_path: Path) -> None:
    rules = "permit any 10.0.0.0/8 any any 53, deny icmpv6 any any"
    (asked,) = [one for one in commands("acl", {"rule_list": rules}) if one.startswith("set acl-plugin acl")]
    assert asked == (
        "set acl-plugin acl permit src 10.0.0.0/8 dst 0.0.0.0/0 proto 6 dport 53-53, "
        "permit src 10.0.0.0/8 dst 0.0.0.0/0 proto 17 dport 53-53, deny src ::/0 dst ::/0 proto 58, "
        "deny src 0.0.0.0/0 dst 0.0.0.0/0, deny src ::/0 dst ::/0"
    )
    (tmp_path / "rules").write_text("permit tcp any 10.0.0.0/8")
    stateful = commands("firewall", {"rules": str(tmp_path / "rules")})
    assert any("permit+reflect src 0.0.0.0/0 dst 10.0.0.0/8 proto 6" in one for one in stateful)
    assert "set acl-plugin interface host-left output acl 0" in stateful


def test_vpp_has_ports_of_any_protocol_for_tcp_and_udp_of_both_families() -> None:
    (asked,) = [
        one
        for one in commands("acl", {"rule_list": "permit any any any any 80"})
        if one.startswith("set acl-plugin acl")
    ]
    assert asked.removeprefix("set acl-plugin acl ").split(", ")[:4] == [
        "permit src 0.0.0.0/0 dst 0.0.0.0/0 proto 6 dport 80-80",
        "permit src 0.0.0.0/0 dst 0.0.0.0/0 proto 17 dport 80-80",
        "permit src ::/0 dst ::/0 proto 6 dport 80-80",
        "permit src ::/0 dst ::/0 proto 17 dport 80-80",
    ]


def test_vpp_translates_and_balances() -> None:
    translating = commands("nat", {"external": "192.0.2.0/30", "forwards": "tcp 192.0.2.1:80 10.0.0.5:8080"})
    assert "nat44 add address 192.0.2.0 - 192.0.2.3" in translating
    assert "nat44 add static mapping tcp local 10.0.0.5 8080 external 192.0.2.1 80" in translating
    balancing = commands("lb", {"services": SERVICES})
    vip = "203.0.113.10/32 protocol tcp port 80"
    assert f"lb vip {vip} encap nat4 type clusterip target_port 8080" in balancing
    assert f"lb as {vip} 10.0.0.1 10.0.0.2" in balancing


@pytest.mark.parametrize(
    ("program", "nf", "options", "said"),
    [
        (
            "vpp",
            "lb",
            {"services": f"{SERVICES}, 203.0.113.10:80/tcp 10.0.0.3:9090"},
            "has back-ends with ports",
        ),
        ("vpp", "lb", {"services": SERVICES, "other": "drop"}, "routes what is for no service"),
        ("vpp", "nat", {"external": "192.0.2.1/32", "untranslated": "10.0.0.0/8"}, "untranslated"),
        ("vpp", "l3fwd", {"mtu_bytes": 1400}, "mtu_bytes"),
        ("fastclick", "l3fwd", {"addresses": "192.0.2.1/24"}, "addresses"),
        ("fastclick", "acl", {"rule_list": "permit tcp any 2001:db8::/32"}, "no rules for IPv6"),
        ("fastclick", "acl", {"rule_list": "permit icmpv6 any any"}, "no rules for IPv6"),
    ],
)
def test_what_they_cannot_do_is_refused(program: str, nf: str, options: dict[str, Scalar], said: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        made(program, nf, options)
    assert said in str(refused.value)


def test_vpps_errors_are_drops_and_nothing_else_is() -> None:
    assert [*errors(SHOWN)] == [
        Lost("/program", "acl_plugin_in_ip4_fa_acl_deny_packets", 3),
        Lost("/program", "nat44_ed_out2in_slowpath_no_translation", 2),
    ]


def test_sessions_that_vpps_firewall_began_or_knew_are_no_drops() -> None:
    """As VPP printed it of two segments that passed and one that did not."""
    shown = """\
         1        acl-plugin-in-ip4-fa                 ACL deny packets            error
         2        acl-plugin-in-ip4-fa                new sessions added           error
         7        acl-plugin-in-ip4-fa             existing session packets        error
         1        acl-plugin-in-ip4-fa              restart session timer          error
         4        acl-plugin-in-ip4-fa           too many sessions to add new      error
"""
    assert [*errors(shown)] == [
        Lost("/program", "acl_plugin_in_ip4_fa_acl_deny_packets", 1),
        Lost("/program", "acl_plugin_in_ip4_fa_too_many_sessions_to_add_new", 4),
    ]
