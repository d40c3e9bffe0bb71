# SPDX-License-Identifier: Apache-2.0
"""What reports say beyond the stored numbers."""

from __future__ import annotations

import pytest

from weir.report import summary
from weir.store.result import CorePace, Drop, Stall

from .synthetic import result


@pytest.mark.parametrize(
    ("lost", "stalled_us", "explained"),
    [(400, 50.0, True), (500, 50.0, True), (501, 50.0, False), (0, 50.0, False), (500, 2100.0, False)],
)
def test_short_stalls_explain_a_loss_that_is_no_larger_than_what_arrived_meanwhile(
    lost: int, stalled_us: float, explained: bool
) -> None:
    trial = (
        result()
        .setups[0]
        .cases[0]
        .curve[0]
        .model_copy(
            update={
                "intended_load_pps": 1e7,
                "duration_s": 0.1,
                "offered": 1_000_000,
                "delivered": 1_000_000 - lost,
                "valid": True,
                "stalls": [Stall(core=0, count=1, total_us=stalled_us, longest_us=stalled_us)],
            }
        )
    )
    assert summary.explained_by_stalls(trial) is explained
    assert explainable(trial) is explained, "the search and the report judge differently"


def test_a_fidelity_sentence_is_said_once_and_names_setups_only_if_it_is_not_for_all() -> None:
    said = dict(summary.fidelity(result()))
    assert said["Virtual links: no physical network card took part."] == []
    assert said["The tester drives both ends of each wire."] == ["direct PVP", "direct PVVP"]


def test_a_refused_technology_is_named_once_though_it_has_two_chains() -> None:
    assert [name for name, _ in summary.refusals(result())] == ["sr-iov"]


def test_drops_are_summed_over_valid_trials_without_the_warm_up() -> None:
    case = result().setups[0].cases[0]
    trial = case.curve[0].model_copy(
        update={"valid": True, "drops": [Drop(place="p", reason="r", packets=3)]}
    )
    case.curve = [trial, trial]
    case.trials = [
        trial.model_copy(update={"purpose": "calibration"}),
        trial.model_copy(update={"valid": False}),
    ]
    assert summary.drops_by_place(case) == [Drop(place="p", reason="r", packets=6)]


def test_there_is_no_ratio_without_a_baseline_result() -> None:
    made = result()
    for setup in made.setups:
        if setup.technology == "linux-bridge":
            setup.cases = []
    assert all(row.ratio is None for row in summary.rows(made))


@pytest.mark.parametrize(
    ("frame", "label"), [("64", "64"), ("imix:aaaaaaaddddg", "IMIX a7d4g"), ("imix:abab", "IMIX abab")]
)
def test_a_genome_is_written_with_its_runs_counted(frame: str, label: str) -> None:
    assert summary.frame_label(frame) == label


def test_a_lab_without_a_title_is_called_by_its_name() -> None:
    assert summary.title(result(title=" ")) == "switching"


def test_cores_that_a_neighbour_slowed_in_many_trials_are_told() -> None:
    found = result()
    case = found.setups[0].cases[0]
    slow, fast = (CorePace(core=1, pieces=1000, cycles=1000 * cycles) for cycles in (900, 600))
    for number, trial in enumerate(case.curve):
        trial.paces = [slow if number else fast]
    found.setups = [found.setups[0].model_copy(update={"cases": [case.model_copy(update={"trials": []})]})]
    said = " ".join(summary.noise(found))
    assert (
        f"In {len(case.curve) - 1} of {len(case.curve)} trials a core took 1.2 times or more as long" in said
    )
    assert "(1.50 in the median)" in said
    case.curve[0].paces = [slow]
    assert "as long for the same work" not in " ".join(summary.noise(found))
