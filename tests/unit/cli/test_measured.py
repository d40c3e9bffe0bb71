# SPDX-License-Identifier: Apache-2.0
"""Given rates and rounds stand in the place of what the lab says of how it is measured."""

from __future__ import annotations

import pytest

from weir.cli.exits import CommandError
from weir.cli.measured import Measured
from weir.lab import Lab
from weir.lab.load import stored_lab
from weir.lab.ways import ways


def lab(**more: object) -> Lab:
    return Lab.model_validate(
        {
            "weir": 1,
            "name": "measured",
            "chain": "PVP",
            "functions": {"default": {"nf": "l2fwd"}},
            "technology": ["direct", "linux-bridge"],
            "sla": {"loss_ratio": 0, "throughput": [{"goal": "NDR", "pps": 1e6}]},
            "measure": {"soak": {"schedule": [{"load": "20% PDR", "duration_s": 60}]}},
        }
        | more
    )


def test_given_rates_are_all_that_is_measured() -> None:
    whole = lab()
    sent, compared = Measured(None, ("1.5Mpps", "100Mbit/s"), 3).of(whole, ways(whole))
    for one in (sent, *(way.lab for way in compared)):
        assert (one.measure.goals, one.measure.curve.points) == ((), 0)
        assert one.measure.latency is not None
        assert one.measure.latency.all_loads == ("1.5Mpps", "100Mbit/s")
        assert (one.measure.latency.duration_s, one.measure.latency.settle_s) == (3, 1)


def test_of_the_service_level_what_no_given_rate_shows_is_left_out() -> None:
    sent, _ = Measured(None, ("1Mpps",)).of(lab(), ())
    assert sent.sla is not None
    assert (sent.sla.loss_ratio, sent.sla.throughput) == (0, ())
    floors = {"throughput": [{"goal": "NDR", "pps": 1e6}]}
    assert Measured(None, ("1Mpps",)).of(lab(sla=floors), ())[0].sla is None


def test_what_is_stored_of_such_a_run_is_a_lab_as_any_other() -> None:
    sent, _ = Measured(2, ("1Mpps",)).of(lab(), ())
    assert stored_lab(sent.model_dump(mode="json")) == sent
    assert sent.measure.rounds == 2


def test_such_a_run_goes_on_with_the_file_that_it_began_with() -> None:
    sent, _ = Measured(2, ("1Mpps", "2Mpps"), 5).of(lab(), ())
    assert Measured.as_in(sent, lab()).of(lab(), ())[0] == sent
    assert Measured.as_in(lab(), lab()).of(lab(), ())[0] == lab()


def test_times_settle_as_the_lab_says_and_no_longer_than_they_last() -> None:
    slow = lab(measure={"latency": {"loads": ["10% PDR"], "settle_s": 4}})
    for duration_s, settle_s in ((60, 4), (2, 2)):
        sent, _ = Measured(None, ("1Mpps",), duration_s).of(slow, ())
        assert sent.measure.latency is not None
        assert sent.measure.latency.settle_s == settle_s


@pytest.mark.parametrize(
    ("given", "one"),
    [
        ("1000kpps", "1Mpps"),
        ("1.50 Mpps", "1.5Mpps"),
        ("999999pps", "999.999kpps"),
        ("0.5pps", "0.5pps"),
        ("0.0015Mbit/s", "1.5kbit/s"),
        ("2500Gbps", "2500Gbit/s"),
    ],
)
def test_a_rate_is_the_same_load_however_it_is_spelled(given: str, one: str) -> None:
    sent, _ = Measured(rates=(given,)).of(lab(), ())
    assert sent.measure.latency is not None
    assert sent.measure.latency.loads == (one,)


CONNECTIONS = {"traffic": {"frames": ["connections"], "connections": {"services": [{"port": 80}]}}}


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (Measured(rates=("50% NDR",)), "--rate 50% NDR: expected a rate such as 1.5Mpps; a lab has shares"),
        (Measured(rates=("fast",)), "--rate fast: expected a number and its unit: pps, kpps, Mpps"),
        (Measured(rates=("1000",)), "--rate 1000: expected a number and its unit: pps, kpps, Mpps"),
        (Measured(rates=("0Mpps",)), "--rate 0Mpps: expected a number and its unit"),
        (
            Measured(rates=("1e30pps",)),
            r"--rate 1e30pps: expected .*; 0\.01pps to 10Gpps or 1000bit/s to 4000Gbit/s",
        ),
        (Measured(rates=("1e25Gbit/s",)), r"--rate 1e25Gbit/s: expected .*; 0\.01pps to 10Gpps"),
        (Measured(rates=("1e-9pps",)), r"--rate 1e-9pps: expected .*; 0\.01pps to"),
        (Measured(rates=("1Mpps", "1Mpps")), "--rate names a rate twice"),
        (Measured(rates=("1Mpps", "1000kpps")), "--rate names a rate twice"),
        (Measured(duration_s=3), "--duration is of each --rate; give one"),
    ],
)
def test_what_is_no_rate_is_refused_with_what_was_expected(measured: Measured, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        measured.of(lab(), ())


def test_captures_without_stamps_have_no_delay_at_a_rate() -> None:
    captured = lab(
        traffic={"frames": ["capture"], "capture": {"left": "left.pcap", "right": "right.pcap"}}, sla=None
    )
    with pytest.raises(
        CommandError, match=r"--rate: measure\.latency is not known of frames without a stamp"
    ):
        Measured(rates=("1Mpps",)).of(captured, ())
