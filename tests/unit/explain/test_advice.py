# SPDX-License-Identifier: Apache-2.0
"""What is advised, and the gains that the ledger's cycles allow."""

from __future__ import annotations

from typing import Any

import pytest

from weir.base.node import Offload
from weir.explain.advice import split, without
from weir.explain.cores import Core, CostItem
from weir.explain.measures import MEASURES
from weir.results.explanation import CaseExplanation

from .made import area, explained, the_tester, topology, trial

AHEAD = {("tester.left", "tx_queue_full"): 300_000}


def limited_by_nat(**architecture: str) -> CaseExplanation:
    """600 of f1's 980 cycles a packet are nat's; f2 takes 500 and the tester 300."""
    areas = [*the_tester(), area("f1", 0.98, {"nat": 600_000_000, "acl": 100_000_000})]
    areas.append(area("f2", 0.5, {"acl": 250_000_000}))
    return explained(trial(areas, AHEAD), built=topology(**architecture))  # type: ignore[arg-type]


def gains(found: CaseExplanation) -> dict[str, float]:
    return {one.measure: one.gain_at_most for one in found.advice if one.gain_at_most is not None}


def test_a_gain_ends_where_the_next_core_is_full() -> None:
    cheaper = next(gain for name, gain in gains(limited_by_nat()).items() if "cheaper" in name)
    assert cheaper == pytest.approx(980 / 500 - 1)


def test_the_most_gain_comes_first() -> None:
    found = gains(limited_by_nat())
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_what_is_done_already_is_not_advised() -> None:
    assert any("pipeline" in one.measure for one in limited_by_nat().advice)
    assert not any("pipeline" in one.measure for one in limited_by_nat(architecture="pipeline").advice)


def test_offload_is_advised_where_entries_could_leave_between_packet_sockets_and_have_not() -> None:
    def advised(kind: str, **more: Any) -> bool:
        built = topology()
        nodes = tuple(
            one.model_copy(update={"fastpath_flows": 9, **more}) if one.name == "f1" else one
            for one in built.nodes
        )
        ports = tuple(port.model_copy(update={"kind": kind}) for port in built.ports)
        built = built.model_copy(update={"nodes": nodes, "ports": ports})
        areas = [*the_tester(), area("f1", 0.98, {"nat": 600_000_000}), area("f2", 0.5)]
        return any("offload: {" in one.measure for one in explained(trial(areas, AHEAD), built=built).advice)

    assert advised("packet_socket")
    assert not advised("virtio-user")
    assert not advised("packet_socket", fastpath_flows=0)
    assert not advised("packet_socket", offload=Offload(kind="xdp", flows=1, packets=1))


def test_what_gains_nothing_is_not_advised() -> None:
    assert not any("The tester on a core" in one.measure for one in limited_by_nat().advice)


def test_a_second_core_is_worth_the_best_cut() -> None:
    parts = tuple(CostItem("f1", "stage", nf, cycles, tester=False) for nf, cycles in (("a", 60), ("b", 40)))
    limit = Core(1, 1.0, parts, 0)
    assert split([limit], limit) == pytest.approx(100 / 60 - 1)
    assert without([limit], limit, lambda part: 0.5 if part.nf else 0.0) == pytest.approx(1)


def test_every_measure_says_against_what_and_when_not() -> None:
    assert {one.factor for one in MEASURES} == {"f_t", "f_a", "f_s", "f_i", None}
    assert all(one.against and one.metric and one.when_not for one in MEASURES)
