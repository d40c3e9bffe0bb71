# SPDX-License-Identifier: Apache-2.0
"""Functions of kind kernel: what is accepted, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.function import FunctionOptions
from weir.lab.kernel import filled, words_of
from weir.lab.kind_check import kernel_complaints
from weir.lab.vm_check import vm_complaints

from .lab_text import load, problem, problems

BRIDGE = "weir: 1\nname: small\nchain: PVP\ntechnology: {technology}\n"


LB = '{nf: lb, options: {services: "203.0.113.10:80/tcp 10.0.0.1:8080"}}'
NAT = "{nf: nat, options: {external: 192.0.2.1}}"


def function(text: str, technology: str = "linux-bridge", more: str = "") -> str:
    lab = BRIDGE.replace("{technology}", technology)
    return lab + more + f"functions:\n  default: {{kind: kernel, {text}}}\n"


def test_nothing_has_to_be_said() -> None:
    kernel = load(function("cores: [1]")).functions["default"].namespaced()
    assert kernel is not None
    assert (kernel.addressing, kernel.commands, kernel.rps) == ("routed", (), True)


def test_commands_run_where_the_lab_file_lies(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "lab.yml").write_text(function("kernel: {directory: rules}"))
    kernel = load_lab(tmp_path).functions["default"].namespaced()
    assert kernel is not None
    assert kernel.directory == str(tmp_path / "rules")
    (tmp_path / "lab.yml").write_text(function("cores: [1]"))
    kernel = load_lab(tmp_path).functions["default"].namespaced()
    assert kernel is not None
    assert kernel.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "key", "message", "expected"),
    [
        ("nf: dpi", "functions.default.nf", "Linux has no counterpart of dpi", "one of acl, firewall"),
        ("nf: nat66", "functions.default.nf", "unknown network function", "one of"),
        (
            "nf: acl, options: {rule: x}",
            "functions.default.options.rule",
            "unknown option of acl",
            "one of rules",
        ),
        (
            "chain: [{nf: nat, options: {external: 192.0.2.1/32}}, {nf: acl}]",
            "functions.default.chain[1].nf",
            "stands behind nat, and Linux filters before it has translated sources",
            "acl before nat",
        ),
        (
            f"chain: [{{nf: firewall}}, {LB}]",
            "functions.default.chain[0].nf",
            "stands before lb, and Linux filters when it has translated destinations",
            "firewall behind lb",
        ),
        (
            "chain: [{nf: shaper, options: {tenants: 'default rate_bps=9, 10.0.0.0/8 rate_bps=9'}},"
            f" {NAT}]",
            "functions.default.chain[0].nf",
            "stands beside nat, and Linux shapes packets as they leave, in one direction with other addr",
            "tenants: default",
        ),
        (
            r'chain: [{nf: shaper, options: {tenants: "default rate_bps=9\n10.0.0.0/8 rate_bps=9"}},'
            f" {NAT}]",
            "functions.default.chain[0].nf",
            "stands beside nat, and Linux shapes packets as they leave",
            "tenants: default",
        ),
        (
            f"chain: [{NAT}, {{nf: shaper, options: {{tenants_file: {__file__}}}}}]",
            "functions.default.chain[1].nf",
            "stands beside nat, and Linux shapes packets as they leave",
            "tenants: default",
        ),
        (
            f"chain: [{LB}, {{nf: firewall}}], kernel: {{counterpart: ipvs}}",
            "functions.default.chain[1].nf",
            "stands beside lb by ipvs, whose packets Linux neither filters nor translates",
            "lb by nftables, or firewall in a function of its own",
        ),
        (
            f"chain: [{NAT}, {LB}], kernel: {{counterpart: ipvs}}",
            "functions.default.chain[0].nf",
            "stands beside lb by ipvs",
            "nat in a function of its own",
        ),
        (
            "chain: [{nf: acl}, {nf: l2fwd}]",
            "functions.default.chain[1].nf",
            "is done by nftables at ingress, which has packets before Linux does anything else",
            "l2fwd alone, or l3fwd",
        ),
        (
            "chain: [{nf: shaper, options: {tenants: default rate_bps=9}},"
            " {nf: shaper, options: {tenants: default rate_bps=9}}]",
            "functions.default.chain[1].nf",
            "is there already, and a namespace of Linux's has one of it",
            "one shaper, or functions of their own in the chain",
        ),
        ("nf: nat", "functions.default.options", "has no external", "external"),
        ("nf: lb", "functions.default.options", "has no services and no services_file", "services_file"),
        ("options: {default: permit}", "functions.default.options", "belong to no function", "within chain"),
        (
            "nf: acl, chain: [{nf: l3fwd}]",
            "functions.default.chain",
            "stands beside nf",
            "one of nf, chain and router",
        ),
        (
            "nf: acl, kernel: {addressing: none}",
            "functions.default.kernel.addressing",
            "is none, and the counterparts",
            "addressing: routed",
        ),
        (
            "architecture: pipeline",
            "functions.default.architecture",
            "means nothing to Linux",
            "kind: process",
        ),
        ("vm: {vcpus: 2}", "functions.default.vm", "means nothing to kind kernel", "kind: vm"),
        (
            "kernel: {commands: ['ip route add default via {right.gatway}']}",
            "functions.default.kernel.commands[0]",
            "unknown name {right.gatway}",
            "right.gateway",
        ),
        (
            "kernel: {commands: ['nft \"flush']}",
            "functions.default.kernel.commands[0]",
            "cannot be split",
            "quotes in pairs",
        ),
        ("kernel: {commands: ['']}", "functions.default.kernel.commands[0]", "no program", "a program"),
        (
            "kernel: {sysctls: {vm.swappiness: 1}}",
            "functions.default.kernel.sysctls.vm.swappiness",
            "is none that a network namespace has",
            "such as net.ipv4",
        ),
        (
            "kernel: {directory: nowhere}",
            "functions.default.kernel.directory",
            "there is no directory",
            "relative to",
        ),
        (
            "kernel: {drop_counters: [refused]}",
            "functions.default.kernel.drop_counters[0]",
            "is 'refused'",
            "inet filter refused",
        ),
        ("kernel: {adressing: none}", "functions.default.kernel.adressing", "unknown key", "addressing"),
    ],
)
def test_an_impossible_one_is_refused_where_it_is(text: str, key: str, message: str, expected: str) -> None:
    found = problem(function(text))
    assert found.key == key
    assert message in found.message
    assert expected in (found.expected or "")


def test_two_of_one_that_linux_has_once_are_one_mistake() -> None:
    found = problems(function(f"chain: [{LB}, {LB}], kernel: {{counterpart: ipvs}}"))
    assert [one.key for one in found] == ["functions.default.chain[1].nf"]
    assert "is there already" in found[0].message


def test_rules_are_asked_about_the_addresses_that_linux_has_when_it_filters() -> None:
    load(function(f"chain: [{LB}, {{nf: firewall}}, {NAT}]"))


@pytest.mark.parametrize(
    "tenants",
    [
        "default rate_bps=9000",
        "default rate_bps=9000 # office, home",
        r"# all, 10.0.0.0/8\ndefault rate_bps=9000",
    ],
)
def test_who_is_no_tenant_is_shaped_beside_nat_as_well(tenants: str) -> None:
    load(function(f'chain: [{{nf: shaper, options: {{tenants: "{tenants}"}}}}, {NAT}]'))


def test_a_faulty_vm_hides_nothing_that_means_nothing_to_linux() -> None:
    found = {one.key: one.message for one in problems(function("fastpath: true, vm: {vcpuss: 2}"))}
    assert found["functions.default.fastpath"] == "means nothing to Linux"
    assert "functions.default.vm.vcpuss" in found


def test_each_fault_is_said_once_and_at_keys_that_are_there() -> None:
    options = FunctionOptions.model_validate({"kind": "kernel", "nf": "dpi", "fastpath": True})
    path = ("functions", "default")
    assert list(vm_complaints(path, options)) == []
    (complaint, *others) = kernel_complaints(path, options)
    assert complaint.path == (*path, "fastpath")
    assert [other.path for other in others] == [(*path, "nf")]
    assert {one.about for one in (complaint, *others)} == {((*path, "kind"),)}


def test_what_belongs_to_the_kernel_means_nothing_to_others() -> None:
    found = problem(
        BRIDGE.replace("{technology}", "ovs") + "functions:\n  default: {nf: l2fwd, kernel: {}}\n"
    )
    assert (found.key, found.expected) == ("functions.default.kernel", "kind: kernel")


@pytest.mark.parametrize("technology", ["direct", "ovs-dpdk", "sr-iov"])
def test_a_technology_without_interfaces_is_refused_with_the_reason(technology: str) -> None:
    found = next(one for one in problems(function("cores: [1]", technology)) if "joins" in one.message)
    assert found.key == "technology"
    assert f"{technology} joins no interface of the kernel, which default needs: its" in found.message
    assert found.expected == "one of linux-bridge, ovs"


def test_tagged_frames_need_interfaces_of_the_users() -> None:
    tagged = "traffic: {vlan: 7, frames: [128]}\n"
    assert problem(function("cores: [1]", more=tagged)).key == "traffic.vlan"
    assert load(function("kernel: {addressing: none}", more=tagged)).traffic.vlan == 7


def test_values_are_never_split_and_other_braces_are_the_commands_own() -> None:
    words = words_of("nft add rule inet t f udp dport {53, 123} counter name '{left.mac}'")
    assert filled(words, {"left.mac": "a b"})[-1] == "a b"
    assert "{53," in words
