# SPDX-License-Identifier: Apache-2.0
"""Parts of what takes many hours add up to the whole, and nothing is tried twice."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.part import VARIABLE, Part
from tests.smoke.points import Choice, Point
from tests.smoke.system_calls import Call

NAMES = ("write", "openat", "sendto", "wait4")
PARTS = st.integers(1, 20)


def listing(names: list[str]) -> list[Call]:
    """As strace counts them."""
    numbers: Counter[str] = Counter()
    found = []
    for name in names:
        numbers[name] += 1
        found.append(Call(name, numbers[name], f"{name}(1</run/x.journal>)", waits=name == "wait4"))
    return found


LISTINGS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=60).map(listing)


def points(calls: list[Call], part: Part, most: int = sys.maxsize) -> list[Point]:
    return Choice(most, 0, part).points("deploy under direct", calls)


def all_parts(parts: int) -> list[Part]:
    return [Part(number, parts) for number in range(1, parts + 1)]


@given(calls=LISTINGS, parts=PARTS, most=st.integers(1, 400))
def test_all_parts_of_a_listing_are_all_of_its_points_each_once(
    calls: list[Call], parts: int, most: int
) -> None:
    tried = Counter(one for part in all_parts(parts) for one in points(calls, part, most))
    assert tried == Counter(points(calls, Part(), most))
    assert set(tried.values()) == {1}


@given(calls=LISTINGS, more=LISTINGS, parts=PARTS)
def test_a_run_that_makes_other_calls_moves_no_point_to_another_part(
    calls: list[Call], more: list[Call], parts: int
) -> None:
    longer = listing([one.name for one in (*more, *calls)])
    of = {one.name: part for part in all_parts(parts) for one in points(calls, part)}
    of_longer = {one.name: part for part in all_parts(parts) for one in points(longer, part)}
    assert of.items() <= of_longer.items()


def test_parts_are_about_as_large_as_each_other() -> None:
    calls = listing(["write", "openat", "sendto"] * 200)
    whole = len(points(calls, Part()))
    sizes = [len(points(calls, part)) for part in all_parts(12)]
    assert sum(sizes) == whole == 200 * (9 + 8 + 8)
    assert max(sizes) < 1.25 * whole / 12
    assert min(sizes) > 0.75 * whole / 12


@given(count=st.integers(0, 10**6), parts=PARTS)
def test_shares_of_what_has_no_names_add_up(count: int, parts: int) -> None:
    shares = [part.share(count) for part in all_parts(parts)]
    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(("text", "part"), [("3/12", Part(3, 12)), ("12/12", Part(12, 12)), ("", Part())])
def test_the_environment_names_the_part(text: str, part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert Part.asked() == part


@pytest.mark.parametrize("text", ["0/12", "13/12", "3", "3/0", "a/b", "3/12/4", "-1/2"])
def test_what_is_no_part_is_refused_with_what_was_expected(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ValueError, match=f"{VARIABLE}={text}: expected PART/PARTS, as 3/12"):
        Part.asked()
