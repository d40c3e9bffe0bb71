# SPDX-License-Identifier: Apache-2.0
"""Each step against the one before it and against the first: rates, and cycles a packet, round by round."""

from __future__ import annotations

from tests.report.stepped import NO_OFFLOAD, OTHERS, STEPS, area, stepped
from weir.procedures.steps.section_gains import Ladder, Step, ladders
from weir.report.cycles import Cost, fewer
from weir.report.rates import NoRatio, Ratio
from weir.results.result import Result


def only(made: Result) -> Ladder:
    (ladder,) = ladders(made)
    return ladder


def step(made: Result, name: str) -> Step:
    return next(one for one in only(made).steps if one.name == name)


def test_steps_are_those_of_the_lab_in_its_order() -> None:
    ladder = only(stepped())
    assert [one.name for one in ladder.steps] == list(STEPS)
    assert (ladder.title, ladder.goal) == ("ran-upf, 128 B", "NDR")


def test_a_lab_without_steps_has_none() -> None:
    made = stepped()
    made.spec.pop("steps")
    assert ladders(made) == []


def test_a_rate_is_a_multiple_of_the_step_before_it_and_of_the_first_by_pairs_of_rounds() -> None:
    made = stepped()
    assert step(made, "plain").to_before.rate is None
    assert step(made, "index").to_before.rate == Ratio(2.0, 2.0, 3.0)
    fast = step(made, "fast-path")
    assert fast.to_before.rate == Ratio(4 / 2.2, 4 / 2.7, 2.0)
    assert fast.to_first.rate == Ratio(4.0, 4 / 1.1, 4 / 0.9)


def test_cycles_in_functions_are_of_stages_and_fast_path_in_the_trials_that_confirm_the_rate() -> None:
    found = step(stepped(), "index").functions
    assert found == Cost({0: 200, 1: 250, 2: 100}, 3)
    assert found.cycles == 200


def test_cycles_of_the_way_have_those_of_ports_and_of_the_kernel_once_and_none_of_the_testers() -> None:
    found = step(stepped(), "index").way
    assert found == Cost({0: 200 + OTHERS, 1: 250 + OTHERS, 2: 100 + OTHERS}, 3)


def test_fewer_cycles_are_told_by_rounds_too() -> None:
    made = stepped()
    assert step(made, "index").to_before.functions == Ratio(2.0, 2.0, 4.0)
    assert step(made, "fast-path").to_first.functions == Ratio(4.0, 4.0, 5.0)
    assert step(made, "index").to_before.way == Ratio(550 / 300, 450 / 250, 450 / 150)


def test_without_a_round_that_both_have_medians_compare_without_an_interval() -> None:
    assert fewer(Cost({0: 300, 1: 100, 2: 200}, 3), Cost({7: 100}, 1)) == Ratio(2.0, 2.0, 2.0)


def test_nothing_is_divided_by_no_cycles_at_all() -> None:
    assert fewer(Cost({0: 300}, 1), Cost({0: 0}, 1)) is None
    assert fewer(None, Cost({0: 1}, 1)) is None


def test_invalid_trials_do_not_count() -> None:
    made = stepped()
    for trial in made.setups[1].cases[0].trials[:2]:
        trial.valid = False
    assert step(made, "index").functions == Cost({1: 250, 2: 100}, 2)


def test_a_case_of_one_round_has_that_rounds_trials() -> None:
    made = stepped()
    case = made.setups[0].cases[0]
    case.rounds, case.trials = [], case.trials[:2]
    assert step(made, "plain").functions == Cost({0: 400}, 1)
    assert step(made, "index").to_before.functions == Ratio(2.0, 2.0, 2.0)


def test_a_step_that_the_machine_cannot_run_says_why() -> None:
    refused = step(stepped(), "offload")
    assert refused.why == f"left out: {NO_OFFLOAD}"
    assert (refused.to_before.rate, refused.functions) == (None, None)


def test_behind_a_step_without_a_rate_the_last_one_that_has_one_is_the_one_before() -> None:
    made = stepped()
    index = made.setups[1].cases[0]
    index.throughput = [
        index.throughput[0].model_copy(
            update={"status": "irregular", "load_pps": None, "rounds": [], "why": "Nothing came."}
        )
    ]
    assert step(made, "index").why == "Nothing came."
    assert step(made, "index").to_before.rate is NoRatio.NO_RATE
    fast = step(made, "fast-path")
    assert fast.before is not None
    assert fast.before.name == "plain"
    assert fast.to_before.rate == Ratio(4.0, 4 / 1.1, 4 / 0.9)


def test_of_several_technologies_each_has_steps_of_its_own() -> None:
    made = stepped()
    for setup in made.setups:
        setup.variant = f"{setup.variant} linux-bridge"
    other = [one.model_copy(update={"technology": "ovs"}) for one in made.setups]
    for setup in other:
        setup.variant = (setup.variant or "").replace("linux-bridge", "ovs")
    made.setups += other
    assert [one.title for one in ladders(made)] == ["ran-upf, linux-bridge, 128 B", "ran-upf, ovs, 128 B"]


def test_functions_outside_weir_dp_have_cycles_of_the_way_alone() -> None:
    made = stepped()
    for trial in made.setups[1].cases[0].trials:
        trial.areas = [area("guest", "guest", 3000)]
    found = step(made, "index")
    assert found.functions is None
    assert found.way == Cost({0: 3, 1: 3, 2: 3}, 3, at_most=True)
    assert found.to_before.way is None, "a bound compares with nothing"
