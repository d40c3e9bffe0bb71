# SPDX-License-Identifier: Apache-2.0
"""What an area's cost is made of, beyond the functions: order, bursts, state_cores, buffers, fast paths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weir.lab.execution import Area, AreaKind, AreaPath, Execution
from weir.planning.model.capacity import predict
from weir.planning.model.fit import Row, fit
from weir.planning.model.quality import calibrated
from weir.planning.model.terms import area_terms, overtaken, path_terms, state_bytes

from .costly import HZ, MEMORY, chain, measured

LANE = AreaPath(0.5, "ring", 0.0, 0.0, "memory", 0.0, 1)


def with_path(found: Execution, **changes: object) -> Execution:
    """The functions' path of a chain on one core, changed."""
    areas = [
        replace(area, paths=tuple(replace(path, **changes) for path in area.paths))  # type: ignore[arg-type]
        if area.kind == "chain"
        else area
        for area in found.areas
    ]
    return replace(found, areas=tuple(areas))


def terms(found: Execution, index: int = 1) -> dict[str, float]:
    return area_terms(found.areas[index], found, MEMORY)


def test_two_lanes_that_are_put_together_cost_the_receiver_more() -> None:
    plain = chain(("nat",))
    joined = Area("f1.collector", 0, "chain", (LANE, LANE))
    mixed = replace(plain, areas=(*plain.areas[:-1], joined, plain.areas[-1]))
    assert (overtaken(plain), overtaken(mixed)) == (0.0, 1.0)
    assert terms(mixed, -1)["receiver out of order"] == 1.0


def test_one_lane_keeps_its_order() -> None:
    plain = chain(("nat",))
    alone = Area("f1.collector", 0, "chain", (replace(LANE, share=1.0), replace(LANE, share=0.0)))
    assert overtaken(replace(plain, areas=(*plain.areas, alone))) == 0.0


def test_buffers_come_back_to_the_generator_from_the_core_that_had_them() -> None:
    assert "generator from another core" not in terms(chain(("nat",)), 0)
    split = chain(("nat", "acl"), split=1)
    assert terms(split, 0)["generator from another core"] == pytest.approx(split.distance())


def test_half_a_burst_costs_each_function_and_the_area_a_burst_more() -> None:
    found = terms(with_path(chain(("nat", "acl")), fill=0.5))
    assert [found[f"{name} short burst"] for name in ("nf nat", "nf acl", "chain")] == [1.0, 1.0, 1.0]
    assert not any("short burst" in name for name in terms(chain(("nat", "acl"))))


def test_a_burst_between_cores_costs_a_way_between_them_however_short() -> None:
    split = chain(("nat", "acl"), split=1)
    full, short = (terms(one) for one in (split, split.with_fills({"f1.0": 0.25})))
    assert "short burst across cores" not in full
    assert full["give ring across cores"] == pytest.approx(split.distance())
    assert short["short burst across cores"] == pytest.approx(3 * split.whole_distance())


@pytest.mark.parametrize(
    ("kind", "remembers"), [("chain", False), ("chain", True), ("state_core", False), ("state_core", True)]
)
def test_bytes_from_another_core_are_looked_at_once_a_packet(kind: AreaKind, remembers: bool) -> None:
    far = chain(("nat", "acl"), core=1)
    area = replace(far.areas[1], kind=kind)
    path = replace(area.paths[0], fill=0.5, remembers=remembers)
    stages, rest = path_terms(area, path, far, excess_cycles=0.0)
    first_looks = [terms.get("short burst from another core", 0.0) for terms in (*stages, rest)]
    assert sum(first_looks) == pytest.approx(far.whole_distance())


def test_in_an_owner_a_function_may_cost_less_than_elsewhere() -> None:
    alone = [Row(number, {"nf nat": 1.0}, 80.0) for number in range(6)]
    owned = [Row(10 + number, {"nf nat": 1.0, "nf nat handed over": 1.0}, 70.0) for number in range(6)]
    found = fit([*alone, *owned]).parameters
    assert found.value({"nf nat handed over": 1.0}) == pytest.approx(-10, abs=1.0)


def test_no_other_cost_is_below_zero() -> None:
    alone = [Row(number, {"nf nat": 1.0}, 80.0) for number in range(6)]
    crossing = [Row(10 + number, {"nf nat": 1.0, "headers": 1.0}, 70.0) for number in range(6)]
    assert fit([*alone, *crossing]).parameters.value({"headers": 1.0}) == 0


def test_packets_of_known_flows_pass_the_functions_by() -> None:
    found = with_path(chain(("nat", "acl")), remembers=True, remembered=1.0)
    stages, rest = path_terms(found.areas[1], found.areas[1].paths[0], found, excess_cycles=2.0)
    assert stages == [{}, {}]
    assert (rest["fast path"], rest["fast path memory"], rest["headers"]) == (1.0, 2.0, 1.0)


def test_packets_of_unknown_flows_cost_the_look_up_and_the_functions() -> None:
    found = with_path(chain(("nat", "acl")), remembers=True)
    said = terms(found)
    assert (said["nf nat"], said["nf acl"], said["fast path miss"], said["headers"]) == (1, 1, 1, 1)
    assert said["fast path stage"] == 2


def test_a_fast_path_needs_less_memory_than_the_functions_that_it_spares() -> None:
    plain = chain(("nat", "dpi"), flows=10_000)
    known = with_path(plain, remembers=True, remembered=1.0, remembers_most=65_536)
    assert 0 < state_bytes(known, 0) < state_bytes(plain, 0)


def test_a_model_without_fast_paths_answers_as_if_there_were_none_and_says_so() -> None:
    from random import Random

    trials = [measured(chain(names), number, Random(1), 0.0) for number, names in enumerate(NAMES)]
    model = calibrated(trials, MEMORY, HZ)[0]
    plain = chain(("nat", "acl"))
    quick = replace(with_path(plain, remembers=True, remembered=1.0), fastpath=True)
    said = predict(model, quick)
    assert said.pps == pytest.approx(predict(model, plain).pps)
    assert "The fast path was not measured: what it saves is not in the prediction." in said.notices


NAMES = (("nat", "acl", "l3fwd"), ("l3fwd", "nat"), ("dpi", "nat", "l3fwd"), ("acl", "l3fwd"))
