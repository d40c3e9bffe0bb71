# SPDX-License-Identifier: Apache-2.0
"""A stream that answers another one, through functions of weir-dp: what comes back, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.polled_core import CORE
from tests.verbs import reset
from weir import plan
from weir.lab import Lab
from weir.protocol import DataPlaneClient
from weir.protocol.tester import DataPlaneTester
from weir.protocol.traffic_results import TrafficResult

from .wire import refused, started, stream

FLOWS = 100
PACKETS_PPS, RUN_S, DRAIN_S = 5000.0, 0.1, 0.3
NAT = {"nf": "nat", "options": {"external": "203.0.113.0/28"}}


@pytest.fixture
def empty(weir_dp: DataPlaneClient) -> Iterator[DataPlaneClient]:
    """Configured by the test alone."""
    yield weir_dp
    reset(weir_dp)


def standing(weir_dp: DataPlaneClient, function: Any, **traffic: Any) -> plan.Plan:
    """A lab of that function, which says nothing of translation, polling."""
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "answers",
            "chain": [["f"]],
            "technology": "direct",
            "functions": {"f": function},
            "technologies": {"direct": {"wire": "memory", "queue_size": 512}},
            "cores": {"tester": [CORE], "functions": [CORE]},
            "traffic": {"frames": ["128"], **traffic},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "answers-00000000")
    made = plan.Plan.of(topology, lab)
    weir_dp.configure(made.opened("/nowhere"))
    weir_dp.configure_traffic(made.streams["128"])
    weir_dp.start()
    return made


def loaded(weir_dp: DataPlaneClient) -> TrafficResult:
    return DataPlaneTester(weir_dp).run({0: PACKETS_PPS, 1: PACKETS_PPS}, RUN_S, DRAIN_S)


@pytest.mark.parametrize("distribution", ["uniform", "zipf"])
@pytest.mark.parametrize("l4", ["udp", "tcp"])
def test_every_packet_comes_back_through_a_nat_once_its_flows_are_learned(
    empty: DataPlaneClient, l4: str, distribution: str
) -> None:
    made = standing(empty, NAT, l4=l4, flows={"distribution": distribution})
    assert [stream.delivered for stream in loaded(empty).streams][1] == 0
    learned = DataPlaneTester(empty).learn(made.streams["128"])
    assert learned is not None
    assert (learned.flows, learned.arrived, learned.translated) == (FLOWS, FLOWS, FLOWS)
    result = loaded(empty)
    for one in result.streams:
        assert one.offered == one.delivered > 0
        assert one.frame_sample is not None
        assert one.frame_sample.sampled > 0 == one.frame_sample.changed
    assert all(one.foreign == one.malformed == 0 for one in result.receivers)


def test_a_lab_without_translation_has_no_stream_that_answers(empty: DataPlaneClient) -> None:
    made = standing(empty, {"nf": "l3fwd"})
    assert DataPlaneTester(empty).learn(made.streams["128"]) is None
    assert all(one.offered == one.delivered > 0 for one in loaded(empty).streams)


@pytest.mark.parametrize("answers", [64, -1, "0"])
def test_a_stream_answers_a_number(client: DataPlaneClient, answers: Any) -> None:
    error = refused(client, "traffic.configure", {"streams": [stream(answers=answers)]})
    assert error.where == "streams[0].answers"


def test_a_stream_that_arrives_elsewhere_cannot_be_answered(client: DataPlaneClient) -> None:
    streams = [stream(), stream(id=1, answers=0)]
    error = refused(client, "traffic.configure", {"streams": streams})
    assert error.where == "streams[1].answers"
    assert "stream 0 does not arrive at the port of stream 1" in str(error)


def test_nothing_can_be_learned_where_no_stream_answers(client: DataPlaneClient) -> None:
    started(client)
    run = {"duration_ns": 10**6, "rates_pps": {"0": 1000}, "learn": True}
    assert refused(client, "traffic.start", run).where == "learn"
