# SPDX-License-Identifier: Apache-2.0
"""A chain without a place has a reason, and it is the right one."""

from __future__ import annotations

import pytest

from tests.unit.planning.fleet.test_search import search
from weir.planning.fleet.answer import reason
from weir.planning.fleet.instance import ChainClass, Fleet, HostClass, Rule

HOST = HostClass("h", 2, ((8, 32000, 4000, 10000),), link_mbps=8000)


def why(*chains: ChainClass, rules: tuple[Rule, ...] = (), host: HostClass = HOST) -> tuple[int, str, str]:
    """How many have no place, what binds for the last class, and the sentence."""
    answer, _ = search(Fleet((host,), chains, rules))
    found = reason(answer.room, len(chains) - 1)
    return answer.standing.unplaced, found.binds, found.sentence


@pytest.mark.parametrize(
    ("need", "binds", "said"),
    [
        ((9, 0, 0, 0), "cores", "needs 9 cores, and an empty NUMA node has 8 cores at most"),
        ((1, 33000, 0, 0), "memory", "needs 33 GB of memory, and an empty NUMA node has 32 GB of memory"),
        ((1, 0, 5000, 0), "hugepages", "needs 5 GB of hugepages"),
        ((1, 0, 0, 9000), "link", "needs 9 Gbit/s of link, and an empty NUMA node has 8 Gbit/s of link"),
    ],
)
def test_a_chain_larger_than_any_node_names_the_resource(
    need: tuple[int, int, int, int], binds: str, said: str
) -> None:
    unplaced, found, sentence = why(ChainClass("c", 1, (need,)))
    assert (unplaced, found) == (1, binds)
    assert said in sentence


def test_a_chain_that_may_stand_nowhere_says_so() -> None:
    assert why(ChainClass("c", 3, (None,)))[:2] == (3, "hosts")


def test_what_is_used_up_by_others_is_named_with_what_is_left() -> None:
    unplaced, binds, sentence = why(ChainClass("c", 5, ((3, 0, 0, 0),)))
    assert (unplaced, binds) == (1, "cores")
    assert "on 2 of the 2 NUMA nodes" in sentence
    assert "it needs 3 cores or more, and at most 2 cores of one are free" in sentence


def test_anti_affinity_that_keeps_a_chain_away_is_named() -> None:
    rule = Rule("apart", frozenset({0}), per_host=1)
    unplaced, binds, sentence = why(ChainClass("c", 3, ((1, 0, 0, 0),)), rules=(rule,))
    assert (unplaced, binds) == (1, "anti-affinity")
    assert "apart allows 1 on a host" in sentence


def test_the_links_of_a_host_together_can_bind() -> None:
    host = HostClass("h", 1, ((8, 32000, 0, 10000),) * 2, link_mbps=12000)
    assert why(ChainClass("c", 2, ((1, 0, 0, 7000),)), host=host)[:2] == (1, "host link")
