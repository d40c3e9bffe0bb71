# SPDX-License-Identifier: Apache-2.0
"""What a page carries of a result: all that its scripts draw, and little more, however noisy the run was."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from weir import report
from weir.base.si import US_PER_S
from weir.report import noise, summary
from weir.report.page import PIECES, drawn
from weir.results import slices
from weir.results.result import LeftOut, Result, Trial

from .disturbed import disturbed

TRIALS, ABSENCES, PROGRAMS = 600, 80, 40


def away(number: int, duration_s: float, count: int) -> list[LeftOut]:
    """Absences of a trial: of two cores, one behind the other on each, by threads of many programs."""
    dice = random.Random(number)
    found = []
    for core in (0, 1):
        moments = sorted(dice.uniform(-100, duration_s * US_PER_S + 100) for _ in range(2 * count))
        for from_us, to_us in list(pairwise(moments))[::2]:
            by = f"program{dice.randrange(PROGRAMS)} ({dice.randrange(30_000)})"
            found.append(LeftOut(core=core, from_us=round(from_us, 1), to_us=round(to_us, 1), by=by))
    return sorted(found, key=lambda one: one.from_us)


def noisy(trials: int, absences: int) -> Result:
    """A run whose trials had that many absences of each core."""
    made = disturbed()
    for setup in made.setups:
        case = setup.cases[0]
        case.trials = [
            (one := case.trials[number % len(case.trials)]).model_copy(
                update={"left_out": away(number, one.duration_s, absences)}
            )
            for number in range(trials // len(made.setups))
        ]
    return made


def shown_trials(document: dict[str, Any]) -> list[dict[str, Any]]:
    cases = [case for setup in document["setups"] for case in setup["cases"]]
    return [
        trial
        for case in cases
        for trials in (case["trials"], case["curve"], *(point["trials"] for point in case["delays"]))
        for trial in trials
    ]


@pytest.mark.long
def test_a_page_of_a_noisy_run_is_small() -> None:
    made = noisy(TRIALS, ABSENCES)
    assert len(made.model_dump_json()) > 7_000_000
    assert len(report.render(made, "html").encode()) < 1_000_000


def test_how_long_who_had_which_core_is_kept_of_every_trial() -> None:
    made = noisy(80, 20)
    shown = shown_trials(json.loads(drawn(made)))
    for trial, one in zip(summary.trials(made), shown, strict=True):
        sums: Counter[tuple[int, str]] = Counter()
        for part in one["away"]:
            sums[part["core"], part["by"]] += part["us"]
        assert sums == pytest.approx(noise.taken_us([trial]), abs=2)
        assert one["valid"] == trial.valid
        assert one["offered"] == trial.offered


def test_when_a_core_was_away_is_kept_as_far_as_a_plot_of_all_trials_shows_it() -> None:
    made = noisy(80, 20)
    whole_us = sum(trial.duration_s for trial in summary.trials(made)) * US_PER_S
    for trial, one in zip(summary.trials(made), shown_trials(json.loads(drawn(made))), strict=True):
        for part in one["away"]:
            assert 0 <= part["from_us"] < part["to_us"] <= round(trial.duration_s * US_PER_S)
            assert part["to_us"] - part["from_us"] <= whole_us / PIECES + 1
            assert 0 <= part["us"] <= part["to_us"] - part["from_us"] + 1
            assert any(_meets(part, absence) for absence in trial.left_out)


def ahead_of_the_search(duration_s: float) -> Result:
    """Nothing came through: a warm-up and a look at what comes, whose core others had half of the time."""
    made = disturbed()
    made.setups = made.setups[:1]
    case = made.setups[0].cases[0]
    half = [LeftOut(core=0, from_us=0.0, to_us=duration_s * US_PER_S / 2, by="python (4711)")]
    ahead = {"duration_s": duration_s, "left_out": half}
    case.trials = [
        case.trials[0].model_copy(update={**ahead, "purpose": purpose})
        for purpose in ("calibration", "preflight")
    ]
    case.curve, case.throughput, case.problem = [], [], "Nothing of a light load comes through."
    return made


@pytest.mark.parametrize("duration_s", [0.05, 20.0])
def test_a_run_in_which_nothing_comes_through_has_no_more_pieces_than_a_plot_shows(duration_s: float) -> None:
    trials = shown_trials(json.loads(drawn(ahead_of_the_search(duration_s))))
    assert [sum(part["us"] for part in one["away"]) for one in trials] == [duration_s * US_PER_S / 2] * 2
    assert sum(len(one["away"]) for one in trials) <= PIECES


def _meets(part: dict[str, Any], absence: LeftOut) -> bool:
    same: bool = absence.core == part["core"] and slices.program(absence.by) == part["by"]
    begun, ended = absence.from_us < part["to_us"] + 1, absence.to_us > part["from_us"] - 1
    return same and bool(begun and ended)


def test_of_a_curve_latencies_are_carried_and_of_other_trials_histograms_alone() -> None:
    made = disturbed()
    trial: Trial = made.setups[0].cases[0].trials[0]
    stream = trial.streams[0].model_copy(update={"histogram": [(1.0, 2.0, 30)]})
    made.setups[0].cases[0].trials = [trial.model_copy(update={"streams": [stream, trial.streams[0]]})]
    made.setups[0].cases[0].curve = [trial.model_copy(update={"purpose": "curve"})]
    case = json.loads(drawn(made))["setups"][0]["cases"][0]
    assert case["trials"][0]["streams"] == [{"direction": stream.direction, "histogram": [[1.0, 2.0, 30]]}]
    assert {"direction", "latency", "histogram"} == set(case["curve"][0]["streams"][0])
