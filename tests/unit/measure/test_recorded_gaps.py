# SPDX-License-Identifier: Apache-2.0
"""Searches with a capture's gaps: a trial too short for the file may offer another load than asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.measure import TrialOptions
from weir.measure import measure_setup, no_counters
from weir.measure.one_case import OnChain, Time
from weir.measure.tester import Traffic
from weir.measure.trial import Outcome, TrialRunner
from weir.protocol.traffic import CaptureConfig, Shape
from weir.protocol.traffic_results import TrafficResult
from weir.results.throughput import Throughput
from weir.results.trial import Trial

from .rig import MEASURE

FRAMES, QUIET = 100_040, 40
"""Forty frames in the first sixth of the file's time, and then all others."""


def due(packets: float) -> int:
    """Of such a file, where a constant rate would have so many."""
    passes, rest = divmod(packets, FRAMES)
    quiet = FRAMES / 6
    at = (
        rest * QUIET / quiet if rest < quiet else QUIET + (rest - quiet) * (FRAMES - QUIET) / (FRAMES - quiet)
    )
    return int(passes * FRAMES + at)


class Recorded(SimulatedDut):
    """Sends it by its gaps; what little is sent arrives."""

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        streams = []
        for one in result.streams:
            counts = dict.fromkeys(("intended", "offered", "delivered"), due(one.intended))
            streams.append(one.model_copy(update=counts) if due(one.intended) < 0.9 * one.intended else one)
        return result.model_copy(update={"streams": tuple(streams)})


def by_gaps(*, once: bool = False) -> Traffic:
    traffic = simulated_traffic()
    capture = CaptureConfig(path="office.pcap", once=once)
    streams = tuple(
        one.model_copy(update={"pacing": "recorded", "capture": capture}) for one in traffic.config.streams
    )
    return replace(traffic, config=traffic.config.model_copy(update={"streams": streams}))


DEVICE = Response(capacity_pps=1e5, saturation_pps=1e5)


def trial_at(load_pps: float, traffic: Traffic, shape: Shape | None = None) -> tuple[Outcome, list[Trial]]:
    dut, trials = Recorded(DEVICE), list[Trial]()
    options = TrialOptions(retries=3)
    runner = TrialRunner(dut, no_counters, traffic, options=options, on_trial=trials.append, sleep=dut.sleep)
    return runner.valid("search", load_pps, 0.25, shape=shape), trials


def searched(duration_s: float, min_load: float = 0.01) -> Throughput:
    trial = TrialOptions(duration_s=duration_s, initial_duration_s=0.1, duration_sum_s=9 * duration_s)
    measure = MEASURE.model_copy(update={"trial": trial, "min_load": min_load, "time_limit_s": 1e5})
    dut = Recorded(DEVICE)
    chain = OnChain(dut, no_counters, lambda _: None, {}, timing=Time(dut.clock, dut.sleep))
    (case,) = measure_setup(measure, [by_gaps()], chain)
    return case.throughput[0]


def test_a_trial_whose_gaps_make_another_load_due_than_was_asked_for_is_not_used() -> None:
    outcome, trials = trial_at(60_000, by_gaps())
    assert outcome.trial.offered == 2 * due(7500) == 34
    assert not outcome.trial.valid
    assert outcome.has("pacing")
    assert not outcome.believable()
    assert len(trials) == 1  # again it would be the same
    assert "17 packets were due left-to-right, not the 7,500 of the load" in outcome.trial.invalid_because[0]


@pytest.mark.parametrize(("traffic", "shape"), [(simulated_traffic(), None), (by_gaps(once=True), Shape())])
def test_even_gaps_and_replays_are_what_they_ask_for(traffic: Traffic, shape: Shape | None) -> None:
    outcome, _ = trial_at(60_000, traffic, shape)
    assert not outcome.has("pacing")


def test_a_search_among_a_files_quiet_frames_finds_no_rate_and_says_what_to_do() -> None:
    found = searched(0.25)
    assert (found.status, found.load_pps, found.unmeasured) == ("irregular", None, True)
    assert found.why is not None
    assert "no trial could be believed: By the capture's gaps" in found.why
    assert "Let trials last for many times the file" in found.why


def test_a_search_whose_trials_last_for_many_times_of_a_file_finds_what_is_carried() -> None:
    found = searched(60.0, min_load=0.3)
    assert found.load_pps == pytest.approx(1e5, rel=0.02)
