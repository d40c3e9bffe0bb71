# SPDX-License-Identifier: Apache-2.0
"""`quick`: laid over the lab on demand, checked always."""

from __future__ import annotations

import pytest

from .lab_text import GOOD, load, problem, problems

QUICK = (
    GOOD
    + """\
traffic: {frames: [64, 512, 1518], flows: {count: 10}}
measure: {repeats: 5, trial: {drain_ms: 50}}
quick:
  traffic: {frames: [64]}
  measure: {repeats: 1}
"""
)


def test_without_quick_the_overlay_changes_nothing() -> None:
    lab = load(QUICK)
    assert lab.traffic.frames == ("64", "512", "1518")
    assert lab.measure.repeats == 5


def test_with_quick_mappings_merge_and_lists_are_replaced() -> None:
    lab = load(QUICK, quick=True)
    assert lab.traffic.frames == ("64",)
    assert lab.measure.repeats == 1
    assert lab.traffic.flows.count == 10
    assert lab.measure.trial.drain_ms == 50


def test_an_error_in_the_overlay_is_reported_at_its_own_line_even_without_quick() -> None:
    found = problem(QUICK.replace("frames: [64]}", "frames: [64, 20]}"))
    assert (found.line, found.key) == (8, "quick.traffic.frames[1]")


def test_an_error_that_both_variants_share_is_reported_once() -> None:
    found = problem(QUICK.replace("count: 10", "count: 0"))
    assert (found.line, found.key) == (5, "traffic.flows.count")


def test_what_only_the_merge_makes_impossible_is_found() -> None:
    found = problem(QUICK.replace("frames: [64]}", "ip: 6}"))
    assert found.key == "traffic.frames[0]"
    assert "IPv6" in found.message


@pytest.mark.parametrize("key", ["weir: 1", "name: other", "quick: {}"])
def test_some_keys_cannot_differ_with_quick(key: str) -> None:
    assert "cannot differ" in problem(GOOD + f"quick: {{{key}}}\n").message


@pytest.mark.parametrize("overlay", ["3", "[a]", "fast"])
def test_an_overlay_that_is_no_mapping_is_refused(overlay: str) -> None:
    assert problem(GOOD + f"quick: {overlay}\n").key == "quick"


def test_an_empty_overlay_is_fine() -> None:
    assert not problems(GOOD + "quick:\n")
