# SPDX-License-Identifier: Apache-2.0
"""A generator and a receiver at the two ends of an in-memory wire, and how tests of the traffic verbs ask."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.polled_core import CORE
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.traffic import TrafficConfigure

PORTS = [
    {"name": "left", "kind": "memory", "peer": "right"},
    {"name": "right", "kind": "memory", "peer": "left"},
]


def area_of(kind: str, port: str) -> dict[str, Any]:
    return {"name": f"{kind}-{port}", "core": CORE, "kind": kind, "port": port}


def stream(**changes: Any) -> dict[str, Any]:
    """A valid stream, or one with such changes; None leaves the key out."""
    whole = {
        "id": 0,
        "port": "left",
        "to": "right",
        "frame": {"bytes": 64},
        "template": {
            "src_mac": "02:00:00:00:00:01",
            "dst_mac": "02:00:00:00:00:02",
            "src_ip": "198.18.0.1",
            "dst_ip": "198.19.0.1",
        },
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def template(**changes: Any) -> dict[str, Any]:
    return {"template": {**stream()["template"], **changes}}


def started(client: DataPlaneClient, **changes: Any) -> None:
    client.configure_traffic(TrafficConfigure.model_validate({"streams": [stream(**changes)]}))
    client.start()


def result(client: DataPlaneClient) -> Any:
    deadline = time.monotonic() + 5
    while (found := client.traffic_result(100)) is None:
        assert time.monotonic() < deadline
    return found


def refused(client: DataPlaneClient, command: str, arguments: dict[str, Any]) -> DataPlaneError:
    with pytest.raises(DataPlaneError) as caught:
        client.call(command, arguments)
    assert caught.value.code == "bad_argument"
    return caught.value
