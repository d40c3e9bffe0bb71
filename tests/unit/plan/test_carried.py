# SPDX-License-Identifier: Apache-2.0
"""Which protocols functions let through, by their options."""

from __future__ import annotations

import itertools

import pytest

from weir.base.node import NodeNf
from weir.lab.nf import Scalar
from weir.plan.carried import carried

KINDS = ("not_ipv4", "drop", "forward")


@pytest.mark.parametrize("nf", ["acl", "firewall"])
@pytest.mark.parametrize(
    ("not_ipv4", "arp", "ipv6", "neighbor_discovery"),
    list(itertools.product(("drop", "forward"), KINDS, (*KINDS, "rules"), ("ipv6", "drop", "forward"))),
)
def test_each_kind_of_frame_is_as_its_option_says_or_else_as_not_ipv4_does(
    nf: str, not_ipv4: str, arp: str, ipv6: str, neighbor_discovery: str
) -> None:
    options: dict[str, Scalar] = {"not_ipv4": not_ipv4, "arp": arp, "ipv6": ipv6}
    options["neighbor_discovery"] = neighbor_discovery
    one = NodeNf(nf=nf, options=options)
    found = carried(one)
    assert "IPv4" in found
    arp_passes = arp == "forward" or (arp == "not_ipv4" and not_ipv4 == "forward")
    ipv6_passes = ipv6 in ("forward", "rules") or (ipv6 == "not_ipv4" and not_ipv4 == "forward")
    assert ("ARP" in found) == arp_passes
    assert ("IPv6" in found) == ipv6_passes
    discovery_passes = {"ipv6": ipv6_passes, "drop": False, "forward": True}[neighbor_discovery]
    assert ("Neighbor Discovery" in found) == discovery_passes


@pytest.mark.parametrize("nf", ["acl", "firewall"])
def test_what_is_not_given_is_the_functions_own_default(nf: str) -> None:
    assert carried(NodeNf(nf=nf, options={})) == {"IPv4", "IPv6", "Neighbor Discovery"}
    assert carried(NodeNf(nf=nf, options={"arp": "forward", "ipv6": "drop"})) == {"IPv4", "ARP"}


def test_routes_on_lines_with_remarks_are_read_as_weir_dp_reads_them() -> None:
    routes = "0.0.0.0/0 default # all, but ::/0\n10.0.0.0/8 default"
    assert "IPv6" not in carried(NodeNf(nf="l3fwd", options={"route_list": routes}))
    assert "IPv6" in carried(NodeNf(nf="l3fwd", options={"route_list": f"{routes}\n::/0 default"}))


@pytest.mark.parametrize(
    ("nf", "options", "ipv6"),
    [
        ("gnb", {}, False),
        ("gnb", {"ue_first_prefix": "2001:db8::/64"}, True),
        ("upf", {}, False),
        ("upf", {"ue_first_prefix": "2001:db8::/64"}, True),
        ("upf", {"n4_address": "127.0.0.5"}, True),
    ],
)
def test_tunnels_carry_ipv6_of_ues_that_have_or_may_get_prefixes(
    nf: str, options: dict[str, Scalar], ipv6: bool
) -> None:
    assert carried(NodeNf(nf=nf, options=options)) == {"IPv4", "ARP", *(["IPv6"] if ipv6 else [])}
