# SPDX-License-Identifier: Apache-2.0
"""What is sent until a program forwards, and what of it says that it does."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from weir import fabric
from weir.base.node import Node
from weir.plan import Plan
from weir.procedures.awaited import wait_for_packets
from weir.protocol import DataPlaneClient
from weir.protocol.traffic import CaptureConfig, FrameSize, StreamConfig, Template, TrafficConfigure
from weir.protocol.traffic_results import StreamResult, TrafficResult

TEMPLATE = Template(
    src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", src_ip="198.18.0.1", dst_ip="198.19.0.1"
)


class Client:
    """Of a weir-dp through which as many frames arrive of each run as `arrive` tells of those sent."""

    is_empty = True
    log_hint = "its log"

    def __init__(self, *arrive: int) -> None:
        self._arrive = list(arrive)
        self.configured: list[TrafficConfigure] = []
        self.sent: list[int] = []

    def configure_traffic(self, config: TrafficConfigure) -> None:
        self.configured.append(config)

    def announce(self, _count: int) -> None: ...

    def wait(self, _seconds: float) -> None: ...

    def start_traffic(
        self, rates_pps: dict[int, float], duration_ns: int, _drain_ns: int, *_: Any, **__: Any
    ) -> int:
        self.sent.append(round(rates_pps[0] * duration_ns / 1e9))
        return len(self.sent)

    def traffic_result(self, _wait_ms: int) -> TrafficResult:
        sent = self.sent[-1]
        arrived = self._arrive[min(len(self.sent), len(self._arrive)) - 1]
        stream = StreamResult(id=0, intended=sent, offered=sent, tx_refused=0, delivered=arrived)
        return TrafficResult(run=len(self.sent), tx_duration_ns=1.0, streams=(stream,))


def waited(client: Client, capture: CaptureConfig | None, limit_s: float = 30.0) -> None:
    stream = StreamConfig(
        id=0,
        port="tester.left",
        to="tester.right",
        frame=FrameSize(bytes=64),
        template=TEMPLATE,
        pacing="recorded" if capture else "constant",
        capture=capture,
    )
    made = SimpleNamespace(streams={"a": TrafficConfigure(streams=(stream,))})
    deployment = SimpleNamespace(require_alive=lambda: None, run_dir=Path("/run/weir/none"))
    program = SimpleNamespace(ready_packets=True, ready_time_limit_s=limit_s)
    wait_for_packets(
        cast(DataPlaneClient, client),
        cast(fabric.Deployment, deployment),
        cast(Plan, made),
        [cast(Node, SimpleNamespace(name="f1", program=program))],
    )


def test_one_generated_packet_that_arrives_is_enough() -> None:
    client = Client(0, 0, 1)
    waited(client, None)
    assert client.sent == [1, 1, 1]


def test_of_a_capture_many_frames_are_tried_as_its_first_may_be_one_that_nobody_forwards() -> None:
    client = Client(0, 120)
    waited(client, CaptureConfig(path="office.pcap", stamp=True))
    assert client.sent == [500, 500]
    # By its own gaps it might send nothing for long.
    assert [one.pacing for config in client.configured for one in config.streams] == ["constant"]


def test_a_few_frames_without_a_stamp_may_be_the_kernels_own_and_say_nothing() -> None:
    client = Client(3, 1, 0, 480)
    waited(client, CaptureConfig(path="office.pcap"))
    assert len(client.sent) == 4
    few = Client(7)  # a rule lets only these through, and they add up
    waited(few, CaptureConfig(path="office.pcap"))
    assert len(few.sent) == 3
    with pytest.raises(fabric.FabricError, match=r"fewer than 20 of the frames .* at tester\.left"):
        waited(Client(3, 0), CaptureConfig(path="office.pcap"), limit_s=0.05)


def test_where_nothing_comes_in_time_it_is_said_through_which_program() -> None:
    with pytest.raises(fabric.FabricError, match=r"no packet that was sent at tester\.left came through f1"):
        waited(Client(0), None, limit_s=0.05)
