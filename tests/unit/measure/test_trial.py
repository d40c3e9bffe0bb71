# SPDX-License-Identifier: Apache-2.0
"""One trial, and when it must not be used."""

from __future__ import annotations

import pytest

from tests.simulated.device import Response, StallKind
from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from weir.lab.measure import TrialOptions
from weir.measure.counting import Watched
from weir.measure.tester import Unwatched, no_counters
from weir.measure.trial import PortGoneError, TrialRunner
from weir.protocol.traffic_results import TrafficResult
from weir.results.result import Trial

from .rig import CAPACITY_PPS, STEADY, Port, Rig


def test_a_trial_below_capacity_is_valid_and_delivers_everything() -> None:
    trial = Rig(SimulatedDut(STEADY)).runner().run("search", 1e6, 0.5).trial
    assert trial.valid
    assert (trial.intended, trial.offered, trial.delivered, trial.loss_ratio) == (
        500_000,
        500_000,
        500_000,
        0,
    )
    assert [stream.direction for stream in trial.streams] == ["left-to-right", "right-to-left"]
    assert trial.streams[0].latency is not None


def test_a_trial_above_capacity_says_where_the_packets_were_lost() -> None:
    trial = Rig(SimulatedDut(STEADY)).runner().run("search", 2 * CAPACITY_PPS, 0.5).trial
    assert trial.valid
    assert trial.unaccounted == 0
    assert [(drop.place, drop.reason) for drop in trial.drops] == [("dut/p", "tx_queue_full")]
    assert trial.drops[0].packets == trial.offered - trial.delivered > 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Misbehaviour(unaccounted=3), "3 of 500000 packets were neither delivered nor counted lost"),
        (Misbehaviour(duplicates=2), "2 packets arrived more than once"),
        (Misbehaviour(stretch_s=0.02), "Sending took 0.5200 s instead of 0.5000 s"),
        (Misbehaviour(receiver_max_pps=900_000), "receiver lost 50000 packets at tester.right (rx_missed)"),
    ],
)
def test_a_trial_that_went_wrong_is_invalid_with_the_number(wrong: Misbehaviour, words: str) -> None:
    trial = Rig(SimulatedDut(STEADY, wrong=wrong)).runner(retries=0).run("search", 1e6, 0.5).trial
    assert not trial.valid
    assert words in trial.invalid_because[0]


class Changed(Unwatched):
    """An interface that changes in each trial."""

    def altered(self) -> list[str]:
        return ["left of f1 is down", "right of f1 is gone or renamed"]


def test_a_trial_in_which_the_chain_was_altered_is_no_answer_and_says_what_first() -> None:
    dut = SimulatedDut(STEADY, wrong=Misbehaviour(unaccounted=3))
    outcome = Rig(dut, watched=Watched(interfaces=Changed())).runner(retries=0).run("search", 1e6, 0.5)
    assert not outcome.trial.valid
    assert not outcome.believable()
    said = "left of f1 is down; right of f1 is gone or renamed: that is not the chain that was built."
    assert outcome.trial.invalid_because[0].startswith(said)
    assert "3 of 500000 packets" in outcome.trial.invalid_because[1]


def test_packets_that_no_one_offered_make_a_trial_invalid() -> None:
    switch = iter([0, 5])
    rig = Rig(SimulatedDut(STEADY), counters=lambda: [Port("net0", "full", next(switch))])  # type: ignore[list-item]
    trial = rig.runner().run("search", 1e6, 0.1).trial
    assert trial.unaccounted == -5
    assert "5 more packets than the 100000 offered" in trial.invalid_because[0]


def test_a_switch_that_counts_late_is_read_again() -> None:
    lost = iter([0, 0, 40])
    rig = Rig(
        SimulatedDut(STEADY, wrong=Misbehaviour(unaccounted=40)),
        counters=lambda: [Port("net0", "full", next(lost))],  # type: ignore[list-item]
    )
    trial = rig.runner().run("search", 1e6, 0.1).trial
    assert trial.valid
    assert trial.drops[0].packets == 40


def test_a_slow_tester_makes_a_trial_invalid_and_is_not_blamed_on_the_device() -> None:
    trial = Rig(SimulatedDut(STEADY, tester_max_pps=990_000)).runner().run("search", 1e6, 0.5).trial
    assert "5000 of 500000 packets too few (1.00%" in trial.invalid_because[0]
    assert trial.loss_ratio == 0


def test_a_trial_as_fast_as_possible_has_no_shortfall() -> None:
    trial = Rig(SimulatedDut(STEADY, tester_max_pps=1e6)).runner().run("calibration", 0, 0.5).trial
    assert trial.valid
    assert trial.intended_load_pps == pytest.approx(1e6)


def test_a_port_that_is_gone_ends_the_measurement_after_the_trial_is_kept() -> None:
    rig = Rig(SimulatedDut(STEADY, wrong=Misbehaviour(gone_after_trials=0)))
    with pytest.raises(PortGoneError, match=r"Port tester\.right disappeared"):
        rig.runner().valid("search", 1e6, 0.1)
    assert [trial.valid for trial in rig.trials] == [False]


def test_a_port_that_is_gone_is_told_before_the_case_is_written_down() -> None:
    """Who is told keeps the logs, which say why."""
    rig = Rig(SimulatedDut(STEADY, wrong=Misbehaviour(gone_after_trials=0)))
    problem = rig.case().problem
    assert [(type(error), str(error)) for error in rig.failures] == [(PortGoneError, problem)]


def test_an_invalid_trial_is_repeated_until_it_is_valid_and_all_are_kept() -> None:
    rig = Rig(SimulatedDut(STEADY, wrong=Misbehaviour(unaccounted=1, only_first_trials=2)))
    assert rig.runner(retries=3).valid("search", 1e6, 0.1).trial.valid
    assert [trial.valid for trial in rig.trials] == [False, False, True]


def test_an_invalid_trial_is_given_up_after_its_retries() -> None:
    rig = Rig(SimulatedDut(STEADY, wrong=Misbehaviour(unaccounted=1)))
    assert not rig.runner(retries=2).valid("search", 1e6, 0.1).trial.valid
    assert len(rig.trials) == 3


@pytest.mark.parametrize(("tester_max_pps", "trials"), [(990_000, 4), (890_000, 2)])
def test_what_is_far_too_fast_for_the_tester_is_repeated_only_once(
    tester_max_pps: float, trials: int
) -> None:
    rig = Rig(SimulatedDut(STEADY, tester_max_pps=tester_max_pps))
    assert not rig.runner(retries=3).valid("search", 1e6, 0.1).trial.valid
    assert len(rig.trials) == trials


def test_loss_while_the_host_had_a_core_does_not_count_and_is_kept() -> None:
    stalling = Response(2e6, 2.06e6, buffer_packets=64, stalls=(StallKind(20, 400, 500, 1000),))
    trial = Rig(SimulatedDut(stalling)).runner().run("search", 1e6, 0.5).trial
    assert trial.valid
    assert trial.delivered < trial.offered
    assert trial.slices is not None
    assert sum(packets for _, packets in trial.slices.lost) == trial.offered - trial.delivered
    assert sum(trial.slices.offered) == trial.offered
    assert trial.counted is not None
    assert trial.counted_lost == 0
    assert trial.counted.seconds < 0.5
    assert {one.by for one in trial.left_out} == {"host"}
    assert len(trial.left_out) == trial.stalls[0].host_count > 0


def test_loss_while_the_device_itself_pauses_counts() -> None:
    pausing = Response(2e6, 2.06e6, buffer_packets=64, stalls=(StallKind(20, 400, 500, 1000, own=True),))
    trial = Rig(SimulatedDut(pausing)).runner().run("search", 1e6, 0.5).trial
    assert trial.valid
    assert trial.left_out == []
    assert trial.counted_lost == trial.offered - trial.delivered > 0


def test_a_trial_on_a_busy_host_is_invalid_and_says_so_first() -> None:
    busy = Response(2e6, 2.06e6, stalls=(StallKind(60, 4000, 8000, 12_000),))
    trial = Rig(SimulatedDut(busy, tester_max_pps=990_000)).runner().run("search", 1e6, 0.5).trial
    assert trial.invalid_because[0].startswith("Only 0.")
    assert "host had core 1 for 0." in trial.invalid_because[0]
    assert "end what else runs there" in trial.invalid_because[0]


def test_behind_a_disturbed_trial_the_next_one_lasts_longer_and_a_quiet_one_as_long_as_asked() -> None:
    disturbed = Response(2e6, 2.06e6, stalls=(StallKind(50, 4000, 8000, 12_000),))
    runner = Rig(SimulatedDut(disturbed)).runner()
    first, second = (runner.run("search", 1e6, 0.5).trial for _ in range(2))
    assert first.duration_s == 0.5
    assert 0.5 < second.duration_s <= 4 * 0.5
    quiet = Rig(SimulatedDut(STEADY)).runner()
    assert [quiet.run("search", 1e6, 0.5).trial.duration_s for _ in range(3)] == [0.5, 0.5, 0.5]


def test_a_tester_that_was_away_and_is_still_behind_at_the_end_was_too_slow_for_that_load() -> None:
    late = Response(2e6, 2.06e6, stalls=(StallKind(5, 4000, 8000, 12_000),))
    rig = Rig(SimulatedDut(late, seed=4, tester_max_pps=995_000))
    trials = [rig.runner().run("search", 1e6, 0.5) for _ in range(8)]
    said = {fault.kind for outcome in trials for fault in outcome.faults}
    assert said == {"tester"}


class Slow(SimulatedDut):
    """It gives what it still held of a trial, a packet each time that somebody looks."""

    held, given = 3, 0

    def again(self) -> TrafficResult:
        self.given = min(self.given + 1, self.held)
        first, *others = super().again().streams
        late = first.model_copy(update={"too_late": self.given})
        return super().again().model_copy(update={"streams": (late, *others)})


def test_what_is_still_to_come_of_a_trial_is_waited_for_and_is_too_late() -> None:
    dut = Slow(STEADY, wrong=Misbehaviour(unaccounted=3))
    trial = Rig(dut).runner().run("search", 1e6, 0.1).trial
    assert [(one.place, one.reason, one.packets) for one in trial.drops] == [("tester.right", "too_late", 3)]
    assert (trial.unaccounted, trial.valid) == (0, True)


@pytest.mark.parametrize("drain_ms", [0.001, 100, 60_000])
def test_what_does_not_end_to_come_is_given_up_after_a_minute_and_said(drain_ms: float) -> None:
    dut = Slow(STEADY, wrong=Misbehaviour(unaccounted=3))
    dut.held = 10**6
    runner = Rig(dut).runner(retries=0, drain_ms=drain_ms)
    for _ in range(2):
        began_s = dut.now_s
        trial = runner.run("search", 1e6, 0.1).trial
        assert "Packets still came 60 s after its end" in trial.invalid_because[0]
        assert 60 <= dut.now_s - began_s - 0.1 - drain_ms / 1e3 < 66


def test_without_a_drain_the_last_packets_are_waited_for_all_the_same() -> None:
    dut = Slow(STEADY, wrong=Misbehaviour(unaccounted=3))
    options = TrialOptions().model_copy(update={"drain_ms": 0.0})  # as RFC 2544 may have it
    trials: list[Trial] = []
    TrialRunner(
        dut, no_counters, simulated_traffic(), options=options, on_trial=trials.append, sleep=dut.sleep
    ).run("search", 1e6, 0.1)
    assert [trial.unaccounted for trial in trials] == [0]
