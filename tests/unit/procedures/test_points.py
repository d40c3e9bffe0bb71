# SPDX-License-Identifier: Apache-2.0
"""A campaign's points add up: planned = measured + left out + refused, however far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab import load_lab
from weir.lab.ways import Key, ways
from weir.procedures.points import Points
from weir.procedures.rounds import MeasuredSetup
from weir.results.result import Case, Setup, Throughput
from weir.results.rounds import INTERRUPTED

FRAMES, ROUNDS = ("64", "1518"), 3
SETUPS: tuple[Key, ...] = (("direct", "PVP"), ("ovs", "PVP"), ("ovs", "PVVP"))


def visited(key: Key, rounds: dict[str, int], *, refused: str | None = None) -> MeasuredSetup:
    """With so many rounds of each frame size."""
    lab = load_lab(Path(__file__).parents[3] / "labs" / "switching")
    setup = Setup(technology=key[0], chain=key[1], datapath="none", refused=refused)
    found = MeasuredSetup(ways(lab)[0], lab.chains()[0], setup, 1)
    for frame, count in rounds.items():
        found.rounds[frame] = [Case(frame=frame, mean_frame_bytes=64) for _ in range(count)]
    return found


@pytest.fixture
def known() -> dict[Key, MeasuredSetup]:
    """The first is half measured, the second cannot be, the third was not begun."""
    first, second, _ = SETUPS
    return {
        first: visited(first, {"64": 3, "1518": 1}),
        second: visited(second, {}, refused="there is no switch"),
    }


@pytest.fixture
def points(known: dict[Key, MeasuredSetup]) -> Points:
    return Points(SETUPS, FRAMES, ROUNDS, known)


def test_what_was_planned_is_measured_refused_or_left_out(points: Points) -> None:
    assert (points.planned, points.measured, points.refused) == (18, 4, 6)
    left = {(one.name, one.chain, one.frame): (one.measured, one.left_out) for one in points.left_out()}
    assert left == {
        ("direct", "PVP", "1518"): (1, 2),
        ("ovs", "PVVP", "64"): (0, 3),
        ("ovs", "PVVP", "1518"): (0, 3),
    }
    assert points.planned == points.measured + points.refused + sum(one for _, one in left.values())


def test_a_round_that_was_interrupted_is_none_and_what_was_measured_again_counts_once(
    known: dict[Key, MeasuredSetup], points: Points
) -> None:
    cases = known[SETUPS[0]].rounds["1518"]
    cases[0].problem = INTERRUPTED
    assert points.measured == 3
    known[SETUPS[0]].rounds["64"].append(Case(frame="64", mean_frame_bytes=64))
    assert points.measured == 3


def test_a_visit_measures_the_frame_sizes_that_lack_its_round(points: Points) -> None:
    assert points.done() == {SETUPS[0]: 1, SETUPS[1]: 0}
    assert points.wanted(SETUPS[0], 0) == []
    assert points.wanted(SETUPS[0], 1) == ["1518"]
    assert points.wanted(SETUPS[2], 0) == ["64", "1518"]


def test_what_is_known_least_exactly_tells_how_exactly_a_set_up_is_known(
    known: dict[Key, MeasuredSetup], points: Points
) -> None:
    assert points.width(SETUPS[0]) == points.width(SETUPS[2]) == 0
    rate = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=1.0)
    known[SETUPS[0]].setup.cases = [Case(frame="64", mean_frame_bytes=64, throughput=[rate])]
    assert points.width(SETUPS[0]) == float("inf")
