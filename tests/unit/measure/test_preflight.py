# SPDX-License-Identifier: Apache-2.0
"""A light load tells what lets nothing through, direction by direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.simulated.deep import Deep
from tests.simulated.one_way import NoWay, OneWay
from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from weir.lab.measure import TrialOptions
from weir.measure import no_counters
from weir.measure.preflight import nothing_comes, where_dropped
from weir.measure.tester import Traffic
from weir.measure.trial import TrialRunner
from weir.protocol.traffic import CaptureConfig, PacketFieldConfig
from weir.protocol.traffic_results import TrafficResult
from weir.results.trial import Drop, Trial

from .rig import STEADY


def said(
    dut: SimulatedDut,
    unready: Sequence[str] = (),
    traffic: Traffic | None = None,
    before: Trial | None = None,
) -> tuple[str | None, list[Trial]]:
    trials: list[Trial] = []
    options = TrialOptions(retries=0)
    runner = TrialRunner(
        dut,
        no_counters,
        traffic or simulated_traffic(),
        options=options,
        on_trial=trials.append,
        sleep=dut.sleep,
    )
    return nothing_comes(runner, unready=unready, before=before), trials


def test_a_direction_that_is_silent_is_named_alone() -> None:
    sentence, trials = said(OneWay(STEADY))
    assert sentence is not None
    assert "(right-to-left)" in sentence
    assert "left-to-right" not in sentence
    assert [trial.purpose for trial in trials] == ["preflight"]


def test_the_rate_that_is_named_is_that_of_the_silent_direction() -> None:
    traffic = replace(simulated_traffic(), fixed_pps={1: 20.0})
    sentence, trials = said(OneWay(STEADY), traffic=traffic)
    assert sentence is not None
    assert "of 10 packets" in sentence
    assert "(right-to-left), 20 a second, none arrived" in sentence
    assert trials[0].intended_load_pps == 2000
    both, _ = said(NoWay(STEADY), traffic=traffic)
    assert both is not None
    assert "(left-to-right), 1980 a second, and of 10 packets" in both
    assert "(right-to-left), 20 a second, none arrived" in both


def of_a_capture() -> Traffic:
    traffic = simulated_traffic()
    streams = tuple(
        one.model_copy(update={"capture": CaptureConfig(path="/labs/office.pcap")})
        for one in traffic.config.streams
    )
    return replace(traffic, config=traffic.config.model_copy(update={"streams": streams}))


def test_frames_of_a_capture_are_named_by_its_file_not_by_addresses_that_they_do_not_have() -> None:
    sentence, _ = said(OneWay(STEADY), traffic=of_a_capture())
    assert sentence is not None
    assert "of 200 frames of office.pcap (right-to-left), 1000 a second, none arrived" in sentence
    assert "198.18.0.1" not in sentence


def test_fields_that_change_from_packet_to_packet_are_named_beside_the_addresses() -> None:
    traffic = simulated_traffic()
    fields = (PacketFieldConfig(field="dst_ip", count=9), PacketFieldConfig(field="ttl", from_=3))
    streams = tuple(one.model_copy(update={"fields": fields}) for one in traffic.config.streams)
    config = traffic.config.model_copy(update={"streams": streams})
    sentence, _ = said(OneWay(STEADY), traffic=replace(traffic, config=config))
    assert sentence is not None
    assert " udp with dst_ip, ttl of traffic.fields (right-to-left), 1000 a second" in sentence


def test_a_direction_of_which_some_came_just_before_is_not_given_up_for_a_few_frames_that_a_rule_drops() -> (
    None
):
    before = said(SimulatedDut(STEADY))[1][0]
    assert not before.silent
    assert said(NoWay(STEADY), before=before)[0] is None
    other = said(OneWay(STEADY))[1][0]
    sentence, _ = said(NoWay(STEADY), before=other)
    assert sentence is not None
    assert "left-to-right" not in sentence


class Quiet(OneWay):
    """By a capture's gaps only two frames a second are due at first."""

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        few = round(2 * result.tx_duration_ns / 1e9)
        counts = dict.fromkeys(("intended", "offered", "delivered"), few)
        streams = tuple(one.model_copy(update=counts) for one in result.streams)
        return super().as_seen(result.model_copy(update={"streams": streams}))


def test_a_light_load_with_a_captures_gaps_lasts_until_there_were_packets_enough_to_judge_by() -> None:
    traffic = of_a_capture()
    streams = tuple(one.model_copy(update={"pacing": "recorded"}) for one in traffic.config.streams)
    config = traffic.config.model_copy(update={"streams": streams})
    sentence, trials = said(Quiet(STEADY), traffic=replace(traffic, config=config))
    assert [trial.offered for trial in trials] == [0, 4, 20]
    assert sentence is not None
    assert "of 10 frames of office.pcap (right-to-left)" in sentence


@pytest.mark.parametrize("share", [0.0, 0.99])
def test_what_lets_a_few_through_is_measured(share: float) -> None:
    assert said(SimulatedDut(STEADY, wrong=Misbehaviour(denied_share=share)))[0] is None


@pytest.mark.parametrize("ahead", [300.0, 100_000.0])
def test_what_comes_late_or_behind_an_earlier_trial_comes_through(ahead: float) -> None:
    sentence, (trial,) = said(Deep(STEADY, ahead=ahead))
    assert len(trial.silent) == 2
    assert (trial.streams[0].too_late > 0, trial.from_earlier > 0) == (ahead < 1000, True)
    assert sentence is None


def test_programs_that_may_not_forward_yet_are_named_with_the_option_that_waits_for_them() -> None:
    lost = Misbehaviour(unaccounted_in=range(10**6), unaccounted=400)
    sentence, _ = said(SimulatedDut(STEADY, wrong=lost), ["f1", "f2"])
    assert sentence is not None
    assert sentence.endswith(
        "Dropped: nobody counted where. If one of f1, f2 forwards only some time after it is ready, say "
        "`program: {ready_packets: true}`."
    )
    denied, _ = said(SimulatedDut(STEADY, wrong=Misbehaviour(denied_share=1.0)), ["f1"])
    assert denied is not None
    assert denied.endswith("(denied).")


def test_the_places_that_dropped_most_are_named_and_a_stages_own_decision_is_the_stages() -> None:
    drops = [Drop(place="area f1/p/firewall", reason="denied", packets=7)]
    drops += [Drop(place=f"net{at}", reason="full", packets=at) for at in range(4)]
    assert where_dropped(drops) == "7 at area f1/firewall (denied), 3 at net3 (full), 2 at net2 (full)"
    assert where_dropped([]) == "nobody counted where"
