# SPDX-License-Identifier: Apache-2.0
"""Which trial of a case is explained, by what counts of it, and what is said of one that was not used."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from weir.explain.text import show
from weir.explain.trial import shows_most
from weir.results.explanation import CaseExplanation, Explanation
from weir.results.result import Case, Counted, DelayPoint, Latency, LeftOut, Throughput, Trial

from .made import OFFERED, area, explained, stream, the_tester, trial, verdict

NAT, ACL = {"nat": 600_000_000, "acl": 200_000_000}, {"acl": 250_000_000}
AHEAD_OF_F1 = {("tester.left", "tx_queue_full"): 400_000}
UNDISTURBED = "Only 0.600 of 1.000 s were undisturbed: python (77) had core 1 for 0.400 s."
RECEIVER = "The tester's receiver lost 400000 packets at tester.right (rx_missed)."


def carried(busy: float = 0.5) -> Trial:
    """Valid, without loss, at half the load."""
    areas = [*the_tester(), area("f1", busy, NAT), area("f2", 0.2, ACL)]
    return trial(areas, offered=OFFERED // 2, intended_load_pps=OFFERED / 2, intended=OFFERED // 2)


def while_python_had_it(**more: object) -> Trial:
    """Lost 40 % while a program had f1's core, and nothing in the time that counts."""
    areas = [*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)]
    had = [LeftOut(core=1, from_us=0, to_us=400_000, by="python (77)")]
    record = Counted(seconds=0.6, offered=600_000, lost=0)
    return trial(areas, AHEAD_OF_F1, left_out=had, counted=record, **more)


def without_use(because: str) -> Trial:
    return while_python_had_it(valid=False, invalid_because=[because])


def of_the_receiver() -> Trial:
    areas = [*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)]
    lost = {("tester.left", "tx_queue_full"): 200_000, ("tester.right", "rx_missed"): 200_000}
    return trial(areas, lost, valid=False, invalid_because=[RECEIVER])


def shown(found: CaseExplanation) -> str:
    out = io.StringIO()
    show(Explanation(result="r", cases=[found]), Console(file=out, width=80))
    return out.getvalue()


@pytest.mark.parametrize("unused", [without_use(UNDISTURBED), of_the_receiver()], ids=["python", "receiver"])
def test_a_valid_trial_without_loss_comes_before_an_invalid_one_that_lost(unused: Trial) -> None:
    found = explained(carried(), unused)
    assert verdict(found) == ("nothing", "nothing")
    assert "all of 0.500 Mpps was carried" in found.limit.sentence
    assert found.not_used == []
    assert "not used" not in shown(found)


@pytest.mark.parametrize(
    ("unused", "because"),
    [(without_use(UNDISTURBED), UNDISTURBED), (of_the_receiver(), RECEIVER)],
    ids=["python", "receiver"],
)
def test_where_only_invalid_trials_are_there_it_says_so_and_gives_no_gain(
    unused: Trial, because: str
) -> None:
    found = explained(unused)
    assert found.limit.sentence.startswith("Of a trial that was not used: ")
    assert found.not_used == [because]
    assert found.second is None
    assert [one.gain_at_most for one in found.advice if one.gain_at_most is not None] == []
    assert f"not used: {because}"[:60] in shown(found)
    assert max(map(len, shown(found).splitlines())) <= 80


def test_a_full_core_of_an_invalid_trial_advises_without_a_number() -> None:
    found = explained(of_the_receiver())
    assert verdict(found) == ("stage", "f1/nat")
    assert {one.gain_is for one in found.advice} >= {"not said of a trial that was not used: measure it"}


def test_what_counts_of_a_trial_says_whether_it_lost() -> None:
    full = [*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)]
    record = Counted(seconds=1.0, offered=OFFERED, lost=50_000)
    overload = trial(full, {("tester.left", "tx_queue_full"): 50_000}, counted=record)
    more_load = while_python_had_it(intended_load_pps=2 * OFFERED)
    assert verdict(explained(more_load, overload)) == ("stage", "f1/nat")


def test_what_was_lost_only_while_a_program_had_the_core_fills_no_core() -> None:
    areas = [*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)]
    had = [LeftOut(core=1, from_us=0, to_us=50_000, by="python (77)")]
    record = Counted(seconds=0.95, offered=950_000, lost=0)
    found = explained(trial(areas, {("tester.left", "tx_queue_full"): 30_000}, left_out=had, counted=record))
    assert verdict(found) == ("host-stall", "core 1")
    assert found.limit.sentence == (
        "All was carried in the time that counts: wire0 from tester.left overflowed only while core 1 was "
        "away: python (77) had it for 50.0 ms."
    )
    assert [row.value for row in found.evidence if row.what == "core 1: python (77)"] == [50_000]


def test_what_was_lost_only_in_time_that_was_left_out_as_slow_is_nothing_yet() -> None:
    areas = [*the_tester(), area("f1", 0.5, NAT), area("f2", 0.2, ACL)]
    had = [LeftOut(core=1, from_us=0, to_us=50_000, by="slowed")]
    had += [LeftOut(core=0, from_us=0, to_us=100, by="cron (7)")]
    record = Counted(seconds=0.95, offered=950_000, lost=0)
    found = explained(trial(areas, {("tester.left", "tx_queue_full"): 30_000}, left_out=had, counted=record))
    assert verdict(found) == ("nothing", "nothing")
    assert "30,000 packets were lost in time that does not count" in found.limit.sentence


def test_a_queue_that_only_grew_behind_a_full_core_is_an_overload() -> None:
    record = Counted(seconds=1.0, offered=OFFERED, lost=0, backlog=20_000)
    full = [*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)]
    assert verdict(explained(trial(full, counted=record, backlog=20_000))) == ("stage", "f1/nat")
    idle = [*the_tester(), area("f1", 0.5, NAT), area("f2", 0.2, ACL)]
    assert (
        "20,000 packets were left in queues"
        in explained(trial(idle, counted=record, backlog=20_000)).limit.sentence
    )


def test_where_even_the_lowest_load_was_too_much_the_trial_at_it_is_explained() -> None:
    full = trial([*the_tester(), area("f1", 0.98, NAT), area("f2", 0.2, ACL)], AHEAD_OF_F1)
    areas = [*the_tester(), area("f1", 0.1, NAT), area("f2", 0.1, ACL)]
    refused = {("f1/left/acl", "denied"): 4_000}
    light = trial(areas, refused, offered=10_000, intended_load_pps=10_000, intended=10_000, purpose="search")
    rate = {"goal": "NDR", "goal_loss_ratio": 0, "status": "irregular", "upper_bound_pps": 10_000}
    assert explained(full, light, throughput=[rate]).offered_pps == 10_000
    found = rate | {"status": "found", "load_pps": 9_000, "upper_bound_pps": 10_000}
    assert explained(full, light, throughput=[rate, found]).offered_pps == OFFERED


@pytest.mark.parametrize(
    ("p50_us", "p99_us", "too_late", "carried_pps"),
    [
        (1e6, 1e6, 0, 500_000),
        (5e5, 1e6, 0, 500_000),
        (10.0, 50_000.0, 0, 1_000_000),
        (1e6, 2e6, 500_000, 200_000),  # 0.5 s of sending, out in 2.5 s
    ],
    ids=["a queue that was full from the beginning", "one that grew", "pauses", "one that outlived the wait"],
)
def test_what_a_queue_gave_after_sending_was_not_carried_while_packets_were_sent(
    p50_us: float, p99_us: float, too_late: int, carried_pps: float
) -> None:
    delays = Latency(
        packets=OFFERED, min_us=1, mean_us=p50_us, p50_us=p50_us, p90_us=p99_us, p99_us=p99_us,
        p999_us=p99_us, max_us=p99_us,
    )  # fmt: skip
    late = {"latency": delays, "delivered": OFFERED - too_late, "too_late": too_late}
    streams = [stream(OFFERED).model_copy(update=late)]
    found = explained(trial([*the_tester(), area("f1", 0.98)], streams=streams))
    assert found.carried_pps == pytest.approx(carried_pps, rel=1e-3)


def test_of_loads_that_were_given_and_no_search_one_of_these_is_explained() -> None:
    flood = trial([*the_tester(), area("f1", 0.98, NAT)], AHEAD_OF_F1, purpose="calibration")
    at_load = carried().model_copy(update={"purpose": "latency"})
    without = at_load.model_copy(update={"areas": []})  # as an older Weir stored it
    searched = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=1e6)

    def chosen(sent: Trial, *throughput: Throughput) -> Trial | None:
        delays = [DelayPoint(load="0.5Mpps", load_pps=0.5e6, trials=[sent])]
        return shows_most(
            Case(frame="64", mean_frame_bytes=64, trials=[flood], delays=delays, throughput=list(throughput))
        )

    assert chosen(at_load) == at_load
    assert chosen(without) == flood
    assert chosen(at_load, searched) == flood
