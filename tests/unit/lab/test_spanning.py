# SPDX-License-Identifier: Apache-2.0
"""Chains that span hosts: what a lab may say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import LabFileError, load_lab
from weir.lab.load import load_open_lab

from .lab_text import load, problem, problems

CHAIN = """\
weir: 1
name: spans
technology: [direct, linux-bridge]
chain: [[fw, nat]]
functions:
  fw: {nf: l2fwd}
  nat: {nf: l2fwd}
"""
HOSTS = "tester: edge, functions: {nat: core}"
VXLAN = "addresses: {edge: 192.0.2.1, core: 192.0.2.2}"
CARDS = "kind: card, cards: {edge: [eth1, eth2], core: [ens1, ens2]}"

VLANS = "kind: vlan, vlan: 100, cards: {edge: [eth1], core: [ens1]}"


def spanning(hosts: str = HOSTS, chain: str = CHAIN) -> str:
    return f"{chain}hosts: {{{hosts}}}\n"


@pytest.mark.parametrize(
    "hosts",
    [
        HOSTS,
        f"{HOSTS}, machines: {{edge: nfv1, core: nfv2}}",
        f"{HOSTS}, wire: {{{VXLAN}, port: 8472}}",
        f"{HOSTS}, wire: {{addresses: {{edge: '2001:db8::1', core: '2001:db8::2'}}}}",
        f"{HOSTS}, wire: {{{CARDS}}}",
        f"{HOSTS}, wire: {{{VLANS}}}",
        "tester: edge, functions: {fw: core, nat: far}",
    ],
)
def test_a_chain_may_span_hosts(hosts: str) -> None:
    assert not problems(spanning(hosts))


def test_a_function_that_is_not_placed_is_on_the_testers_host() -> None:
    hosts = load(spanning()).hosts
    assert hosts is not None
    assert hosts.names() == ("edge", "core")
    assert hosts.along(("fw", "nat")) == ("edge", "edge", "core", "edge")
    assert hosts.crossings(("fw", "nat")) == (1, 2)


@pytest.mark.parametrize(
    ("hosts", "key", "said"),
    [
        ("tester: [edge, core], functions: {nat: core}", "hosts.tester", "offset of their clocks"),
        ("tester: edge, functions: {natt: core}", "hosts.functions.natt", "did you mean nat?"),
        ("tester: edge, functions: {nat: edge}", "hosts.functions", "nothing spans hosts"),
        (f"{HOSTS}, machines: {{coer: nfv2}}", "hosts.machines.coer", "did you mean core?"),
        (f"{HOSTS}, machines: {{edge: a, core: a}}", "hosts.machines.edge", "another host of this lab"),
        (f"{HOSTS}, wire: {{kind: vlam}}", "hosts.wire.kind", "one of vxlan, vlan, card"),
        (f"{HOSTS}, wire: {{cards: {{edge: [eth1]}}}}", "hosts.wire.cards", "kind: card"),
        (f"{HOSTS}, wire: {{vlan: 100}}", "hosts.wire.vlan", "kind: vlan"),
        (f"{HOSTS}, wire: {{{VLANS.replace(' vlan: 100,', '')}}}", "hosts.wire", "has no `vlan`"),
        (
            f"{HOSTS}, wire: {{{VLANS.replace('100', '4094')}}}",
            "hosts.wire.vlan",
            "the last of 2 wires would have 4095; expected 1 to 4093",
        ),
        (f"{HOSTS}, wire: {{{VLANS.replace('100', '0')}}}", "hosts.wire.vlan", "number from 1 to 4094"),
        (
            f"{HOSTS}, wire: {{{VLANS.replace('[ens1]', '[ens1, ens2]')}}}",
            "hosts.wire.cards.core",
            "core has 2 interfaces; expected one",
        ),
        (
            f"{HOSTS}, wire: {{{VLANS.replace(', core: [ens1]', '')}}}",
            "hosts.wire.cards",
            "core has 0 interfaces; expected one",
        ),
        (f"{HOSTS}, wire: {{{CARDS}, {VXLAN}}}", "hosts.wire.addresses", "kind: vxlan"),
        (f"{HOSTS}, wire: {{addresses: {{core: 127.0.0.1}}}}", "hosts.wire.addresses.core", "other hosts"),
        (
            f"{HOSTS}, wire: {{addresses: {{edge: 192.0.2.1, core: '2001:db8::2'}}}}",
            "hosts.wire.addresses",
            "one version",
        ),
        (
            f"{HOSTS}, wire: {{kind: card, cards: {{edge: [eth1, eth2], core: [ens1]}}}}",
            "hosts.wire.cards.core",
            "core has 2 wires to other hosts in a chain, and 1 interface",
        ),
        (
            f"{HOSTS}, wire: {{kind: card, cards: {{edge: [eth1, eth1], core: [ens1, ens2]}}}}",
            "hosts.wire.cards.edge",
            "eth1 twice",
        ),
    ],
)
def test_hosts_that_fit_no_chain_are_refused_where_they_are_said(hosts: str, key: str, said: str) -> None:
    found = problem(spanning(hosts))
    assert found.key == key
    assert said in str(found)


@pytest.mark.parametrize(
    ("was", "now", "key", "said"),
    [
        ("[direct, linux-bridge]", "[direct, ovs]", "technology[1]", "one of direct, linux-bridge"),
        ("nat: {nf: l2fwd}", "nat: {nf: l2fwd, kind: vm}", "functions.nat.kind", "process, kernel"),
        (
            "nat: {nf: l2fwd}",
            "nat: {nf: upf, options: {sessions: 5, sessions_max: 15, n4_address: 127.0.0.5}}",
            "hosts.functions.nat",
            "N4",
        ),
    ],
)
def test_what_does_not_work_between_hosts_yet_is_refused(was: str, now: str, key: str, said: str) -> None:
    text = spanning(chain=CHAIN.replace("[direct, linux-bridge]", "linux-bridge") if "vm" in now else CHAIN)
    found = problem(text.replace(was, now))
    assert found.key == key
    assert said in str(found)


def test_connections_are_made_on_one_machine() -> None:
    text = spanning() + "traffic: {connections: {services: [{port: 80}]}}\n"
    assert any(one.key == "traffic.connections" and "spans hosts" in one.message for one in problems(text))


def test_who_measures_on_one_machine_is_told_what_to_type(tmp_path: Path) -> None:
    path = tmp_path / "lab.yml"
    path.write_text(spanning())
    assert load_open_lab(path).hosts is not None
    with pytest.raises(LabFileError) as refused:
        load_lab(path)
    (found,) = refused.value.problems
    assert (found.key, found.line) == ("hosts", 8)
    assert f"weir run {path} --on HOST:PORT" in str(found)
