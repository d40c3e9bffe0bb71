# SPDX-License-Identifier: Apache-2.0
"""Placements: all of them, each once, and the lab that each one is."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from weir import plan
from weir.lab.function import FunctionOptions
from weir.plan.execution import execution
from weir.plan.placements import Placement, Pool, Split, own_names, placed_lab, placements, splits

from .test_execution import lab_of

STAGES = ("nat", "acl", "l3fwd", "dpi", "acl", "l3fwd", "acl")
RTC, PIPELINE = Split("run-to-completion"), Split("pipeline")


def function(*names: str) -> FunctionOptions:
    options = {"nat": {"external": "192.0.2.0/24"}, "lb": {"services": "198.19.0.1:80/udp 198.19.1.1:80"}}
    return FunctionOptions.model_validate(
        {"chain": [{"nf": name, "options": options.get(name, {})} for name in names]}
    )


def found(split: Split, stages: int, own: int, tester: int = 0) -> list[tuple[int, ...]]:
    """Cores of the areas of one function's placements; own cores from 10, the tester's from 0."""
    pool = Pool(tuple(range(10, 10 + own)), tuple(range(tester)))
    listed = placements([function(*STAGES[:stages])], [[split]], pool, own)
    return [one.cores[0] for one in listed]


@pytest.mark.parametrize(("stages", "partitions"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)])
def test_a_pipelines_areas_are_grouped_in_every_way_once(stages: int, partitions: int) -> None:
    assert len(found(PIPELINE, stages, own=stages)) == partitions


def test_a_long_pipelines_cores_have_neighbours_only() -> None:
    listed = found(PIPELINE, 7, own=7)
    assert len(listed) == 2**6
    assert all(len(list(itertools.groupby(cores))) == len(set(cores)) for cores in listed)


def test_of_a_function_on_cores_that_are_alike_there_is_one_placement() -> None:
    assert found(RTC, 3, own=8) == [(10,)]


def test_the_testers_cores_are_told_apart_and_from_the_others() -> None:
    assert sorted(found(RTC, 3, own=2, tester=2)) == [(0,), (1,), (10,)]


def test_workers_are_alike_and_stand_evenly() -> None:
    assert sorted(found(Split("dispatch", workers=2), 3, own=3)) == [(10, 10, 11), (10, 11, 12)]


def test_as_many_workers_more_on_every_core_share_the_load_no_better() -> None:
    assert (10, 11, 11) not in found(Split("dispatch", workers=2), 3, own=3)


def test_more_workers_than_cores_even_out_a_dispatchers_core() -> None:
    assert (10, 10, 11, 11) in found(Split("dispatch", workers=3), 3, own=2)


@pytest.mark.parametrize(
    "split", [Split("separated", workers=3, state_cores=2), Split("dispatch", workers=4)]
)
def test_no_two_placements_differ_only_in_which_core_is_which(split: Split) -> None:
    kinds = split.areas(3)
    seen: Counter[object] = Counter()
    for cores in found(split, 3, own=4):
        parts = [kind for kind, count in enumerate(kinds) for _ in range(count)]
        contents = {core: Counter[int]() for core in cores}
        for kind, core in zip(parts, cores, strict=True):
            contents[core][kind] += 1
        seen[tuple(sorted(tuple(sorted(one.items())) for one in contents.values()))] += 1
    assert seen.most_common(1)[0][1] == 1
    assert len(seen) >= 4


def test_the_fewest_areas_come_first_over_all_functions_of_a_chain() -> None:
    functions = [function("nat", "l3fwd"), function("acl")]
    choices = [splits(one, 3, (False,)) for one in functions]
    listed = list(placements(functions, choices, Pool((1, 2), ()), 2))
    counts = [one.area_count() for one in listed]
    assert counts == sorted(counts)
    assert len(set(listed)) == len(listed)
    assert {(1,), (2,)} == {one.cores[1] for one in listed if one.splits == (RTC, RTC)}


def test_only_ways_that_weir_dp_takes_are_tried() -> None:
    two_that_steer = splits(function("nat", "lb"), 9, (False,))
    assert {one.workers for one in two_that_steer if one.architecture == "dispatch"} == {1}
    assert {one.state_cores for one in two_that_steer if one.architecture == "separated"} == {1}
    mover = splits(FunctionOptions(nf="l2fwd"), 9, (False,))
    assert {one.architecture for one in mover} == {"run-to-completion", "dispatch"}


@pytest.mark.parametrize(
    ("split", "cores", "where"),
    [
        (RTC, (3,), {"f1": 3}),
        (PIPELINE, (3, 2, 3), {"f1.nat": 3, "f1.acl": 2, "f1.l3fwd": 3}),
        (
            Split("dispatch", workers=2),
            (2, 2, 3),
            {"f1.dispatcher": 2, "f1.worker0": 2, "f1.worker1": 3, "f1.collector.left": 2},
        ),
        (
            Split("separated", workers=2, state_cores=1),
            (2, 3, 4, 2),
            {
                "f1.dispatcher": 2,
                "f1.state_core0": 3,
                "f1.rewrite_worker0": 4,
                "f1.rewrite_worker1": 2,
                "f1.collector": 2,
            },
        ),
    ],
)
def test_areas_stand_where_the_placement_says(
    split: Split, cores: tuple[int, ...], where: dict[str, int]
) -> None:
    lab = lab_of()
    placed = placed_lab(lab, lab.chains()[0], Placement((split,), (cores,)), (0,))
    chain = placed.chains()[0]
    said = execution(plan.build_topology(placed, "direct", chain, "costs-00000000"), placed, chain, "64")
    stands = {area.name: area.core for area in said.areas}
    assert {name: stands[name] for name in where} == where
    assert (stands["generator.left"], stands["receiver.right"]) == (0, 0)


def test_a_function_that_stands_twice_gets_a_name_for_each_place() -> None:
    lab = lab_of(chain="PVVP", functions={"default": {"nf": "l2fwd"}})
    assert own_names(lab.chains()[0]) == ("default-1", "default-2")
    placed = placed_lab(lab, lab.chains()[0], Placement((RTC, RTC), ((1,), (2,))), (0,))
    assert [placed.functions[name].cores for name in placed.chains()[0].functions] == [(1,), (2,)]
