# SPDX-License-Identifier: Apache-2.0
"""Cycles of a packet in threads of programs outside weir-dp: which of them are a bound, since they poll."""

from __future__ import annotations

import pytest

from weir.report.cycles import cost, in_functions, in_threads, on_the_way, said
from weir.results.result import AreaLoad, Case, Trial

from .stepped import area, stepped

HALF_PPS = 0.5e6
"""Of the load of the trials that confirm."""


def program(*, loaded: dict[str, int], light: dict[str, int], light_pps: float = HALF_PPS) -> Case:
    """Threads with their cycles in a trial of 1,000 packets and 1 ms, at full load and at a light one."""
    case = stepped().setups[0].cases[0]
    for trial in case.trials:
        trial.areas = areas(loaded)
    lightest = case.trials[0].model_copy(
        update={"purpose": "curve", "intended_load_pps": light_pps, "areas": areas(light)}
    )
    case.curve = [lightest]
    return case


def areas(threads: dict[str, int]) -> list[AreaLoad]:
    of_program = [area(f"program:f1.{name}", "guest", cycles) for name, cycles in threads.items()]
    return [*of_program, area("softirq.1", "softirq", 4000), area("generator", "generator", 9000)]


def test_threads_of_programs_and_areas_of_weir_dp_are_the_functions_threads() -> None:
    case = program(loaded={"w1": 3000, "w2": 2000}, light={"w1": 300, "w2": 200})
    assert said(cost(case, in_threads)) == "5"
    assert said(cost(case, on_the_way)) == "9"
    ours = stepped().setups[0].cases[0]
    assert (said(cost(ours, in_threads)), said(cost(ours, on_the_way))) == ("420", "450")


def test_what_runs_as_long_at_half_the_load_polls_and_has_a_bound() -> None:
    case = program(loaded={"main": 9000}, light={"main": 8900})
    assert (said(cost(case, in_threads)), said(cost(case, on_the_way))) == ("≤9", "≤13")
    assert cost(case, in_functions) is None


def test_a_thread_that_hardly_runs_makes_no_bound_of_the_others() -> None:
    case = program(loaded={"worker": 9000, "log": 10}, light={"worker": 900, "log": 10})
    assert said(cost(case, in_threads)) == "9"


@pytest.mark.parametrize("change", ["heavy", "invalid", "none"])
def test_without_a_light_trial_nobody_can_tell(change: str) -> None:
    light_pps = 0.9e6 if change == "heavy" else HALF_PPS
    case = program(loaded={"main": 9000}, light={"main": 900}, light_pps=light_pps)
    if change == "invalid":
        case.curve[0].valid = False
    if change == "none":
        case.curve = []
    assert said(cost(case, in_threads)) == "≤9"


def test_linux_has_no_threads() -> None:
    case = program(loaded={}, light={})
    assert cost(case, in_threads) is None
    assert said(cost(case, on_the_way)) == "4"


def test_of_trials_that_do_not_confirm_nothing_is_told() -> None:
    case = program(loaded={"main": 9000}, light={"main": 900})
    searching: list[Trial] = [one for one in case.trials if one.purpose != "confirm"]
    case.trials, case.rounds = searching, []
    assert cost(case, on_the_way) is None
