# SPDX-License-Identifier: Apache-2.0
"""Offload of a fast path, as a lab asks for it: where it can be, and what is refused with its place."""

from __future__ import annotations

import pytest

from .lab_text import problem, problems


def lab(text: str, technology: str = "[linux-bridge, ovs]", more: str = "") -> str:
    head = f"weir: 1\nname: small\nchain: PVP\ntechnology: {technology}\n"
    return head + f"functions:\n  default: {{{text}}}\n{more}"


@pytest.mark.parametrize(
    "text",
    [
        "nf: l3fwd, fastpath: true, offload: {kind: xdp}",
        "nf: l3fwd, fastpath: true, offload: {kind: xdp, flows: 100, packets: 1000}",
        "chain: [{nf: acl}, {nf: l3fwd}], fastpath: true, offload: {kind: xdp}",
        "nf: l2fwd, offload: {kind: none}",
    ],
)
def test_it_can_be_asked_for_between_packet_sockets(text: str) -> None:
    assert not problems(lab(text))


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("nf: l3fwd, offload: {kind: xdp}", "functions.default.offload", "fastpath: true"),
        (
            "chain: [{nf: acl}, {nf: l3fwd}], fastpath: true, offload: {kind: xdp}, architecture: pipeline",
            "functions.default.architecture",
            "run-to-completion",
        ),
        ("nf: l3fwd, fastpath: true, offload: {kind: xpd}", "functions.default.offload.kind", "xdp"),
        ("nf: l3fwd, fastpath: true, offload: {kind: xdp, flows: 0}", "functions.default.offload.flows", "1"),
        ("nf: l3fwd, fastpath: true, offload: {kind: xdp, flow: 9}", "functions.default.offload.flow", ""),
        (
            "kind: vm, nf: l3fwd, fastpath: true, offload: {kind: xdp}",
            "functions.default.offload",
            "kind: process",
        ),
        ("kind: kernel, offload: {kind: xdp}", "functions.default.offload", "kind: process"),
    ],
)
def test_what_cannot_be_is_refused_where_it_stands(text: str, key: str, expected: str) -> None:
    found = problem(lab(text, "linux-bridge"))
    assert found.key == key
    assert expected in (found.expected or "")


OFFLOADED = "nf: l3fwd, fastpath: true, offload: {kind: xdp}"


@pytest.mark.parametrize(
    ("technology", "options", "key"),
    [
        ("direct", "", "technology"),
        ("[linux-bridge, ovs-dpdk]", "", "technology[1]"),
        ("ovs", "technologies: {ovs: {port: af_packet}}\n", "technology"),
    ],
)
def test_other_ports_than_packet_sockets_are_refused(technology: str, options: str, key: str) -> None:
    found = problem(lab(OFFLOADED, technology, options))
    assert found.key == key
    assert "default" in found.message
    assert found.expected == "linux-bridge or ovs, with port: packet_socket"


def test_rules_of_a_card_are_for_a_card_s_ports() -> None:
    in_card = "nf: l3fwd, fastpath: true, offload: {kind: rte_flow}"
    assert not problems(lab(in_card, "sr-iov"))
    found = problem(lab(in_card, "[sr-iov, linux-bridge]"))
    assert (found.key, found.expected) == ("technology[1]", "sr-iov")
    assert problem(lab(OFFLOADED, "sr-iov")).expected == "linux-bridge or ovs, with port: packet_socket"


def test_tagged_frames_that_would_never_be_offloaded_are_refused() -> None:
    assert problem(lab(OFFLOADED, more="traffic: {vlan: 5}\n")).key == "traffic.vlan"
