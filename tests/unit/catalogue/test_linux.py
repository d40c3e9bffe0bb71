# SPDX-License-Identifier: Apache-2.0
"""Linux is set up from the options of Weir's functions, word by word, or refuses what it cannot do."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from weir.catalogue import BY_OTHER_WAYS, CatalogueError, Ends, linux, names
from weir.lab.counterparts import COUNTERPARTS, OTHER_WAYS
from weir.lab.kernel import PORT_VALUES, SIDES
from weir.lab.nf import Scalar, network_functions

VALUES = {
    "left.name": "left",
    "left.mac": "02:00:00:00:00:11",
    "left.gateway": "169.254.1.1",
    "left.gateway6": "fd57::1",
    "left.gateway_mac": "02:00:00:00:00:01",
    "right.name": "right",
    "right.mac": "02:00:00:00:00:22",
    "right.gateway": "169.254.2.2",
    "right.gateway6": "fd57::2",
    "right.gateway_mac": "02:00:00:00:00:02",
}
SERVICE = "203.0.113.10:80/tcp 10.0.0.1:8080"
ENDS = Ends(VALUES, ("198.18.0.0/24", "2001:2::/64"))


def text(nf: str, options: dict[str, Scalar], program: int = 0) -> str:
    found = linux(nf, options, ENDS).programs[program][1]
    assert found is not None
    return found


def lines(nf: str, options: dict[str, Scalar], program: int = 0) -> list[str]:
    return [line.strip() for line in text(nf, options, program).splitlines()]


def test_a_lab_may_name_exactly_what_the_catalogue_has() -> None:
    assert set(names()) == set(COUNTERPARTS) <= set(network_functions())
    assert set(BY_OTHER_WAYS) == {(nf, by) for by, does in OTHER_WAYS.items() for nf in does}
    assert {name.partition(".")[2] for name in VALUES} <= set(PORT_VALUES)
    assert {name.partition(".")[0] for name in VALUES} == set(SIDES)


def test_rules_keep_their_order_and_what_they_name() -> None:
    rules = (
        "permit tcp 10.0.0.0/8 any 1024-65535 80, deny any any 192.0.2.0/24, permit any any any any 53,"
        "permit 47 any any"
    )
    found = lines("acl", {"rule_list": rules, "default": "deny"})
    first = found.index("meta l4proto tcp ip saddr 10.0.0.0/8 th sport 1024-65535 th dport 80 accept")
    assert found[first + 1 : first + 5] == [
        "ip daddr 192.0.2.0/24 counter name denied drop",
        "meta l4proto { tcp, udp } th dport 53 accept",
        "meta l4proto 47 accept",
        "counter name denied drop",
    ]
    assert not any("nfproto" in line for line in found)


def test_rules_of_both_families_and_types_of_icmp_are_nftables_own() -> None:
    rules = (
        "permit tcp any 2001:db8::/32 any 443, permit icmpv6 any any nd-neighbor-solicit,"
        "permit icmp 10.0.0.0/8 any 3-5, deny icmpv6 any any"
    )
    found = lines("acl", {"rule_list": rules})
    first = found.index("meta l4proto tcp ip6 daddr 2001:db8::/32 th dport 443 accept")
    assert found[first + 1 : first + 4] == [
        "meta nfproto ipv6 meta l4proto icmpv6 icmpv6 type nd-neighbor-solicit accept",
        "meta nfproto ipv4 meta l4proto icmp ip saddr 10.0.0.0/8 icmp type 3-5 accept",
        "meta nfproto ipv6 meta l4proto icmpv6 counter name denied drop",
    ]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"ipv6": "drop"}, "meta nfproto ipv6 counter name ipv6 drop"),
        ({"ipv6": "forward"}, "meta nfproto ipv6 accept"),
        ({"ipv6": "not_ipv4"}, "meta nfproto ipv6 counter name ipv6 drop"),
    ],
)
def test_what_an_option_says_of_ipv6_goes_before_the_rules(options: dict[str, Scalar], line: str) -> None:
    found = lines("firewall", options)
    assert found.index(line) < found.index("ct state established,related accept")


def test_rules_of_one_direction_are_not_asked_about_the_other() -> None:
    assert 'iifname "right" accept' in lines("acl", {"direction": "outbound"})
    assert 'iifname "left" accept' in lines("acl", {"direction": "inbound"})
    assert not any("iifname" in line for line in lines("acl", {}))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("permit tcp any", "no rule"),
        ("allow tcp any any", "no rule"),
        ("permit esp any any", "esp is no protocol"),
        ("permit 256 any any", "256 is no protocol"),
        ("permit tcp 10.0.0.1/8 any", "host bits"),
        ("permit icmp any any 1 2", "only tcp and udp have ports"),
        ("permit tcp any any 9-1 any", "names no ports"),
        ("permit tcp any any 65536 any", "names no ports"),
        ("permit tcp any any 80", "only icmp and icmpv6 have types"),
        ("permit icmp any any packet-too-big", "packet-too-big is no type"),
        ("permit icmpv6 any any 256", "256 is no type"),
        ("permit icmp any 2001:db8::/32", "two families"),
        ("permit tcp 10.0.0.0/8 2001:db8::/32", "two families"),
    ],
)
def test_a_rule_that_weir_would_not_read_is_refused_with_its_line(
    line: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "edge.rules"
    file.write_text(f"# a remark\n\n{line}\n")
    with pytest.raises(CatalogueError, match=r"edge\.rules, line 3") as refused:
        linux("acl", {"rules": str(file)}, ENDS)
    assert said in str(refused.value)


@pytest.mark.parametrize("nf", ["acl", "firewall"])
def test_a_second_one_in_a_chain_has_a_table_of_its_own_so_that_both_are_asked(nf: str) -> None:
    """A table that is there would only get further rules, behind the last one, which decides."""
    tables = [linux(nf, {}, replace(ENDS, number=number)).programs[0][1] for number in (1, 2)]
    assert [str(one).partition(" {")[0] for one in tables] == [
        f"table inet weir_{nf}",
        f"table inet weir_{nf}2",
    ]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"cannot read .*gone\.rules"):
        linux("firewall", {"rules": str(tmp_path / "gone.rules")}, ENDS)


def test_a_balancer_chooses_by_the_clients_endpoint_and_leads_to_each_back_end() -> None:
    services = (
        "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8081,203.0.113.10:53/udp 10.0.0.1:53"
    )
    found = lines("lb", {"services": services})
    chosen = "jhash ip saddr . tcp sport mod 2 map { 0 : 10.0.0.1 . 8080, 1 : 10.0.0.2 . 8081 }"
    at = 'iifname "left" ip daddr 203.0.113.10'
    assert f"{at} tcp dport 80 dnat ip addr . port to {chosen}" in found
    assert f"{at} udp dport 53 dnat to 10.0.0.1:53" in found
    assert lines("lb", {"services": services}, 1) == [
        "route replace 10.0.0.1/32 via 169.254.2.2 dev right",
        "route replace 10.0.0.2/32 via 169.254.2.2 dev right",
    ]


def test_routes_lead_to_next_hops_by_their_mac_addresses_and_to_the_left_what_is_there() -> None:
    route_list = (
        "0.0.0.0/0 default, 203.0.113.0/24 02:57:00:00:00:09, 198.18.0.0/28 default, 2001:db8::/32 default 0"
    )
    assert lines("l3fwd", {"route_list": route_list}) == [
        "neigh replace fe80::57:ff:fe00:9 lladdr 02:57:00:00:00:09 dev right nud permanent",
        "route replace 0.0.0.0/0 via 169.254.2.2 dev right",
        "route replace 203.0.113.0/24 via inet6 fe80::57:ff:fe00:9 dev right",
        "route replace 198.18.0.0/28 via 169.254.1.1 dev left",
        "route replace 2001:db8::/32 via fd57::2 dev right",
    ]
    assert linux("l3fwd", {}, ENDS).programs == ()


def test_a_router_with_addresses_has_them_on_its_interfaces_and_asks_for_next_hops() -> None:
    options: dict[str, Scalar] = {
        "addresses": "10.0.2.1/24, 2001:db8:2::1/64",
        "inbound_addresses": "10.0.1.1/24",
        "mtu_bytes": 1400,
        "route_list": "0.0.0.0/0 via 10.0.2.2, 10.9.0.0/16 via 10.0.1.9, ::/0 via 2001:db8:2::2",
    }
    assert lines("l3fwd", options) == [
        "address replace 10.0.1.1/24 dev left",
        "address replace 10.0.2.1/24 dev right",
        "address replace 2001:db8:2::1/64 dev right",
        "address replace fe80::ff:fe00:22/64 dev right",
        "link set dev right mtu 1400",
        "route replace 0.0.0.0/0 via 10.0.2.2 dev right onlink",
        "route replace 10.9.0.0/16 via 10.0.1.9 dev left onlink",
        "route replace ::/0 via 2001:db8:2::2 dev right onlink",
    ]


@pytest.mark.parametrize(
    ("route", "said"),
    [
        ("0.0.0.0/0 via", "no route"),
        ("0.0.0.0/0 via nobody", "no next hop"),
        ("0.0.0.0/0 via 10.0.0.2 junk", "no route"),
        ("10.0.0.5/8 via 10.0.0.2", "host bits"),
        ("0.0.0.0/0 via 10.0.2.2", "none of the function's links"),
        ("0.0.0.0/0", "no route"),
        ("0.0.0.0/0 default 1", "output 1"),
        ("0.0.0.0/0 nobody", "no next hop"),
        ("10.0.0.1/8 default", "host bits"),
    ],
)
def test_a_route_that_linux_has_no_way_for_is_refused(route: str, said: str) -> None:
    with pytest.raises(CatalogueError, match="route_list, entry 1") as refused:
        linux("l3fwd", {"route_list": route}, ENDS)
    assert said in str(refused.value)


def test_frames_get_the_next_hops_addresses_in_both_directions() -> None:
    found = lines("l2fwd", {"dst_mac": "02:00:00:00:00:77"})
    assert 'ether saddr set 02:00:00:00:00:22 ether daddr set 02:00:00:00:00:77 fwd to "right"' in found
    assert 'ether saddr set 02:00:00:00:00:11 ether daddr set 02:00:00:00:00:01 fwd to "left"' in found
    with pytest.raises(CatalogueError, match="mac-swap"):
        linux("l2fwd", {"mode": "mac-swap"}, ENDS)


def test_each_tenant_has_its_rate_in_both_directions_and_the_longest_prefix_counts() -> None:
    tenants = (
        "10.0.0.0/8 rate_bps=8000000, 10.1.0.0/16 rate_bps=16000000 burst_bytes=9000,default rate_bps=4000000"
    )
    found = lines("shaper", {"tenants": tenants, "layer": "l2", "queue_packets": 32})
    order = [line for line in found if line.startswith("filter add dev right")]
    assert [line.split("match ip src ")[1].split()[0] for line in order] == ["10.1.0.0/16", "10.0.0.0/8"]
    assert any("rate 16000000bit ceil 16000000bit burst 9000 cburst 9000" in line for line in found)
    assert any("stab overhead 4 " in line for line in found)
    rest = "class replace dev left parent 1: classid 1:fff0 htb rate 4000000bit"
    assert any(line.startswith(rest) for line in found)
    with pytest.raises(CatalogueError, match="tenant"):
        linux("shaper", {"tenants": "vlan:7 rate_bps=1000"}, ENDS)


@pytest.mark.parametrize("nf", ["acl", "firewall", "nat", "lb"])
def test_nftables_reads_what_it_is_given(nf: str, tmp_path: Path) -> None:
    options: dict[str, dict[str, Scalar]] = {
        "acl": {"rule_list": "permit tcp 10.0.0.0/8 any 1024-65535 80, permit any any any any 53"},
        "firewall": {"default": "permit"},
        "nat": {"external": "203.0.113.0/28", "forwards": "udp 203.0.113.1:80 10.0.0.5:8080"},
        "lb": {"services": "203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8081"},
    }
    file = tmp_path / "set"
    file.write_text(text(nf, options[nf]))
    try:
        done = subprocess.run(
            ["unshare", "--net", "nft", "--check", "-f", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("nftables or unshare is not installed")
    if "Operation not permitted" in done.stderr:
        pytest.skip("makes a network namespace: run as root")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_function_of_ipv4_alone_lets_no_ipv6_past() -> None:
    every: dict[str, dict[str, Scalar]] = {
        "nat": {"external": "203.0.113.1"},
        "lb": {"services": SERVICE},
    }
    for nf, options in every.items():
        made = lines(nf, options)
        assert f"table ip6 weir_{nf} {{" in made
        assert "counter name ipv6 drop" in made
        let_through: dict[str, Scalar] = {**options, "ipv6": "forward"}
        assert not any("ip6" in line for line in lines(nf, let_through))
    assert "counter name other drop" in lines("lb", {"services": SERVICE, "other": "drop", "ipv6": "forward"})


def test_entries_of_a_file_may_share_a_line_as_weirs_may(tmp_path: Path) -> None:
    path = tmp_path / "services"
    path.write_text("203.0.113.10:80/tcp 10.0.0.1:8080, 203.0.113.10:80/tcp 10.0.0.2:8080 # two\n")
    assert "0 : 10.0.0.1 . 8080, 1 : 10.0.0.2 . 8080" in text("lb", {"services_file": str(path)})


@pytest.mark.parametrize(
    ("nf", "options", "said"),
    [
        ("nat", {"external": "203.0.113.1/8"}, "external: "),
        (
            "nat",
            {"external": "203.0.113.0/28", "addresses": "203.0.113.5 10.0.0.5"},
            "counterpart of addresses",
        ),
        ("acl", {"rule_list": "permit any any any", "rules": "/dev/null"}, "rule_list stands beside rules"),
    ],
)
def test_options_that_weir_would_refuse_are_refused(nf: str, options: dict[str, Scalar], said: str) -> None:
    with pytest.raises(CatalogueError, match=said):
        linux(nf, options, ENDS)
