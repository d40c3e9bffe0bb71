# SPDX-License-Identifier: Apache-2.0
"""The labs that benches make are labs as users write them: they can be planned."""

from __future__ import annotations

import importlib

import pytest

from bench import bridged
from bench.disturbed import CHAINS, TECHNOLOGIES
from bench.own_pauses import lab_of_a_function_that_pauses
from bench.pairs import SkipError
from bench.standing_chain import switching
from weir import fabric
from weir.base.topology import Topology
from weir.lab import Lab
from weir.procedures.driver import planned


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_a_chain_that_is_disturbed_can_be_planned(technology: str, chain: str) -> None:
    lab = switching()
    assert Lab.model_validate(lab.model_dump(by_alias=True)).traffic.frames == lab.traffic.frames == ("64",)
    assert _planned(lab, technology, chain).chain == chain


def test_a_function_that_pauses_can_be_planned() -> None:
    lab = lab_of_a_function_that_pauses(100)
    functions = _planned(lab, "direct", "PVP").functions()
    assert [one.nf for one in functions] == ["impair"]


def _planned(lab: Lab, technology: str, chain_name: str) -> Topology:
    chain = next(chain for chain in lab.chains() if chain.name == chain_name)
    return planned(lab, technology, chain)


@pytest.mark.parametrize("bench", ["nat_nftables", "lb_nftables", "lb_ipvs"])
def test_labs_of_benches_beside_linux_are_ones(bench: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = fabric.Refusal(missing="a machine of this kind", fix="")
    monkeypatch.setattr(bridged, "refusal", lambda *_: lacking)
    with pytest.raises(SkipError, match="a machine of this kind"):
        importlib.import_module(f"bench.{bench}").run()
