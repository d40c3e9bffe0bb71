# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import huber

from tests.unit.planning.costly import HZ, MEMORY, TRUTH, chain, measured, true_pps
from weir.lab.execution import Execution
from weir.planning.model.capacity import CostModel, UnknownCostError, predict
from weir.planning.model.fit import HUBER, NOISE_CYCLES, NOISE_SHARE, PRIOR_CYCLES, Row, chosen, fit
from weir.planning.model.quality import calibrated, errors
from weir.planning.model.terms import core_terms, path_terms, state_bytes

TRIALS = [
    chain(("nat", "acl", "dpi", "l3fwd")),
    chain(("acl", "dpi", "l3fwd", "nat"), core=1),
    chain(("dpi", "l3fwd", "nat", "few"), flows=40_000),
    chain(("l3fwd", "nat", "few", "dpi"), core=1, flows=40_000),
    chain(("nat", "acl", "dpi", "l3fwd"), split=2),
    chain(("dpi", "few", "l3fwd", "nat"), core=0, split=1, flows=40_000),
    chain(("acl", "few"), flows=2000),
    chain(("l3fwd", "nat"), core=1, split=1),
]
HELD_OUT = [
    chain(names, core=core, flows=flows, split=split)
    for names in (("nat", "l3fwd"), ("acl", "nat"), ("dpi", "l3fwd", "acl"), ("l3fwd", "dpi", "nat"))
    for core, flows, split in ((0, 500, None), (1, 20_000, None), (0, 5000, 1))
]


def model_of(noise: float, seed: int = 1, hosts: tuple[float, ...] = (1.0,)) -> CostModel:
    draw = Random(seed)
    trials = [
        measured(one, number, draw, noise, hosts[number % len(hosts)]) for number, one in enumerate(TRIALS)
    ]
    return calibrated(trials, MEMORY, HZ)[0]


def error(model: CostModel, execution: Execution) -> float:
    return abs(predict(model, execution).pps / true_pps(execution) - 1)


def test_without_noise_every_held_out_rate_is_right() -> None:
    model = model_of(0.0)
    assert max(error(model, one) for one in HELD_OUT) < 0.01


def test_a_measurement_far_off_pulls_as_hubers_loss_says() -> None:
    cycles = np.array([100.0] * 9 + [150.0])
    noise = np.hypot(NOISE_SHARE * cycles, NOISE_CYCLES)

    def loss(value: float) -> float:
        return float(huber(HUBER, (cycles - value) / noise).sum() + (value / PRIOR_CYCLES) ** 2 / 2)

    found = fit([Row(1, {"generator": 1.0}, one) for one in cycles.tolist()]).parameters.cycles
    assert found == pytest.approx([minimize_scalar(loss, bounds=(100, 150)).x], abs=0.01)


def test_costs_that_trials_tell_apart_are_recovered() -> None:
    model = model_of(0.0)
    found = dict(zip(model.parameters.names, model.parameters.cycles, strict=True))
    for name in ("nf nat", "nf dpi", "nf l3fwd", "headers", "headers from another core"):
        assert found[name] == pytest.approx(TRUTH[name], rel=0.03)
    assert found["nf acl rules"] == pytest.approx(TRUTH["nf acl rules"], rel=0.05)
    assert found["nf dpi memory"] == pytest.approx(TRUTH["nf dpi memory"], rel=0.05)


def test_what_a_burst_costs_by_itself_is_recovered_from_light_loads() -> None:
    model = model_of(0.0)
    found = dict(zip(model.parameters.names, model.parameters.cycles, strict=True))
    for name in ("generator short burst", "nf dpi short burst", "short burst from another core"):
        assert found[name] == pytest.approx(TRUTH[name], rel=0.05)


@pytest.mark.long
def test_noise_of_three_percent_moves_held_out_rates_by_less() -> None:
    found = [error(model_of(0.03, seed), one) for seed in range(2) for one in HELD_OUT]
    assert float(np.mean(found)) < 0.02


def test_intervals_hold_as_often_as_they_say() -> None:
    held = []
    for seed in range(3):
        model, draw = model_of(0.03, seed), Random(seed + 100)
        for one in HELD_OUT:
            said, seen = predict(model, one), true_pps(one) * draw.gauss(1, 0.015)
            held.append(said.low_pps <= seen <= said.high_pps)
    assert float(np.mean(held)) >= 0.9


def test_a_host_that_is_slower_in_some_trials_does_not_spoil_the_costs() -> None:
    model = model_of(0.01, hosts=(1.0, 1.0, 1.25, 1.0))
    shape = [predict(model, one).pps / true_pps(one) for one in HELD_OUT]
    assert max(shape) / min(shape) < 1.06


def test_an_error_of_the_fit_alone_is_told_from_that_of_a_prediction() -> None:
    """Two set-ups with nothing in common tell nothing of each other; a second pair does."""
    alone = [chain(("nat", "l3fwd")), chain(("acl", "dpi"), core=1, flows=2000)]

    def fitted(executions: list[Execution]) -> list[bool]:
        draw = Random(1)
        trials = [measured(one, number, draw, 0.01) for number, one in enumerate(executions)]
        return [one.fitted for one in calibrated(trials, MEMORY, HZ)[2]]

    assert fitted(alone) == [True, True]
    assert fitted(TRIALS).count(False) > len(TRIALS) / 2


def test_one_wild_measurement_counts_little() -> None:
    rows = [Row(number, {"nf nat": 1.0}, 80.0 + number % 3) for number in range(12)]
    wild = fit([*rows, Row(12, {"nf nat": 1.0}, 400.0)]).parameters.value({"nf nat": 1.0})
    assert wild == pytest.approx(81.0, abs=4.0)


def test_two_costs_that_always_come_together_are_known_only_together() -> None:
    rows = [Row(number, {"take ring": 1.0, "give ring": 1.0}, 20.0) for number in range(6)]
    found = fit(rows).parameters
    assert found.deviation({"take ring": 1.0}) > 50
    assert found.deviation({"take ring": 1.0, "give ring": 1.0}) < 2
    assert found.value({"take ring": 1.0, "give ring": 1.0}) == pytest.approx(20, abs=0.5)


def test_nothing_measured_is_said() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        fit([])


def test_a_function_that_was_never_measured_is_named_with_those_that_were() -> None:
    model = model_of(0.0)
    draw = Random(1)
    small = calibrated([measured(chain(("nat", "l3fwd")), 0, draw, 0.0)], MEMORY, HZ)[0]
    with pytest.raises(UnknownCostError, match="no cost of dpi; it has l3fwd, nat"):
        predict(small, chain(("nat", "dpi")))
    assert predict(model, chain(("nat", "dpi"))).pps > 0


def test_what_lies_outside_of_the_trials_is_answered_and_said() -> None:
    said = predict(model_of(0.0), chain(("nat", "l3fwd"), flows=900_000))
    assert said.notices[0] == "Extrapolates: flows 900000, measured 64 to 40000."
    assert said.pps > 0


def test_the_core_that_is_full_is_named_with_its_dearest_area() -> None:
    said = predict(model_of(0.0), chain(("nat", "acl", "dpi", "l3fwd"), core=1))
    assert said.limited_by == "core 1: f1.0"
    by_core = {load.core: load.utilisation for load in said.cores}
    assert by_core[1] == pytest.approx(1.0)
    assert by_core[0] < 0.9


def test_the_sum_of_stage_costs_pays_for_headers_again_and_again() -> None:
    execution = chain(("nat", "acl", "dpi", "l3fwd"))
    said = predict(model_of(0.0), execution)
    assert said.naive_pps < 0.8 * true_pps(execution)


def test_memory_costs_more_the_more_state_the_functions_of_a_core_have_together() -> None:
    few, many = (core_terms(chain(("nat", "dpi"), flows=flows), 0, MEMORY) for flows in (64, 60_000))
    assert "nf nat memory" not in few or few["nf nat memory"] < many["nf nat memory"]
    alone = state_bytes(chain(("nat",), flows=1000), 0)
    assert state_bytes(chain(("nat", "dpi"), flows=1000), 0) == alone + 240 * 1000


def all_terms(one: Execution) -> Iterator[dict[str, float]]:
    for area in one.areas:
        for path in area.paths:
            stages, rest = path_terms(area, path, one, 10.0)
            yield from (*stages, rest)


def test_few_trials_are_chosen_and_tell_everything_that_is_wanted() -> None:
    rows = [list(all_terms(one)) for one in TRIALS]
    wanted = [core_terms(one, core, MEMORY) for one in TRIALS for core in one.cores()]
    names = set(itertools.chain.from_iterable(wanted))
    found = chosen(rows, [{n: t[n] for n in t if n in names} for t in wanted], 8, [range(len(rows))])
    assert len(found) == len(set(found)) <= 8
    told = {name for index in found for row in rows[index] for name in row}
    assert names - {name for name in names if name.endswith("memory")} <= told


def test_errors_are_shares_of_what_was_measured() -> None:
    found = errors([1.1, 0.9, 1.0], [1.0, 1.0, 1.0])
    assert found.mean == pytest.approx(0.2 / 3)
    assert found.worst == pytest.approx(0.1)
    assert found.bias == pytest.approx(0.0)


def test_cores_that_are_farther_from_each_other_carry_less() -> None:
    model = model_of(0.0)
    near = chain(("nat", "acl", "dpi"), core=1)
    far = replace(near, core_distance_cycles=3 * near.core_distance_cycles)
    assert predict(model, far).pps == pytest.approx(true_pps(far), rel=0.02)
    assert true_pps(far) < 0.8 * true_pps(near)
