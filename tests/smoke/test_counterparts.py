# SPDX-License-Identifier: Apache-2.0
"""Linux in the place of Weir's functions, set up from the same options: the same packets pass, the same ones
are refused, and every one of them is accounted for."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from weir import fabric
from weir.base.error import FabricError
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION
from weir.results.result import Trial

from .tiny import tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(shutil.which("nft") is None, reason="nftables is not installed"),
]

GENTLE_PPS, DURATION_S, DRAIN_MS = 2000, 0.5, 300
# The tiny lab varies the source port from 1024 on, over a hundred flows.
RULES = "deny udp any any 1024-1063 any, permit udp any any"
INBOUND_RULES = "deny udp any any any 1024-1063, permit udp any any"
ACL_EACH_WAY: list[dict[str, Any]] = [
    {"nf": "acl", "options": {"default": "permit", "direction": "outbound"}},
    {"nf": "acl", "options": {"rule_list": INBOUND_RULES, "direction": "inbound"}},
    {"nf": "l3fwd"},
]
# Of the traffic's one flow when it has no more: to its first address and port.
SERVICE = "198.19.0.1:1024/udp"
NOT_THE_SERVICE = "deny udp any 198.19.0.1/32 any 1024, permit udp any any"
SERVICES = f"{SERVICE} 10.0.0.1:5000, {SERVICE} 10.0.0.2:5000"
# Rules behind a balancer are not asked about the service's address, but about its back-ends'.
FILTERED_BACK_ENDS: list[dict[str, Any]] = [
    {"nf": "lb", "options": {"services": SERVICES}},
    {"nf": "acl", "options": {"rule_list": NOT_THE_SERVICE, "direction": "outbound"}},
    {"nf": "l3fwd"},
]


def lab_of(kind: str, function: dict[str, Any], to_address: str | None = None, by: str | None = None) -> Lab:
    """`to_address`: whom the right end sends to, whatever it has seen arrive. `by`: by what Linux does
    it, or as which program."""
    if by is not None:
        as_root = {"user": "root"} if by == "vpp" else {}
        function = {**function, kind: {"counterpart": by, **as_root}}
    tiny = tiny_lab("linux-bridge")
    made = FunctionOptions.model_validate({"kind": kind, **function})
    right = tiny.traffic.right.model_copy(update={"to_address": to_address})
    traffic = tiny.traffic.model_copy(update={"frames": ("128",), "right": right})
    return tiny.model_copy(update={"functions": {DEFAULT_FUNCTION: made}, "traffic": traffic})


def refused(trial: Trial, reason: str) -> int:
    return sum(drop.packets for drop in trial.drops if drop.reason == reason)


def both(
    function: dict[str, Any], to_address: str | None = None, kind: str = "kernel", by: str | None = None
) -> tuple[Trial, Trial]:
    """Of Weir's function, and of Linux or a program in its place."""
    found = []
    for lab in (lab_of("process", function, to_address), lab_of(kind, function, to_address, by)):
        missing = fabric.check("linux-bridge", programs=lab.programs(lab.chains()[0].name))
        if missing is not None:
            pytest.skip(f"{missing.missing}: {missing.fix}")
        (trial,) = trials_of(lab, 1, GENTLE_PPS, DURATION_S, drain_ms=DRAIN_MS)
        assert trial.unaccounted == 0, trial.drops
        found.append(trial)
    return found[0], found[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "function",
    [
        pytest.param({"nf": "l2fwd"}, id="l2fwd", marks=pytest.mark.slow),
        pytest.param(
            {"nf": "l3fwd", "options": {"route_list": "198.18.0.0/16 default, 198.19.0.0/16 default"}},
            id="l3fwd",
            marks=pytest.mark.slow,
        ),
        pytest.param({"nf": "firewall", "options": {"default": "permit"}}, id="firewall"),
        pytest.param(
            {"chain": [{"nf": "acl", "options": {"rule_list": "permit udp any any"}}, {"nf": "l3fwd"}]},
            id="chain",
        ),
        pytest.param({"nf": "lb", "options": {"services": SERVICES}}, id="lb"),
        pytest.param({"chain": FILTERED_BACK_ENDS}, id="acl-behind-lb"),
        pytest.param(
            {"nf": "shaper", "options": {"tenants": "default rate_bps=1000000000"}},
            id="shaper",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_passes_weirs_function_passes_linux_in_its_place(
    function: dict[str, Any], run_root: Path
) -> None:
    weir, linux = both(function)
    assert weir.offered == weir.delivered > 0, weir.drops
    assert linux.offered == linux.delivered > 0, linux.drops
    assert [*run_root.iterdir()] == []


def by_chance(one: Trial, other: Trial, reason: str) -> float:
    """How far apart their shares of refused packets may be besides. The host takes cores away when it likes:
    which of the planned packets are left out then is as drawn at random. Four standard deviations; nothing
    where all were sent."""
    if one.offered == one.intended and other.offered == other.intended:
        return 0.0
    share = (refused(one, reason) + refused(other, reason)) / (one.offered + other.offered)
    return 4 * math.sqrt(share * (1 - share) * (1 / one.offered + 1 / other.offered))


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "reason", "to_address"),
    [
        pytest.param({"nf": "acl", "options": {"rule_list": RULES}}, "denied", None, id="acl"),
        pytest.param({"chain": ACL_EACH_WAY}, "denied", None, id="acl-each-way"),
        # The tester's right end sends to an inside address, or to an external one, that has no mapping.
        pytest.param(
            {"nf": "nat", "options": {"external": "203.0.113.0/28"}}, "no_mapping", "198.18.0.1", id="nat"
        ),
        pytest.param(
            {"nf": "nat", "options": {"external": "203.0.113.0/28"}},
            "no_mapping",
            "203.0.113.1",
            id="nat-to-external",
        ),
    ],
)
def test_what_weirs_function_refuses_linux_refuses_and_counts(
    function: dict[str, Any], reason: str, to_address: str | None, run_root: Path
) -> None:
    weir, linux = both(function, to_address)
    for trial in (weir, linux):
        assert 0 < refused(trial, reason) == trial.offered - trial.delivered < trial.offered, trial.drops
    shares = [refused(trial, reason) / trial.offered for trial in (weir, linux)]
    assert shares[0] == pytest.approx(shares[1], abs=0.02 + by_chance(weir, linux, reason))
    assert [*run_root.iterdir()] == []


@pytest.mark.slow
def test_what_is_above_a_tenants_rate_passes_neither_weir_nor_linux(run_root: Path) -> None:
    """Several times the rate, past a short queue, so that the tester's own pace does not matter."""
    options = {"tenants": "default rate_bps=64000", "queue_packets": 16}
    delivered = []
    for kind in ("process", "kernel"):
        lab = lab_of(kind, {"nf": "shaper", "options": options})
        (trial,) = trials_of(lab, 1, GENTLE_PPS, 1.0, drain_ms=DRAIN_MS)
        assert trial.unaccounted == 0, trial.drops
        assert refused(trial, "queue_full") == trial.offered - trial.delivered > 0, trial.drops
        delivered.append(trial.delivered)
    assert delivered[1] == pytest.approx(delivered[0], rel=0.15)
    assert [*run_root.iterdir()] == []


def test_a_rule_that_cannot_be_read_ends_the_deployment_with_its_line_and_leaves_nothing(
    run_root: Path, tmp_path: Path
) -> None:
    (tmp_path / "edge.rules").write_text("permit udp any any\npermit udp any 10.0.0.1/8\n")
    lab = lab_of("kernel", {"nf": "firewall", "options": {"rules": str(tmp_path / "edge.rules")}})
    with pytest.raises(FabricError, match=r"edge\.rules, line 2.*host bits"):
        trials_of(lab, 1, GENTLE_PPS, DURATION_S)
    assert [*run_root.iterdir()] == []


ROUTES = "198.18.0.0/16 default, 198.19.0.0/16 default"
OTHERS = [
    pytest.param("kernel", "xdp", {"nf": "l2fwd", "options": {"mode": "mac-swap"}}, id="xdp-l2fwd-swap"),
    pytest.param("kernel", "xdp", {"nf": "l2fwd"}, id="xdp-l2fwd"),
    pytest.param("kernel", "xdp", {"nf": "l3fwd", "options": {"route_list": ROUTES}}, id="xdp-l3fwd"),
    pytest.param("kernel", "ipvs", {"nf": "lb", "options": {"services": SERVICES}}, id="ipvs-lb"),
    pytest.param("program", "suricata", {"nf": "dpi"}, id="suricata-dpi"),
    pytest.param("program", "fastclick", {"nf": "l2fwd"}, id="fastclick-l2fwd"),
    pytest.param(
        "program", "fastclick", {"nf": "l3fwd", "options": {"route_list": ROUTES}}, id="fastclick-l3fwd"
    ),
    pytest.param("program", "vpp", {"nf": "l3fwd", "options": {"route_list": ROUTES}}, id="vpp-l3fwd"),
    pytest.param("program", "vpp", {"nf": "nat", "options": {"external": "203.0.113.0/28"}}, id="vpp-nat"),
]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "by", "function"), OTHERS)
def test_what_passes_weirs_function_passes_its_other_counterparts(
    kind: str, by: str, function: dict[str, Any], run_root: Path
) -> None:
    for trial in both(function, kind=kind, by=by):
        assert trial.offered == trial.delivered > 0, trial.drops
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_what_xdp_has_no_route_for_linux_drops_by_its_reason(run_root: Path) -> None:
    """Half of what leaves at the left goes to an address that no route leads to."""
    function = {"nf": "l3fwd", "options": {"route_list": "198.18.0.0/16 default, 198.19.0.0/16 default"}}
    _, xdp = both(function, kind="kernel", by="xdp", to_address="203.0.113.1")
    lost = {(drop.place, drop.reason): drop.packets for drop in xdp.drops if drop.packets}
    assert lost == {("f1/kernel/linux", "ip_in_no_routes"): xdp.offered - xdp.delivered}
    assert 0 < xdp.delivered < xdp.offered
    assert [*run_root.iterdir()] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("by", "function", "reason"),
    [
        ("fastclick", {"nf": "acl", "options": {"rule_list": RULES}}, "denied"),
        ("vpp", {"nf": "acl", "options": {"rule_list": RULES}}, "acl_plugin_in_ip4_fa_acl_deny_packets"),
        (
            "vpp",
            {"nf": "nat", "options": {"external": "203.0.113.0/28"}},
            "nat44_ed_out2in_slowpath_no_translation",
        ),
    ],
    ids=["fastclick-acl", "vpp-acl", "vpp-nat"],
)
def test_what_weirs_function_refuses_programs_of_others_refuse_and_count(
    by: str, function: dict[str, Any], reason: str, run_root: Path
) -> None:
    """By the rules; of nat, what comes back to an address without a session."""
    to_address = "203.0.113.1" if function["nf"] == "nat" else None
    weir, other = both(function, to_address, kind="program", by=by)
    assert 0 < refused(other, reason) == other.offered - other.delivered < other.offered, other.drops
    shares = [(trial.offered - trial.delivered) / trial.offered for trial in (weir, other)]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)
    assert [*run_root.iterdir()] == []


@pytest.mark.long
def test_what_dpi_drops_suricata_drops_by_the_same_rules(run_root: Path, tmp_path: Path) -> None:
    """Of the flows of the tiny lab some forty, by their ports."""
    (tmp_path / "dpi.rules").write_text("100 drop flow udp any any 1024-1063 any\n")
    function = {"nf": "dpi", "options": {"rules_file": str(tmp_path / "dpi.rules")}}
    weir, suricata = both(function, kind="program", by="suricata")
    for trial in (weir, suricata):
        assert 0 < trial.offered - trial.delivered < trial.offered
        assert sum(drop.packets for drop in trial.drops) == trial.offered - trial.delivered
    assert refused(suricata, "rules") + refused(suricata, "flow_drop") > 0, suricata.drops
    shares = [(trial.offered - trial.delivered) / trial.offered for trial in (weir, suricata)]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)
    assert [*run_root.iterdir()] == []
