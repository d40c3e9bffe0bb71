# SPDX-License-Identifier: Apache-2.0
"""A service level is met, or it is not: by the worst repeat, and never by what was not measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from weir.lab.sla import Sla
from weir.measure.service_level import service_level_verdicts
from weir.results.result import (
    Counted,
    DelayPoint,
    Ipdv,
    Jitter,
    Latency,
    Pdv,
    Stall,
    StreamCount,
    Throughput,
    Trial,
)

SIZES = ("mean", "p50", "p90", "p99", "p999", "p9999")


def stream(latency_max_us: float, *, delivered: int = 100, ipdv_min_us: float = -3.0) -> StreamCount:
    latency = {f"{name}_us": 10.0 for name in SIZES}
    return StreamCount(
        stream=0,
        direction="left-to-right",
        intended=100,
        offered=100,
        delivered=delivered,
        duplicates=0,
        reordered=0,
        latency=Latency(packets=delivered, min_us=1, max_us=latency_max_us, **latency),
        pdv=Pdv(max_us=latency_max_us - 1, **{k: v - 1 for k, v in latency.items() if k != "mean_us"}),
        ipdv=Ipdv(pairs=99, min_us=ipdv_min_us, max_us=2, **{f"{name}_size_us": 1 for name in SIZES}),
        jitter=Jitter(mean_us=1, max_us=4, last_us=2),
    )


def point(*streams: StreamCount, valid: bool = True) -> DelayPoint:
    trials = [
        Trial(
            purpose="latency",
            intended_load_pps=1,
            intended_duration_s=1,
            duration_s=1,
            intended=100,
            offered=100,
            delivered=one.delivered,
            loss_ratio=0,
            valid=valid,
            streams=[one],
        )
        for one in streams
    ]
    return DelayPoint(load="1pps", load_pps=1, trials=trials)


def met(limits: Mapping[str, object], *points: DelayPoint) -> list[tuple[str, Any, bool]]:
    verdicts = service_level_verdicts(Sla.model_validate(limits), [], points)
    return [(one.criterion, one.share, one.met) for one in verdicts]


@pytest.mark.parametrize(
    ("limits", "criterion", "share"),
    [
        ({"latency_us": {"max": 100}}, "latency max", 0.5),
        ({"latency_us": {"p999": "20us"}}, "latency P99.9", 0.5),
        ({"pdv_us": {"p99": 18}}, "PDV P99", 0.5),
        ({"ipdv_us": {"max": 6}}, "IPDV max", 0.5),
        ({"ipdv_us": {"p50": 2}}, "IPDV P50", 0.5),
        ({"jitter_us": 8}, "jitter (RFC 3550) max", 0.5),
        ({"budget": "g114"}, "latency max (ITU-T G.114)", 50 / 150_000),
    ],
)
def test_a_limit_that_is_kept_says_how_much_of_it_is_used(
    limits: dict[str, object], criterion: str, share: float
) -> None:
    assert met(limits, point(stream(50.0))) == [(criterion, pytest.approx(share), True)]


def test_of_repeats_the_worst_counts() -> None:
    limits = {"latency_us": {"max": 100}}
    assert met(limits, point(stream(50.0), stream(150.0))) == [("latency max", 1.5, False)]


def test_what_was_lost_is_judged_against_what_was_offered() -> None:
    assert met({"loss_ratio": 0.02}, point(stream(1.0, delivered=99))) == [
        ("loss ratio", pytest.approx(0.5), True)
    ]
    assert met({"loss_ratio": 0.05}, point(stream(1.0, delivered=95))) == [("loss ratio", 1.0, True)]
    assert met({"loss_ratio": 0}, point(stream(1.0, delivered=99))) == [("loss ratio", None, False)]
    assert met({"loss_ratio": 0}, point(stream(1.0))) == [("loss ratio", None, True)]


def test_what_was_not_measured_validly_is_neither_met_nor_missed_and_says_why() -> None:
    sla = Sla.model_validate({"latency_us": {"max": 100}, "throughput": [{"goal": "NDR", "pps": 1e6}]})
    disturbed = point(stream(50.0), valid=False)
    disturbed.trials[0].invalid_because = ["Core 0 was away."]
    none = Throughput(goal="NDR", goal_loss_ratio=0, status="irregular", why="Too noisy.")
    for points, reasons in (
        ([disturbed], ["Too noisy.", "Core 0 was away."]),
        ([], ["Too noisy.", "NDR: Too noisy."]),
    ):
        verdicts = service_level_verdicts(sla, [none], points)
        assert [one.outcome for one in verdicts] == ["not judged", "not judged"]
        assert [one.why for one in verdicts] == reasons


def test_a_load_that_is_a_share_of_a_rate_that_was_not_found_is_not_judged_beside_one_that_was() -> None:
    sla = Sla.model_validate({"loss_ratio": 0, "latency_us": {"max": 100}})
    none = Throughput(goal="PDR", goal_loss_ratio=0.005, status="irregular", why="Too noisy.")
    other = none.model_copy(update={"goal": "NDR", "why": "Something else."})
    verdicts = service_level_verdicts(sla, [other, none], [point(stream(50.0))], ["50% PDR", "1pps"])
    found = {(one.criterion, one.load): (one.outcome, one.direction, one.why) for one in verdicts}
    unknown = ("not judged", "left-to-right", "PDR: Too noisy.")
    met_there = ("met", "left-to-right", None)
    assert found == {
        ("loss ratio", "50% PDR"): unknown,
        ("latency max", "50% PDR"): unknown,
        ("loss ratio", "1pps"): met_there,
        ("latency max", "1pps"): met_there,
    }
    (rate,) = service_level_verdicts(Sla.model_validate({"loss_ratio": 0}), [other, none], [], ["1kpps"])
    assert (rate.load, rate.direction, rate.why) == ("1kpps", None, "No delay was measured.")


def share_left_out(share: float, *, divided: bool) -> dict[str, Any]:
    """Of a trial of a second."""
    if divided:
        return {"counted": Counted(seconds=1 - share, offered=100, lost=0)}
    others = Stall(core=0, count=9, total_us=1e6 * share, longest_us=9, host_us=1e6 * share)
    own = Stall(core=1, count=9, total_us=9e5, longest_us=9, host_us=0)
    return {"stalls": [others, own]}


@pytest.mark.parametrize("divided", [True, False])
@pytest.mark.parametrize("latency_us", [50.0, 150.0])
def test_a_trial_that_others_disturbed_for_most_of_its_time_meets_and_misses_nothing(
    latency_us: float, divided: bool
) -> None:
    """The quiet one beside it may miss a limit, but not show that both keep to it."""
    sla = Sla.model_validate({"latency_us": {"max": 100}, "loss_ratio": 0.5})
    quiet, noisy = stream(latency_us), stream(latency_us)
    missed = set() if latency_us < 100 else {"missed"}
    for share, outcomes in ((0.6, {"not judged"} | missed), (0.4, {"met"} | missed)):
        seen = point(quiet, noisy)
        seen.trials[1] = seen.trials[1].model_copy(update=share_left_out(share, divided=divided))
        verdicts = service_level_verdicts(sla, [], [seen])
        assert {one.outcome for one in verdicts} == outcomes
        why = "60% of a trial's time was disturbed: others had a core."
        assert all(one.why == (why if one.outcome == "not judged" else None) for one in verdicts)


@pytest.mark.parametrize(("left_out_share", "outcome"), [(0.6, "not judged"), (0.4, "met")])
def test_a_rate_whose_trials_were_left_out_for_most_of_their_time_is_not_judged(
    left_out_share: float, outcome: str
) -> None:
    sla = Sla.model_validate({"throughput": [{"goal": "NDR", "pps": "1Mpps"}]})
    throughput = Throughput(
        goal="NDR", goal_loss_ratio=0, status="found", load_pps=2e6, left_out_share=left_out_share
    )
    (verdict,) = service_level_verdicts(sla, [throughput], [])
    why = "NDR: 60% of the time of the trials that bound it was left out: others had a core."
    assert (verdict.outcome, verdict.why) == (outcome, why if outcome == "not judged" else None)


def test_where_no_packet_arrived_there_is_no_delay_to_judge() -> None:
    lost = stream(50.0, delivered=0).model_copy(update={"latency": None})
    (verdict,) = service_level_verdicts(Sla.model_validate({"latency_us": {"max": 9}}), [], [point(lost)])
    assert (verdict.outcome, verdict.why) == ("not judged", "No packet arrived, so there is no delay.")


def test_a_limit_is_met_or_missed_without_a_reason() -> None:
    limits = Sla.model_validate({"latency_us": {"max": 100}})
    for latency_us, outcome in ((50.0, "met"), (150.0, "missed")):
        (verdict,) = service_level_verdicts(limits, [], [point(stream(latency_us))])
        assert (verdict.outcome, verdict.why) == (outcome, None)


def test_first_packets_are_not_judged_with_the_others() -> None:
    first = point(stream(500.0)).model_copy(update={"first_packets": True})
    assert met({"latency_us": {"max": 100}}, first, point(stream(50.0))) == [("latency max", 0.5, True)]


@pytest.mark.parametrize(("found_pps", "is_met"), [(2e6, True), (0.5e6, False), (None, False)])
def test_a_throughput_must_reach_its_floor(found_pps: float | None, is_met: bool) -> None:
    sla = Sla.model_validate({"throughput": [{"goal": "NDR", "pps": "1Mpps"}]})
    throughput = Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found" if found_pps else "irregular",
        load_pps=found_pps,
    )
    (verdict,) = service_level_verdicts(sla, [throughput], [])
    assert (verdict.criterion, verdict.met) == ("NDR at least", is_met)


@pytest.mark.parametrize(
    ("bound", "limit"),
    [
        ("lab_bound", "`measure.max_load_pps` lets no more be sent"),
        ("tester_bound", "the tester was the limit"),
    ],
)
def test_a_floor_above_all_that_was_tried_and_carried_is_not_judged(bound: str, limit: str) -> None:
    all_of_it = Throughput.model_validate(
        {"goal": "NDR", "goal_loss_ratio": 0, "status": "found", "load_pps": 0.5e6, bound: True}
    )
    for pps, outcome in (("1Mpps", "not judged"), ("0.5Mpps", "met")):
        sla = Sla.model_validate({"throughput": [{"goal": "NDR", "pps": pps}]})
        (verdict,) = service_level_verdicts(sla, [all_of_it], [])
        assert verdict.outcome == outcome
        assert limit in (verdict.why or limit)
        assert (verdict.why is None) == (outcome == "met")


@pytest.mark.parametrize(
    ("floor", "outcome"),
    [
        ("0.4Mpps", "met"),
        ("0.5Mpps", "met"),
        ("1Mpps", "not judged"),
        ("2Mpps", "missed"),
        ("3Mpps", "missed"),
    ],
)
def test_a_floor_between_the_bounds_of_a_search_that_ran_out_of_time_is_not_judged(
    floor: str, outcome: str
) -> None:
    late = Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found",
        load_pps=0.5e6,
        lower_bound_pps=0.5e6,
        upper_bound_pps=2e6,
        out_of_time=True,
    )
    sla = Sla.model_validate({"throughput": [{"goal": "NDR", "pps": floor}]})
    (verdict,) = service_level_verdicts(sla, [late], [])
    why = "NDR is between 500,000 and 2,000,000 pps: the time limit came before its search was at its end."
    unknown = outcome == "not judged"
    assert (verdict.outcome, verdict.found) == (outcome, None if unknown else 0.5e6)
    assert verdict.why == (why if unknown else None)


def test_a_floor_above_the_lowest_load_that_was_tried_in_vain_is_missed() -> None:
    irregular = Throughput(
        goal="NDR", goal_loss_ratio=0, status="irregular", upper_bound_pps=0.4e6, why="Even at 400,000 pps …"
    )
    for pps, outcome, found in (("1Mpps", "missed", 0.4e6), ("0.3Mpps", "not judged", None)):
        sla = Sla.model_validate({"throughput": [{"goal": "NDR", "pps": pps}]})
        (verdict,) = service_level_verdicts(sla, [irregular], [])
        assert (verdict.outcome, verdict.found, verdict.below) == (outcome, found, found is not None)
