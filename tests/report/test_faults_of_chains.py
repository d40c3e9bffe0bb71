# SPDX-License-Identifier: Apache-2.0
"""What a function does to packets is said of the function, whoever had the cores meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from weir.report import chain_faults, doubts, noise, summary
from weir.results.result import Result, Trial

from .disturbed import disturbed
from .synthetic import result


def each_trial(made: Result, change: Callable[[Trial], None]) -> Result:
    for trial in summary.trials(made):
        change(trial)
    return made


def twice(trial: Trial) -> None:
    trial.duplicates = 7


def changed(trial: Trial) -> None:
    trial.doubted = ["frames_changed"]


def held(trial: Trial) -> None:
    trial.doubted = ["held"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (twice, "Packets arrived more than once"),
        (changed, "Frames arrived changed"),
        (held, "Packets of an earlier trial came, or still came long after the end,"),
    ],
)
@pytest.mark.parametrize("made", [result, disturbed])
def test_what_happens_in_every_trial_comes_before_who_had_the_cores(
    change: Callable[[Trial], None], words: str, made: Callable[[], Result]
) -> None:
    said = noise.headline(each_trial(made(), change))
    assert said is not None
    assert said.startswith(f"{words} in ")
    assert "which no disturbance of the machine does: look for the cause in the chain" in said
    assert ("% of the time was taken by others" in said) == noise.mostly_disturbed(made())


def test_what_happened_in_some_trials_is_not_in_the_first_sentence() -> None:
    made = result()
    next(iter(summary.trials(made))).duplicates = 7
    assert chain_faults.fault(made) is None


def test_what_happens_under_one_technology_alone_is_said_of_it() -> None:
    made = result()
    first = made.setups[0]
    ran = [trial for case in first.cases for trial in summary.measured(case)]
    for one in ran:
        one.duplicates = 7
    assert chain_faults.fault(made) == (
        f"packets arrived more than once in {len(ran)} of {len(ran)} trials of {first.title} that delivered "
        "any"
    )


def test_one_trial_with_packets_of_an_earlier_one_is_no_fault_of_the_chain() -> None:
    made = result()
    made.setups = made.setups[:1]
    made.setups[0].cases = made.setups[0].cases[:1]
    case = made.setups[0].cases[0]
    case.trials, case.curve = case.trials[:1], []
    held(case.trials[0])
    assert chain_faults.fault(made) is None


def test_frames_that_changed_in_some_trials_are_of_the_chain_since_a_sample_does_not_show_all() -> None:
    made = disturbed()
    ran = list(summary.trials(made))
    for one in ran[: len(ran) // 2]:
        one.doubted = ["frames_changed"]
    said = str(noise.headline(made))
    assert said.startswith(f"Frames arrived changed in {len(ran) // 2} of ")


def test_packets_out_of_order_are_told_where_no_trial_is_valid() -> None:
    def overtaken(trial: Trial) -> None:
        trial.reordered, trial.valid = trial.delivered // 20, False

    made = each_trial(result(), overtaken)
    sentence = next(one for one in doubts.sentences(made) if "behind one that was sent later" in one)
    assert "5 % of the packets arrived behind one" in sentence
    assert sentence.endswith("in all trials, of which none is valid, together")


def test_packets_out_of_order_are_told_with_their_share() -> None:
    def overtaken(trial: Trial) -> None:
        trial.reordered = trial.delivered // 100

    made = each_trial(result(), overtaken)
    sentence = next(one for one in doubts.sentences(made) if "behind one that was sent later" in one)
    assert sentence.startswith("direct PVP, frame 64: 1 % of the packets arrived behind one")
    assert any(one.startswith("Out of order, share of the packets: ") for one in doubts.grouped(made, "NDR"))
    assert not any("behind one" in one for one in doubts.sentences(result()))
