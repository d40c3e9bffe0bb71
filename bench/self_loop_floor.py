# SPDX-License-Identifier: Apache-2.0
"""self-loop-floor: the latency of the tester and its wire alone, on two cores, against what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.data_plane import sent, stream, weir_dp
from bench.pairs import Line, line
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.traffic import DelayWanted

CORES = (0, 1)
ALLOWED_NS = 2000.0
LOAD_PPS = 100_000.0
SECONDS = 0.5
REPEATS = 5
SOCKET = "/tmp/weir-self-loop.sock"
WIRES: Mapping[str, Sequence[dict[str, Any]]] = {
    "memory": [
        {"name": "left", "kind": "memory", "peer": "right"},
        {"name": "right", "kind": "memory", "peer": "left"},
    ],
    "virtio-user": [
        {"name": "right", "devargs": f"net_vhost0,iface={SOCKET},queues=1"},
        {
            "name": "left",
            "devargs": f"net_virtio_user0,path={SOCKET},queues=1,queue_size=1024,packed_vq=1,speed=100000",
        },
    ],
}


def run() -> Line:
    """What is allowed, by the median latency over the better wire: above 1 it is below."""
    found: dict[str, list[float]] = {}
    resolution_ns = 0.0
    for name, ports in WIRES.items():
        with weir_dp(*CORES) as client:
            resolution_ns = 1e9 / client.hello().tsc_hz
            configure(client, ports)
            found[name] = [p50_ns(client) for _ in range(REPEATS)]
    better = min(found, key=lambda name: min(found[name]))
    made = line(
        "self-loop-floor",
        [(ns, ALLOWED_NS) for ns in found[better]],
        target=1.0,
        unit="ns",
        less_is_better=True,
    )
    made.detail.update(wire=better, p50_ns=found, resolution_ns=resolution_ns)
    return made


def configure(
    client: DataPlaneClient, ports: Sequence[dict[str, Any]], cores: tuple[int, int] = CORES
) -> None:
    """A tester's two ends on these cores, and a wire between them."""
    client.configure(
        Configure.model_validate(
            {
                "ports": list(ports),
                "areas": [
                    {"name": "generator", "core": cores[0], "kind": "generator", "port": "left"},
                    {"name": "receiver", "core": cores[1], "kind": "receiver", "port": "right"},
                ],
            }
        )
    )
    client.configure_traffic(stream("left", frame_bytes=64, flows=1, to="right"))


def p50_ns(client: DataPlaneClient) -> float:
    """Of one trial at a light load."""
    client.start()
    client.start_traffic({0: LOAD_PPS}, round(SECONDS * 1e9), 10**8, DelayWanted(settle_ns=10**8))
    latency = sent(client).streams[0].latency
    assert latency is not None
    return latency.p50_ns
