# SPDX-License-Identifier: Apache-2.0
"""Offloads are off, or what is deployed is refused."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, Self

import pytest
from pyroute2 import IPRoute
from pyroute2.ethtool import Ethtool

from weir.base.error import FabricError
from weir.fabric import namespace
from weir.fabric import offloads as under_test
from weir.fabric.offloads import switch_off_offloads


class Card:
    """An interface with features that it may keep. `kept`: on, whatever is asked."""

    def __init__(self, on: set[str], kept: set[str], fixed: set[str]) -> None:
        self.on, self.kept, self.fixed = on, kept, fixed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get_features(self, _interface: str) -> Any:
        each = {
            name: SimpleNamespace(name=name, enable=name in self.on, available=name not in self.fixed)
            for name in {*self.on, "rx-lro"}
        }
        return SimpleNamespace(features=each)

    def set_features(self, _interface: str, features: Any) -> None:
        assert all(one.enable for one in features.features.values() if one.name in self.fixed)
        self.on = {one.name for one in features.features.values() if one.enable} | self.kept


def given(monkeypatch: pytest.MonkeyPatch, on: set[str], *, kept: set[str], fixed: set[str]) -> Card:
    card = Card(on, kept, fixed)
    monkeypatch.setattr(under_test, "Ethtool", lambda: card)
    monkeypatch.setattr(namespace, "inside", lambda _name: nullcontext())
    return card


def test_what_makes_other_frames_is_off_and_all_else_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    on = {"tx-checksum-ip-generic", "tx-tcp-segmentation", "rx-gro", "rx-vlan-hw-parse", "highdma"}
    card = given(monkeypatch, on, kept=set(), fixed={"highdma"})
    switch_off_offloads("w0", "left")
    assert card.on == {"highdma"}


@pytest.mark.parametrize("fixed", [set(), {"rx-gro"}])
def test_one_that_the_kernel_keeps_is_named(monkeypatch: pytest.MonkeyPatch, fixed: set[str]) -> None:
    given(monkeypatch, {"rx-gro", "tx-checksum-ip-generic"}, kept={"rx-gro"}, fixed=fixed)
    with pytest.raises(FabricError, match="keeps offloads of left in w0 on: rx-gro; "):
        switch_off_offloads("w0", "left")


@pytest.fixture
def netns() -> Iterator[str]:
    """With a veth pair in it."""
    name = f"weir-offloads-{secrets.token_hex(4)}"
    namespace.create(name)
    try:
        with namespace.inside(name), IPRoute() as route:
            route.link("add", ifname="left", kind="veth", peer={"ifname": "peer"})
        yield name
    finally:
        namespace.delete(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="makes interfaces: run as root")
def test_this_kernel_switches_those_of_a_veth_pair_off(netns: str) -> None:
    switch_off_offloads(netns, "left")
    with namespace.inside(netns), Ethtool() as ethtool:
        on = [one.name for one in ethtool.get_features("left").features.values() if one.enable]
    assert not [name for name in on for part in under_test.OFFLOADS if part in name]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes interfaces: run as root")
def test_an_interface_that_is_not_there_is_an_error_of_the_deployment(netns: str) -> None:
    with pytest.raises(FabricError, match=f"cannot switch off the offloads of right in {netns}: "):
        switch_off_offloads(netns, "right")
