# SPDX-License-Identifier: Apache-2.0
"""Cores: what the lab says is checked against the machine, and what it leaves open is chosen."""

from __future__ import annotations

import pytest

from weir.base.cores import default_cores, whole_cores_first

from .lab_text import GOOD, load, problem, problems


def test_a_core_that_the_machine_does_not_have_is_refused() -> None:
    found = problem(GOOD + "cores: {tester: [0], functions: [5]}\n")
    assert found.key == "cores.functions[0]"
    assert "no core 5" in found.message
    assert found.expected == "cores of 0-1"


def test_no_core_is_refused_where_the_machine_does_not_matter() -> None:
    assert not problems(GOOD + "cores: {tester: [40], functions: [41], switch: [42]}\n", cpus=None)


@pytest.mark.parametrize(
    "chosen",
    [
        "cores: {switch: [0]}",
        "technologies: {ovs-dpdk: {pmd_cores: [0]}}",
        "technologies: {ovs-dpdk: {cores: {switch: [0]}}}",
        "cores: {functions: [1]}",
    ],
)
def test_two_polling_processes_on_one_core_are_refused_with_the_reason(chosen: str) -> None:
    found = problem(GOOD + chosen + "\n")
    assert "two polling processes on one core starve each other" in found.message
    assert chosen.startswith(found.key.partition(".")[0])


def test_sharing_a_core_with_the_kernels_forwarding_is_allowed() -> None:
    text = GOOD.replace(", ovs-dpdk", "") + "cores: {tester: [0], functions: [0], switch: [0]}\n"
    assert not problems(text)


def test_ovs_dpdk_is_impossible_on_one_core() -> None:
    found = problem(GOOD, cpus=(3,))
    assert found.key == "technology[2]"
    assert "impossible on one core" in found.message


def test_on_two_cores_the_switch_has_its_own_and_direct_uses_both() -> None:
    lab = load(GOOD)
    direct, switched = lab.cores_for("direct"), lab.cores_for("ovs-dpdk")
    assert (direct.tester, direct.functions) == ((0,), (1,))
    assert (switched.tester, switched.functions, switched.switch) == ((0,), (0,), (1,))


@pytest.mark.parametrize("count", range(3, 20))
@pytest.mark.parametrize("apart", [False, True])
def test_with_more_cores_tester_functions_and_switch_never_share(count: int, apart: bool) -> None:
    cpus = tuple(range(10, 10 + count))
    cores = default_cores(cpus, functions_apart=apart)
    used = [*(cores.tester or ()), *(cores.functions or ()), *(cores.switch or ())]
    assert len(set(used)) == len(used)
    assert set(used) <= set(cpus)


def test_cores_of_a_technology_come_before_those_of_the_lab() -> None:
    text = GOOD + "cores: {tester: [2], switch: [4]}\ntechnologies: {direct: {cores: {functions: [3]}}}\n"
    cores = load(text, cpus=(0, 1, 2, 3, 4)).cores_for("direct")
    assert (cores.tester, cores.functions, cores.switch) == ((2,), (3,), (4,))


def test_a_loaded_lab_says_all_cores_of_its_technologies() -> None:
    lab = load(GOOD, cpus=(4, 7))
    assert lab.options("direct").cores is not None
    assert lab.cores_for("linux-bridge").switch == (7,)
    assert lab.baseline == "direct"


def test_functions_with_cores_of_their_own_take_no_part_of_the_labs() -> None:
    text = (
        GOOD
        + "functions: {default: {nf: l3fwd, cores: [2]}}\ncores: {tester: [0], functions: [3], switch: [1]}\n"
    )
    lab = load(text, cpus=(0, 1, 2, 3))
    assert lab.function_cpus("direct") == (2,)
    assert lab.polling_cpus("ovs-dpdk") == (0, 1, 2)


def test_a_polling_switch_must_not_share_a_functions_own_core() -> None:
    text = GOOD + "functions: {default: {nf: l3fwd, cores: [1]}}\ncores: {tester: [0], switch: [1]}\n"
    assert "core 1 would be polled by the switch" in problem(text).message


def test_no_two_of_tester_switch_and_functions_share_a_physical_core_while_there_are_others() -> None:
    beside, after = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)), tuple((n, n + 6) for n in range(6))
    for siblings in (beside, after):
        cpus = whole_cores_first(range(12), siblings)
        cores = default_cores(cpus, functions_apart=True)
        system, *others = cpus[0], *(cores.tester or ()), *(cores.switch or ()), *(cores.functions or ())[:2]
        core_of = {cpu: group for group in siblings for cpu in group}
        assert len({core_of[cpu] for cpu in (system, *others)}) == 6
        assert sorted(cpus) == list(range(12))


def test_second_threads_come_last_and_a_core_of_which_one_thread_may_be_used_counts_as_whole() -> None:
    assert whole_cores_first({1, 3, 2, 6}, [(0, 1), (2, 3), (4, 5)]) == (1, 2, 6, 3)
    assert whole_cores_first([4, 0, 2], []) == (0, 2, 4)
