# SPDX-License-Identifier: Apache-2.0
"""Rounds put together, and what a way takes off the baseline's delays."""

from __future__ import annotations

from typing import Any

import pytest

from weir.lab.sla import Sla
from weir.measure.delay import point_of
from weir.measure.reductions import reductions
from weir.procedures.rounds import MeasuredSetup, combined, rounds_of
from weir.results.result import (
    Case,
    Fingerprint,
    Ipdv,
    Latency,
    Reduction,
    Result,
    Setup,
    StreamCount,
    Throughput,
    Trial,
)
from weir.results.rounds import INTERRUPTED, finished, numbers


def trial(mean_us: float, *, other_way_us: float | None = None, valid: bool = True, lost: int = 0) -> Trial:
    ways = [("left-to-right", mean_us), ("right-to-left", other_way_us)]
    return Trial(
        purpose="latency",
        intended_load_pps=1000,
        intended_duration_s=1,
        duration_s=1,
        intended=1000,
        offered=1000,
        delivered=1000 - lost,
        loss_ratio=lost / 1000,
        valid=valid,
        streams=[stream(number, way, us) for number, (way, us) in enumerate(ways) if us is not None],
    )


def stream(number: int, direction: str, mean_us: float) -> StreamCount:
    return StreamCount(
        stream=number,
        direction=direction,
        intended=500,
        offered=500,
        delivered=500,
        duplicates=0,
        reordered=0,
        latency=Latency(
            packets=500,
            min_us=mean_us / 2,
            mean_us=mean_us,
            p50_us=mean_us,
            p90_us=mean_us,
            p99_us=2 * mean_us,
            p999_us=2 * mean_us,
            max_us=10 * mean_us,
        ),
        ipdv=Ipdv(
            pairs=499,
            min_us=-3 * mean_us,
            max_us=mean_us,
            mean_size_us=mean_us / 10,
            p50_size_us=0,
            p90_size_us=0,
            p99_size_us=0,
            p999_size_us=0,
            p9999_size_us=0,
        ),
    )


def case(*trials: Trial, load_pps: float = 1000, **changes: object) -> Case:
    delays = [point_of("100Mbit/s", load_pps, list(trials))]
    return Case.model_validate(
        {"frame": "256", "mean_frame_bytes": 256, "delays": delays, "seconds": 2.0} | changes
    )


def result(base: Case, tuned: Case) -> Result:
    made = Result(
        weir="0",
        id="vcpe-1",
        lab="vcpe",
        title="",
        quick=False,
        spec_sha256="",
        seed=1,
        started_at="",
        baseline="plain",
        fingerprint=Fingerprint.model_construct(),
        spec={},
    )
    made.setups = [
        Setup(technology="direct", variant=name, chain="PVP", datapath="none", cases=[one])
        for name, one in (("plain", base), ("tuned", tuned))
    ]
    return made


def of(found: list[Reduction], measure: str) -> Reduction:
    return next(one for one in found if one.measure == measure)


def test_each_round_is_compared_with_the_one_beside_it() -> None:
    base, tuned = case(trial(100), trial(200), trial(100)), case(trial(50), trial(20), trial(80))
    mean = of(reductions(result(base, tuned)), "mean")
    assert (mean.baseline_us, mean.found_us, mean.rounds) == (100, 50, 3)
    assert (mean.reduction, mean.reduction_min, mean.reduction_max) == pytest.approx((0.5, 0.2, 0.9))
    assert (mean.way, mean.baseline, mean.same_load) == ("tuned", "plain", True)


def test_the_worse_direction_counts_and_ipdv_is_without_its_sign() -> None:
    found = reductions(result(case(trial(100, other_way_us=10)), case(trial(10, other_way_us=25))))
    assert of(found, "mean").found_us == 25
    assert of(found, "ipdv_max").found_us == 75
    assert {one.measure for one in found} == {"mean", "p99", "max", "ipdv_mean", "ipdv_max"}


def test_invalid_rounds_compare_nothing() -> None:
    base, tuned = case(trial(100), trial(100, valid=False)), case(trial(50), trial(1))
    assert of(reductions(result(base, tuned)), "max").rounds == 1
    assert not reductions(result(case(trial(100, valid=False)), case(trial(50))))


def test_loss_and_different_loads_are_said() -> None:
    mean = of(reductions(result(case(trial(100, lost=5)), case(trial(50), load_pps=1500))), "mean")
    assert (mean.same_load, mean.loss_ratio) == (False, 0.005)


def test_rounds_are_one_case_with_all_trials() -> None:
    sla = Sla(latency_us={"mean": 60})  # type: ignore[arg-type]
    whole = combined([case(trial(50)), case(trial(70, other_way_us=65))], sla)
    (point,) = whole.delays
    assert [one.streams[0].latency.mean_us for one in point.trials if one.streams[0].latency] == [50, 70]
    assert (whole.seconds, whole.problem) == (4.0, None)
    assert not all(verdict.met for verdict in whole.verdicts)


def test_the_round_in_the_middle_stands_for_all_with_their_spread() -> None:
    rounds = [case(throughput=[found(load_pps)]) for load_pps in (2e6, 1e6, 4e6)]
    (whole,) = combined(rounds, None).throughput
    assert (whole.load_pps, whole.load_min_pps, whole.load_max_pps, whole.repeats) == (2e6, 1e6, 4e6, 3)


@pytest.mark.parametrize("bound", ["lab_bound", "tester_bound"])
def test_a_round_that_is_a_bound_makes_the_median_one_only_from_its_middle(bound: str) -> None:
    for rates, is_bound in (((2e6, 1e6, 4e6), False), ((4e6, 1e6, 4e6), True), ((1e6, 4e6), True)):
        rounds = [found(pps).model_copy(update={bound: pps == 4e6}) for pps in rates]
        (whole,) = combined([case(throughput=[one]) for one in rounds], None).throughput
        assert (whole.at_least, getattr(whole, bound)) == (is_bound, is_bound)


def test_limits_of_a_load_that_no_round_could_measure_are_still_there_when_rounds_are_judged_again() -> None:
    lost = none_found("Too noisy.").model_copy(update={"goal": "PDR"})
    rounds = [case(trial(50)).model_copy(update={"throughput": [lost]}) for _ in range(2)]
    loads = [rounds[0].delays[0].load, "50% PDR"]
    sla = Sla.model_validate({"loss_ratio": 0.5})
    whole = combined(rounds, sla, loads)
    again = combined(rounds_of(whole), sla, loads)
    assert again.verdicts == whole.verdicts
    assert [one.load for one in again.verdicts if one.outcome == "not judged"] == ["50% PDR"]
    assert {one.why for one in again.verdicts if one.why} == {"PDR: Too noisy."}


def test_rounds_of_which_most_found_no_rate_are_irregular_and_say_what_the_others_found() -> None:
    lost = none_found("Even at 1,000 pps more was lost than the goal allows.")
    (whole,) = combined([case(throughput=[found(2e6)]), case(throughput=[lost])], None).throughput
    assert (whole.status, whole.load_pps) == ("irregular", None)
    assert whole.why == (
        "1 of 2 rounds found no rate (the others: 2,000,000 pps): "
        "Even at 1,000 pps more was lost than the goal allows."
    )
    assert [(one.round, one.load_pps) for one in whole.rounds] == [(0, 2e6)]


def test_a_round_that_could_not_be_measured_takes_nothing_from_one_that_found_a_rate() -> None:
    lost = none_found("The time limit came first.", unmeasured=True)
    for rounds in ([found(2e6), lost], [lost, found(2e6)]):
        (whole,) = combined([case(throughput=[one]) for one in rounds], None).throughput
        assert (whole.status, whole.load_pps) == ("found", 2e6)
        assert (whole.repeats, whole.searches) == (1, 2)
        assert whole.why == "1 of 2 rounds found no rate: The time limit came first."


def test_rounds_of_which_none_could_be_measured_are_irregular_with_their_own_reason() -> None:
    lost = none_found("The time limit came first.", unmeasured=True)
    (whole,) = combined([case(throughput=[lost]), case(throughput=[lost])], None).throughput
    assert (whole.status, whole.why) == ("irregular", "The time limit came first.")


@pytest.mark.parametrize(
    ("tried_pps", "too_much_pps"), [((1e5, 2e5), 2e5), ((1e5, None), None), ((None, None), None)]
)
def test_what_was_too_much_for_every_round_is_a_bound_of_all_and_else_there_is_none(
    tried_pps: tuple[float | None, ...], too_much_pps: float | None
) -> None:
    lost = none_found("Even at the lowest load more was lost than the goal allows.")
    rounds = [lost.model_copy(update={"upper_bound_pps": pps}) for pps in tried_pps]
    late = none_found("The time limit came first.", unmeasured=True)
    (whole,) = combined([case(throughput=[one]) for one in (*rounds, late)], None).throughput
    assert whole.upper_bound_pps == too_much_pps
    (whole,) = combined([case(throughput=[one]) for one in (*rounds, found(2e6))], None).throughput
    assert whole.upper_bound_pps is None


def none_found(why: str, *, unmeasured: bool = False) -> Throughput:
    return Throughput(
        goal="NDR", goal_loss_ratio=0, status="irregular", why=why, unmeasured=unmeasured, searches=1
    )


def found(load_pps: float) -> Throughput:
    return Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found",
        load_pps=load_pps,
        load_min_pps=load_pps,
        load_max_pps=load_pps,
        repeats=1,
        searches=1,
    )


def test_rounds_of_older_results_are_counted_from_the_first_and_those_of_now_say_which_they_are() -> None:
    older = [case(), case(problem=INTERRUPTED), case()]
    assert finished(older) == {0, 1}
    now = [case(round=2), case(round=0), case(round=4, problem=INTERRUPTED)]
    assert finished(now) == {0, 2}
    assert numbers([case(), *now, case()]) == [1, 2, 0, 4, 3]
    assert [one.round for one in rounds_of(combined(now, None))] == [2, 0, 4]


def test_a_repetition_that_was_interrupted_takes_nothing_from_a_case_that_had_all_its_rounds() -> None:
    unused: Any = None
    setup = Setup(technology="direct", chain="PVP", datapath="none")
    one = MeasuredSetup(unused, unused, setup, 1)
    again = case(round=2, problem=INTERRUPTED)
    one.rounds = {
        "64": [case(round=0), case(round=1), again],
        "128": [case(round=0), case(round=1, problem=INTERRUPTED)],  # it is one of two that were planned
        "256": [case(round=0), case(round=1)],
    }
    assert one.without_broken(planned=2) == ["64"]
    assert [each.round for each in one.rounds["64"]] == [0, 1]
    assert [each.problem for each in one.rounds["128"]] == [None, INTERRUPTED]
