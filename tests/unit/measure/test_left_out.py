# SPDX-License-Identifier: Apache-2.0
"""What a result keeps of the times in which cores were away."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.measure.absences import Absence
from weir.measure.left_out import MOST, recorded
from weir.results.slices import LeftOut, takers

END_US = 400_000.0
TURN_US = 125.0


def turns(programs: int = 3, core: int = 1) -> list[Absence]:
    """Programs that take turns on a core all the time, eight times a millisecond."""
    names = itertools.cycle(f"python of root ({number})" for number in range(programs))
    return [
        Absence(core, at * TURN_US, (at + 1) * TURN_US, by)
        for at, by in zip(range(int(END_US / TURN_US)), names, strict=False)
    ]


def had(kept: tuple[LeftOut, ...]) -> dict[tuple[int, str], float]:
    return {who: one.us for who, one in takers(kept, END_US).items()}


def test_few_times_are_kept_as_they_were() -> None:
    away = [Absence(0, 10.0, 20.0, "make of root (7)"), Absence(1, 5.0, 6.04, "host")]
    assert recorded(away) == (
        LeftOut(core=1, from_us=5.0, to_us=6.0, by="host"),
        LeftOut(core=0, from_us=10.0, to_us=20.0, by="make of root (7)"),
    )


def test_of_thousands_of_turns_few_are_kept_and_who_had_the_cores_for_how_long_is_as_it_was() -> None:
    away = turns() + turns(programs=2, core=0)
    kept = recorded(away)
    assert 10 < len(kept) <= MOST
    assert had(kept) == {
        (1, "python of root"): pytest.approx(END_US, rel=1e-4),
        (0, "python of root"): pytest.approx(END_US, rel=1e-4),
    }
    (python,) = {who: one.threads for who, one in takers(kept, END_US).items() if who[0] == 1}.values()
    assert python == {"0", "1", "2"}
    assert all(one.to_us <= END_US + 0.1 for one in kept)


def test_times_stay_where_they_were_to_a_piece() -> None:
    early = [one for one in turns() if one.to_us <= END_US / 10]
    late = [one for one in turns() if one.from_us >= END_US * 9 / 10]
    kept = recorded(early + late)
    assert len(early + late) > MOST >= len(kept)
    assert not [one for one in kept if one.to_us > END_US * 0.15 and one.from_us < END_US * 0.85]


def test_of_thousands_of_programs_of_one_name_one_is_kept_a_piece() -> None:
    kept = recorded(turns(programs=3200))
    assert len(kept) <= MOST
    assert had(kept) == {(1, "python of root"): pytest.approx(END_US, rel=1e-4)}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(MOST // 2, 600))
def test_nothing_is_lost_of_whatever_was_away(seed: int, count: int) -> None:
    chosen = random.Random(seed)
    away = []
    for core in range(2):
        at_us = -1000.0
        for _ in range(count // 2):
            at_us += chosen.expovariate(1 / 300)
            lasted_us = chosen.expovariate(1 / 200)
            away.append(Absence(core, at_us, at_us + lasted_us, f"p{chosen.randrange(4)} ({core})"))
            at_us += lasted_us
    kept = recorded(away)
    assert len(kept) <= max(MOST, 2 * 4 * 9)
    whole = sum(one.to_us - one.from_us for one in away)
    assert sum(one.to_us - one.from_us for one in kept) == pytest.approx(whole, abs=0.1 * len(away))


def test_a_gap_of_the_host_is_left_to_who_had_the_core_in_it() -> None:
    away = [
        Absence(0, 0.0, 100.0, "host"),
        Absence(0, 40.0, 60.0, "make of root (7)"),
        Absence(0, 200.0, 300.0, "host"),
        Absence(1, 210.0, 290.0, "make of root (7)"),
        Absence(0, 300.0, 310.0, "slowed"),
    ]
    assert [(one.core, one.from_us, one.by) for one in recorded(away)] == [
        (0, 40.0, "make of root (7)"),
        (0, 200.0, "host"),
        (1, 210.0, "make of root (7)"),
        (0, 300.0, "slowed"),
    ]
