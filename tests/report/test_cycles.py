# SPDX-License-Identifier: Apache-2.0
"""Cycles of a packet in threads of programs outside weir-dp: which of them are a bound, since they poll."""

from __future__ import annotations

import pytest

from weir.report import cycles
from weir.report.cycles import Cost, Of, in_functions, in_threads, on_the_way, said
from weir.results.loads import PathLoad, StageLoad
from weir.results.result import AreaLoad, Case, Trial

from .stepped import area, stepped

FULL_PPS, HALF_PPS = 1e6, 0.5e6
"""The load of the trials that confirm, and half of it."""


def cost(case: Case, of: Of) -> Cost | None:
    return cycles.cost(case, of, "NDR")


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


def test_cycles_are_of_the_goal_s_own_trials() -> None:
    case = program(loaded={"main": 9000}, light={"main": 900})
    pdr = case.throughput[0].model_copy(update={"goal": "PDR", "lower_bound_pps": 3e6})
    first = case.rounds[0]
    cheaper = case.trials[1].model_copy(update={"intended_load_pps": 3e6, "areas": areas({"main": 5000})})
    case.trials.insert(2, cheaper)
    case.rounds[0] = first.model_copy(update={"throughput": [*first.throughput, pdr], "trials": 3})
    assert said(cost(case, in_threads)) == "9"
    assert cycles.cost(case, in_threads, "PDR") == Cost({0: 5.0}, 1)
    irregular = case.throughput[0].model_copy(update={"load_pps": None, "lower_bound_pps": None})
    case.rounds = [one.model_copy(update={"throughput": [irregular]}) for one in case.rounds]
    assert cost(case, in_threads) is None


def test_stages_of_the_kernel_which_stacks_tell_are_no_functions() -> None:
    case = program(loaded={}, light={})
    stage = StageLoad(nf="bridge", packets_in=1000, cycles=4_000_000, dropped=0)
    path = PathLoad(
        name="kernel", inputs=[], outputs=[], packets_in=1000, packets_out=1000, dropped=0, stages=[stage]
    )
    for trial in case.trials:
        trial.areas = [area("softirq.1", "softirq", 4_000_000, paths=[path])]
    assert cost(case, in_functions) is None
    assert said(cost(case, on_the_way)) == "4,000"


def test_a_thread_that_polls_on_another_core_each_round_polls() -> None:
    case = program(loaded={"main": 9000}, light={"main": 8900})
    moved = [one for one in case.trials if one.purpose == "confirm"][1]
    moved.areas = [one.model_copy(update={"core": 5}) for one in moved.areas]
    case.curve[0].areas = [one.model_copy(update={"core": 4}) for one in case.curve[0].areas]
    assert said(cost(case, in_threads)) == "≤9"


def test_what_ran_in_one_trial_by_chance_is_not_the_functions() -> None:
    case = program(loaded={}, light={})
    by_chance = next(one for one in case.trials if one.purpose == "confirm")
    again = by_chance.model_copy(deep=True)
    by_chance.areas = areas({"log": 2000})
    case.trials.insert(2, again)
    case.rounds[0] = case.rounds[0].model_copy(update={"trials": 3})
    assert cost(case, in_threads) is None
    way = cost(case, on_the_way)
    assert way is not None
    assert not way.at_most
