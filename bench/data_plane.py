# SPDX-License-Identifier: Apache-2.0
"""weir-dp for the benches: a process of its own on one CPU, told what to do over its socket."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from weir.fabric import private_data_plane
from weir.protocol import DataPlaneClient
from weir.protocol.messages import Ledger, TrafficResult

MEMORY_MB = 256
SETTLE_S = 0.05


@contextmanager
def weir_dp(*cores: int) -> Iterator[DataPlaneClient]:
    """A client of a weir-dp that polls on these CPUs; ended after the body."""
    with (
        private_data_plane(*cores, memory_mb=MEMORY_MB, huge=True) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        yield client


def stream(port: str, *, frame_bytes: int, flows: int) -> dict[str, Any]:
    """One UDP stream that `port` sends and nobody receives."""
    return {
        "id": 0,
        "port": port,
        "frame": {"bytes": frame_bytes},
        "template": {
            "ip": 4,
            "l4": "udp",
            "src_mac": "02:00:00:00:00:01",
            "dst_mac": "02:00:00:00:00:02",
            "src_ip": "198.18.0.1",
            "dst_ip": "198.19.0.1",
        },
        "flows": {"count": flows, "vary": ["src_ip", "dst_ip", "src_port", "dst_port"]},
    }


def send(client: DataPlaneClient, seconds: float) -> None:
    """Starts the configured stream, as fast as the core can, for so long."""
    client.start()
    client.start_traffic({0: 0}, int(seconds * 1e9), 0)


def sent(client: DataPlaneClient) -> TrafficResult:
    """What was sent, when it is over."""
    while (result := client.traffic_result(100)) is None:
        pass
    client.stop()
    return result


def offered_pps(client: DataPlaneClient, seconds: float) -> float:
    """The highest rate at which the configured stream is built and handed to its port."""
    send(client, seconds)
    time.sleep(seconds)
    result = sent(client)
    return sum(one.offered for one in result.streams) / (result.tx_duration_ns / 1e9)


def generator(client: DataPlaneClient, core: int, *, flows: int, devargs: str = "net_null0,no-rx=1") -> None:
    """A generator of 64-byte frames on a null port."""
    client.configure(
        {
            "ports": [{"name": "out", "devargs": devargs}],
            "areas": [{"name": "generator", "core": core, "kind": "generator", "port": "out"}],
        }
    )
    client.configure_traffic({"streams": [stream("out", frame_bytes=64, flows=flows)]})


def forwarder(core: int, *, ledger: bool) -> Mapping[str, Any]:
    """l2fwd with mac-swap between the two directions of one null port."""
    stage = {"nf": "l2fwd", "options": {"mode": "mac-swap"}}
    path = {"name": "through", "in": "null", "out": "null", "stages": [stage]}
    return {
        "ports": [{"name": "null", "devargs": "net_null0"}],
        "areas": [{"name": "l2fwd", "core": core, "kind": "chain", "paths": [path]}],
        "ledger": ledger,
    }


def taker(core: int, devargs: str) -> Mapping[str, Any]:
    """Whatever arrives at one port is taken and freed."""
    path = {"name": "in", "in": "in", "stages": [{"nf": "sink"}]}
    return {
        "ports": [{"name": "in", "devargs": devargs}],
        "areas": [{"name": "taker", "core": core, "kind": "chain", "paths": [path]}],
    }


def forwarded_pps(client: DataPlaneClient, seconds: float) -> float:
    """Packets a second that the configured null port sent, by its driver's own counter."""
    client.start()
    before, after = _two_ledgers(client, seconds)
    client.stop()
    return _pps(after.ports[0].tx_packets - before.ports[0].tx_packets, before, after)


@dataclass(frozen=True)
class Taken:
    """What a taker did: its rate, and the share of its core's time in polls that brought packets."""

    pps: float
    busy: float


def taken(client: DataPlaneClient, seconds: float) -> Taken:
    """Of a started taker."""
    before, after = _two_ledgers(client, seconds)
    busy_cycles = after.areas[0].busy_cycles - before.areas[0].busy_cycles
    return Taken(
        pps=_pps(after.ports[0].rx_packets - before.ports[0].rx_packets, before, after),
        busy=busy_cycles / (after.tsc - before.tsc),
    )


def _two_ledgers(client: DataPlaneClient, seconds: float) -> tuple[Ledger, Ledger]:
    time.sleep(SETTLE_S)
    before = client.ledger()
    time.sleep(seconds)
    return before, client.ledger()


def _pps(packets: int, before: Ledger, after: Ledger) -> float:
    return packets * after.tsc_hz / (after.tsc - before.tsc)
