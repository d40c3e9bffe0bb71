# SPDX-License-Identifier: Apache-2.0
"""What a run says of how far it is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from weir.cli.progress import Progress, rough, span
from weir.measure.one_case import Event, PhaseStarted, TrialFinished
from weir.results.result import Case, Throughput, Trial
from weir.results.rounds import INTERRUPTED
from weir.results.slices import Counted


class Watched:
    """A progress with a clock of its own, and what it said."""

    def __init__(self, *, terminal: bool = False) -> None:
        self.now_s = 100.0
        self._out = io.StringIO()
        console = Console(file=self._out, width=200, force_terminal=terminal, color_system=None)
        self.progress = Progress(console, lambda: self.now_s)
        self.progress.planned(32)

    def finish(self, frame: str = "64", took_s: float = 10.0) -> str:
        """A case is finished: the line that it got."""
        self.now_s += took_s
        before = len(self._out.getvalue())
        rate = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=2e6, repeats=1)
        self.progress.case(Case(frame=frame, mean_frame_bytes=64, throughput=[rate], seconds=took_s))
        return " ".join(self._out.getvalue()[before:].split())

    def said(self) -> str:
        """All lines."""
        return self._out.getvalue().strip()

    def showing(self, *events: Event) -> str:
        """The moving line after these."""
        for event in events:
            self.progress.event(event)
        assert self.progress._status is not None
        return str(self.progress._status.status)


def trial_finished() -> TrialFinished:
    trial = Trial(
        purpose="search",
        intended_load_pps=1,
        intended_duration_s=1,
        duration_s=1,
        intended=1,
        offered=1,
        delivered=1,
        loss_ratio=0,
        valid=True,
    )
    return TrialFinished("64", 64.0, trial)


def test_a_finished_case_says_its_round_its_number_and_about_how_long_the_rest_takes() -> None:
    one = Watched()
    one.progress.setup("direct PVP, round 2")
    assert one.finish() == "[1/32, ~5 min left] direct PVP, round 2, 64: NDR 2.000 Mpps"


def test_a_case_that_was_interrupted_says_nothing_of_how_long_the_rest_takes() -> None:
    one = Watched()
    one.progress.setup("direct PVP")
    one.progress.case(Case(frame="64", mean_frame_bytes=64, problem=INTERRUPTED))
    assert one.said() == "direct PVP, 64: Interrupted before it was finished."


def test_a_case_without_any_rate_says_why() -> None:
    one = Watched()
    one.progress.setup("direct PVP")
    irregular = Throughput(
        goal="NDR", goal_loss_ratio=0, status="irregular", repeats=1, why="Others had the cores."
    )
    one.progress.case(Case(frame="64", mean_frame_bytes=64, throughput=[irregular]))
    assert one.said().endswith("direct PVP, 64: NDR irregular (Others had the cores)")


def without_a_rate(watched: Watched, counted_s: float) -> str:
    """A case of a trial of a second of which so much counts: what was said at its end."""
    why = (
        "The time limit came before any load was found that it carries. 90% of the trials' time was left out."
    )
    irregular = Throughput(goal="NDR", goal_loss_ratio=0, status="irregular", repeats=1, why=why)
    trial = trial_finished().trial
    trial.counted = Counted(seconds=counted_s, offered=1, lost=0)
    before = len(watched.said())
    case = Case(frame="64", mean_frame_bytes=64, throughput=[irregular], trials=[trial], seconds=1)
    watched.progress.case(case)
    return watched.said()[before:].strip()


def test_where_others_had_the_cores_that_is_all_that_is_said_of_a_case() -> None:
    said = without_a_rate(Watched(), counted_s=0.1)
    assert said.endswith("64: NDR irregular (others had the cores for 90% of the time)")
    assert "The time limit came before any load" in without_a_rate(Watched(), counted_s=0.9)


def test_after_three_such_cases_in_a_row_it_is_said_once_that_the_run_may_be_ended() -> None:
    watched = Watched()
    hint = "3 cases in a row have no rate, since others had the cores: Ctrl-C ends the run"
    without_a_rate(watched, counted_s=0.1)
    watched.finish()
    for counted_s in (0.1, 0.1):
        without_a_rate(watched, counted_s)
    assert hint not in watched.said()
    for _ in range(3):
        without_a_rate(watched, counted_s=0.1)
    assert watched.said().count(hint) == 1


def test_what_is_measured_again_in_the_end_is_counted_by_itself_within_its_time() -> None:
    one = Watched()
    one.progress.skipped(31)
    assert one.finish().startswith("[1/1] ")
    one.progress.planned(4, budget_s=25.0)
    assert one.finish(took_s=10.0).startswith("[1/4, time is up in ~20 s] ")


def test_in_a_file_a_line_stays_a_line() -> None:
    one = Watched()
    one.progress.say("word " * 100)
    assert one.said().count("\n") == 0


def test_the_estimate_is_by_what_the_finished_cases_took_with_all_that_was_built_between_them() -> None:
    one = Watched()
    one.finish(took_s=60.0)
    assert one.finish(took_s=60.0).startswith("[2/32, ~30 min left] ")


def test_what_is_left_goes_down_while_a_case_is_under_way_and_never_to_nothing() -> None:
    one = Watched(terminal=True)
    one.progress.skipped(29)
    one.finish(took_s=120.0)
    assert one.showing(trial_finished()).endswith("2/3, ~4 min left)")
    one.now_s += 60.0
    assert one.showing(trial_finished()).endswith("2/3, ~3 min left)")
    one.now_s += 600.0
    assert one.showing(trial_finished()).endswith("2/3, ~2 min left)")


def test_cases_that_are_not_measured_are_not_waited_for() -> None:
    one = Watched()
    one.progress.skipped(29)
    one.finish()
    assert one.finish().startswith("[2/3, ~10 s left] ")
    assert one.finish().startswith("[3/3] ")


def test_what_is_measured_again_in_the_end_has_no_number() -> None:
    one = Watched()
    one.progress.skipped(31)
    one.finish()
    assert not one.finish().startswith("[")


def test_the_count_of_trials_moves_during_a_search_and_nothing_is_estimated_before_the_first_case() -> None:
    one = Watched(terminal=True)
    one.progress.setup("direct PVP")
    said = one.showing(PhaseStarted("64", "search"), trial_finished(), trial_finished())
    assert said == "direct PVP, 64: search 1 of 1 (2 trials; 1/32)"
    one.finish()
    assert one.showing(trial_finished()).endswith("(3 trials; 2/32, ~5 min left)")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (3, "5 s"),
        (9, "10 s"),
        (44, "40 s"),
        (58, "1 min"),
        (290, "5 min"),
        (7800, "2 h 10 min"),
        (7170, "2 h 0 min"),
    ],
)
def test_an_estimate_has_no_digit_that_it_has_not(seconds: float, said: str) -> None:
    assert rough(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ((180, 420), "3 to 7 min"),
        ((40, 120), "40 s to 2 min"),
        ((61, 62), "about 1 min"),
        ((3000, 9000), "50 min to 2 h 30 min"),
    ],
)
def test_a_range_of_times_is_said_in_the_words_of_its_ends(seconds: tuple[float, float], said: str) -> None:
    assert span(*seconds) == said


def test_in_a_log_a_case_that_takes_long_says_each_minute_where_it_is_and_what_of_it_is_of_no_use() -> None:
    watched = Watched()
    watched.progress.setup("PVP direct")
    watched.progress.event(PhaseStarted("64", "latency", 1, 2))
    finished = trial_finished()
    invalid = TrialFinished("64", 64.0, finished.trial.model_copy(update={"valid": False}))
    for event in (finished, invalid, invalid):
        watched.now_s += 19.9
        watched.progress.event(event)
    assert not watched.said()
    watched.now_s += 0.5
    watched.progress.event(finished)
    assert watched.said() == "[1/32] PVP direct, still at 64: latency 1 of 2 (4 trials, 2 of them invalid)"
    watched.now_s += 59
    watched.progress.event(finished)
    assert watched.said().count("still at") == 1
    watched.now_s += 1
    watched.progress.event(finished)
    assert watched.said().count("still at") == 2
    watched.finish()


def test_a_mix_under_way_is_named_as_in_what_follows() -> None:
    watched = Watched()
    watched.progress.setup("PVP direct")
    watched.now_s += 59.9
    watched.progress.event(PhaseStarted("imix:aaaaaaaAAAAg:A=570", "latency", 1, 2))
    watched.now_s += 0.2
    watched.progress.event(trial_finished())
    assert ", still at IMIX: latency 1 of 2" in watched.said()
    watched.finish()
    watched.progress.setup("PVP direct")
    watched.now_s += 61
    watched.progress.event(PhaseStarted("1518", "warm-up"))
    assert watched.said().endswith("still at 1518: warm-up 1 of 1 (0 trials)")


def test_on_a_terminal_the_moving_line_says_it() -> None:
    watched = Watched(terminal=True)
    watched.progress.event(PhaseStarted("64", "latency", 1, 2))
    watched.now_s += 600
    watched.progress.event(trial_finished())
    assert "still at" not in watched.said()
