# SPDX-License-Identifier: Apache-2.0
"""What times arrivals, asked of a running weir-dp: no port of this machine has a card behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.verbs import reset
from tests.weir_dp_protocol import check_request
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure
from weir.protocol.ledger import PortTimestamps

from .wire import PORTS, area_of, refused, result, started

NULL = {"name": "left", "kind": "null"}


@pytest.fixture
def weir_dp_empty(weir_dp: DataPlaneClient) -> Iterator[DataPlaneClient]:
    yield weir_dp
    reset(weir_dp)


def clock_of(client: DataPlaneClient, port: dict[str, Any]) -> PortTimestamps:
    client.configure(Configure.model_validate({"ports": [port], "areas": [area_of("receiver", "left")]}))
    found = client.ledger().ports[0].timestamps
    assert found is not None
    return found


def test_arrivals_are_timed_by_the_counter_unless_more_is_asked(weir_dp_empty: DataPlaneClient) -> None:
    found = clock_of(weir_dp_empty, NULL)
    assert (found.clock, found.uncertainty_ns, found.why) == ("counter", 0, None)
    assert found.resolution_ns == pytest.approx(1e9 / weir_dp_empty.ledger().tsc_hz)


def test_a_driver_without_stamps_is_the_reason_for_the_counter(weir_dp_empty: DataPlaneClient) -> None:
    found = clock_of(weir_dp_empty, {**NULL, "timestamps": "auto"})
    assert (found.clock, found.driver) == ("counter", "net_null")
    assert found.why == "its driver offers no stamps on received packets"


@pytest.mark.parametrize(
    ("ports", "said"),
    [
        (
            [{**NULL, "timestamps": "hardware"}],
            "port left (driver net_null) has no hardware timestamps: "
            "its driver offers no stamps on received packets",
        ),
        (
            [{**port, "timestamps": "hardware"} for port in PORTS],
            "port left (driver memory) has no hardware timestamps: no network card is behind it",
        ),
    ],
    ids=["a driver", "a wire in memory"],
)
def test_hardware_timestamps_are_refused_with_port_driver_and_reason(
    weir_dp_empty: DataPlaneClient, ports: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(DataPlaneError) as caught:
        weir_dp_empty.configure(Configure.model_validate({"ports": ports, "areas": []}))
    assert (caught.value.code, caught.value.where) == ("port_failed", "left")
    assert said in str(caught.value)
    assert weir_dp_empty.ledger().ports == ()


def test_another_wish_is_refused_with_its_place(weir_dp_empty: DataPlaneClient) -> None:
    ports = [{**NULL, "timestamps": "ptp"}]
    error = refused(weir_dp_empty, "configure", {"ports": ports, "areas": []})
    assert (error.where, error.expected) == ("ports[0].timestamps", "counter, auto or hardware")
    with pytest.raises(jsonschema.ValidationError):
        check_request("configure", {"ports": ports})


def test_by_the_counter_every_packet_is_timed(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 10_000}, 10**7, 10**8)
    found = result(client)
    assert [(one.untimed, one.clock_steps) for one in found.receivers] == [(0, 0)]
    assert found.streams[0].latency.count == found.streams[0].delivered
