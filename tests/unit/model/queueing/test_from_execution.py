# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.unit.model.test_cost_model import model_of
from tests.unit.plan.test_execution import lab_of, of
from weir.model.capacity import predict
from weir.model.queueing import execution_delay
from weir.model.queueing.from_execution import execution_queues

MODEL = model_of(0.0)


def test_packets_pass_the_areas_of_a_pipeline_in_their_order() -> None:
    queues = {queue.name: queue for queue in execution_queues(MODEL, of(lab_of(architecture="pipeline")))}
    name, way = "generator.left", []
    while queues[name].then:
        way.append(name)
        [name] = queues[name].then
    assert [*way, name] == ["generator.left", "f1.nat", "f1.acl", "f1.l3fwd", "receiver.right"]
    assert queues["generator.left"].source
    assert queues["receiver.right"].sink


def test_work_of_the_queues_is_the_work_that_limits_the_rate() -> None:
    execution = of(lab_of())
    rate = predict(MODEL, execution)
    loads = execution_delay(MODEL, execution, rate.pps / 2).loads
    assert max(loads.values()) == pytest.approx(0.5)


def test_more_load_is_more_delay_and_too_much_is_refused() -> None:
    execution = of(lab_of())
    full = predict(MODEL, execution).pps
    low, high = (execution_delay(MODEL, execution, share * full, "poisson") for share in (0.3, 0.9))
    assert low.p99_us < high.p99_us
    assert low.p50_us < low.p90_us < low.p99_us
    with pytest.raises(ValueError, match="would be full"):
        execution_delay(MODEL, execution, 1.1 * full)
