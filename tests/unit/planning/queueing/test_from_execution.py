# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.plan.test_execution import lab_of, of
from tests.unit.planning.test_cost_model import model_of
from weir.lab.execution import FULL_BURST
from weir.planning.model.capacity import budget_hz, predict
from weir.planning.model.fit import Parameters
from weir.planning.model.terms import core_terms
from weir.planning.queueing import execution_delay
from weir.planning.queueing.delay import execution_queues

MODEL = model_of(0.0)
LOADED = ("generator.left", "f1", "receiver.right")


def test_packets_pass_the_areas_of_a_pipeline_in_their_order() -> None:
    queues = {queue.name: queue for queue in execution_queues(MODEL, of(lab_of(architecture="pipeline")))}
    name, way = "generator.left", []
    while queues[name].then:
        way.append(name)
        [name] = queues[name].then
    assert [*way, name] == ["generator.left", "f1.nat", "f1.acl", "f1.l3fwd", "receiver.right"]
    assert queues["generator.left"].source
    assert queues["receiver.right"].sink


def test_a_queue_costs_what_the_model_says_of_a_burst_and_of_a_packet() -> None:
    execution = of(lab_of())
    hz = budget_hz(MODEL, execution, 0)
    lone, full = (
        core_terms(execution.with_fills({area.name: fill for area in execution.areas}), 0, MODEL.memory)
        for fill in (1 / FULL_BURST, 1.0)
    )
    queues = [queue for queue in execution_queues(MODEL, execution) if queue.name in LOADED]
    alone_us = sum(queue.service_us + queue.burst_us + queue.poll_us for queue in queues)
    shared_us = sum(queue.service_us + (queue.burst_us + queue.poll_us) / FULL_BURST for queue in queues)
    assert alone_us == pytest.approx(MODEL.parameters.value(lone) / hz * 1e6)
    assert shared_us == pytest.approx(MODEL.parameters.value(full) / hz * 1e6)


def test_a_lightly_loaded_core_works_more_for_each_packet() -> None:
    execution = of(lab_of())
    rate = predict(MODEL, execution).pps
    assert max(execution_delay(MODEL, execution, rate / 10).loads.values()) > 0.15


def test_a_model_that_knows_no_bursts_says_so() -> None:
    names = [name for name in MODEL.parameters.names if "short burst" not in name]
    kept = [MODEL.parameters.names.index(name) for name in names]
    older = replace(
        MODEL,
        parameters=Parameters(
            tuple(names),
            MODEL.parameters.cycles[kept],
            MODEL.parameters.covariance[kept][:, kept],
        ),
    )
    limits = execution_delay(older, of(lab_of()), 1e5).limits
    assert any("calibrate again" in limit for limit in limits)
    assert not any("calibrate again" in limit for limit in execution_delay(MODEL, of(lab_of()), 1e5).limits)


def test_more_load_is_more_delay_and_too_much_is_refused() -> None:
    execution = of(lab_of())
    full = predict(MODEL, execution).pps
    low, high = (execution_delay(MODEL, execution, share * full, "poisson") for share in (0.3, 0.9))
    assert low.p99_us < high.p99_us
    assert low.p50_us < low.p90_us < low.p99_us
    with pytest.raises(ValueError, match="would be full"):
        execution_delay(MODEL, execution, 1.1 * full)


def test_a_fast_path_that_no_trial_had_makes_no_delay_shorter() -> None:
    with_one, without = (
        execution_delay(MODEL, of(lab_of(fastpath=asked)), 1e6, "poisson") for asked in (True, False)
    )
    assert without.mean_us <= with_one.mean_us < 1.01 * without.mean_us  # its table takes memory
    assert with_one.loads[0] == pytest.approx(without.loads[0], rel=0.01)
