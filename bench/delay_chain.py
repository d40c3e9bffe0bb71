# SPDX-License-Identifier: Apache-2.0
"""Tester, one `impair`, tester: on one CPU, joined by in-memory wires, to see what the instrument shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.data_plane import sent, stream
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.traffic import DelayWanted
from weir.protocol.traffic_results import TrafficResult

CORE = 1
LOAD_PPS = 1000.0
DRAIN_S = 0.1


def configure(client: DataPlaneClient, options: Mapping[str, Any], *, stall_threshold_us: int = 50) -> None:
    """The chain with these options of `impair`, and one stream through it."""
    wires = [("tester.left", "f.left"), ("f.right", "tester.right")]
    ports = [{"name": a, "kind": "memory", "peer": b} for pair in wires for a, b in (pair, pair[::-1])]
    path = {
        "name": "through",
        "in": "f.left",
        "out": "f.right",
        "stages": [{"nf": "impair", "options": dict(options)}],
    }
    client.configure(
        Configure.model_validate(
            {
                "ports": ports,
                "areas": [
                    {"name": "generator", "core": CORE, "kind": "generator", "port": "tester.left"},
                    {"name": "function", "core": CORE, "kind": "chain", "paths": [path]},
                    {"name": "receiver", "core": CORE, "kind": "receiver", "port": "tester.right"},
                ],
                "stall_threshold_us": {str(CORE): stall_threshold_us},
            }
        )
    )
    client.configure_traffic(stream("tester.left", frame_bytes=256, flows=1, to="tester.right"))


def start(client: DataPlaneClient, seconds: float, load_pps: float = LOAD_PPS) -> None:
    """Begins to send."""
    client.start()
    client.start_traffic(
        {0: load_pps}, round(seconds * 1e9), round(DRAIN_S * 1e9), DelayWanted(variation=True)
    )


def measured(client: DataPlaneClient, seconds: float, load_pps: float = LOAD_PPS) -> TrafficResult:
    """One run to its end."""
    start(client, seconds, load_pps)
    return sent(client)
