# SPDX-License-Identifier: Apache-2.0
"""Which cores functions may have: SMT siblings, NUMA nodes, the tester's and the system's."""

from __future__ import annotations

from weir.plan.core_pool import MachineCores, apart, crowded, sharing
from weir.plan.placements import Pool

TWO = MachineCores((0, 1))
SMT = MachineCores(tuple(range(8)), siblings=((0, 4), (1, 5), (2, 6), (3, 7)))
NUMA = MachineCores(tuple(range(8)), nodes={0: (0, 1, 2, 3), 1: (4, 5, 6, 7)})


def test_on_two_cores_functions_have_the_one_that_the_tester_leaves() -> None:
    assert apart(TWO, (0,), with_tester=False) == Pool((1,), ())


def test_a_lab_that_shares_the_testers_core_may_go_on_doing_so() -> None:
    assert apart(TWO, (0, 0), with_tester=True) == Pool((1,), (0,))


def test_functions_get_whole_physical_cores_and_none_of_the_testers_or_the_systems() -> None:
    assert apart(SMT, (1,), with_tester=False).own == (2, 3)


def test_where_nothing_else_fits_there_are_the_systems_core_and_second_threads_too() -> None:
    pool = crowded(SMT, (1,))
    assert pool.own[:2] == (2, 3)
    assert set(pool.own) == {0, 2, 3, 4, 5, 6, 7}
    assert pool.tester == (1,)


def test_functions_stay_on_the_node_of_the_testers_ports() -> None:
    assert apart(NUMA, (5,), with_tester=False).own == (4, 6, 7)
    assert set(crowded(NUMA, (5,)).own) == {4, 6, 7}


def test_what_is_shared_is_said() -> None:
    assert list(sharing(SMT, (1,), (2, 3))) == []
    assert list(sharing(SMT, (1,), (1, 2, 6))) == ["CPU 1 with the tester", "one physical core: CPUs 2,6"]
    assert list(sharing(SMT, (1,), (0, 2))) == ["CPU 0 with the system"]
