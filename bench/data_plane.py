# SPDX-License-Identifier: Apache-2.0
"""weir-dp for the benches: a process of its own on one CPU, told what to do over its socket."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.private_data_plane import private_data_plane
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import ChainArea, Configure, PathConfig, PortConfig, StageConfig, TesterArea
from weir.protocol.ledger import Ledger
from weir.protocol.traffic import FlowConfig, FrameSize, StreamConfig, Template, TrafficConfigure
from weir.protocol.traffic_results import TrafficResult

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


def stream(port: str, *, frame_bytes: int, flows: int, to: str | None = None) -> TrafficConfigure:
    """One UDP stream that `port` sends, and nobody receives unless it is said who."""
    template = Template(
        src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", src_ip="198.18.0.1", dst_ip="198.19.0.1"
    )
    varied = FlowConfig(count=flows, vary=("src_ip", "dst_ip", "src_port", "dst_port"))
    made = StreamConfig(
        id=0,
        port=port,
        to=to,
        frame=FrameSize(bytes=frame_bytes),
        template=template,
        flows=varied if flows > 1 else None,
    )
    return TrafficConfigure(streams=(made,))


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
        Configure(
            ports=(PortConfig(name="out", devargs=devargs),),
            areas=(TesterArea(name="generator", core=core, kind="generator", port="out"),),
        )
    )
    client.configure_traffic(stream("out", frame_bytes=64, flows=flows))


def forwarder(core: int, *, ledger: bool) -> Configure:
    """l2fwd with mac-swap between the two directions of one null port."""
    stage = StageConfig(nf="l2fwd", options={"mode": "mac-swap"})
    path = PathConfig(name="through", in_="null", out="null", stages=(stage,))
    return Configure(
        ports=(PortConfig(name="null", devargs="net_null0"),),
        areas=(ChainArea(name="l2fwd", core=core, kind="chain", paths=(path,)),),
        ledger=ledger,
    )


def taker(core: int, devargs: str) -> Configure:
    """Whatever arrives at one port is taken and freed."""
    path = PathConfig(name="in", in_="in", stages=(StageConfig(nf="sink"),))
    return Configure(
        ports=(PortConfig(name="in", devargs=devargs),),
        areas=(ChainArea(name="taker", core=core, kind="chain", paths=(path,)),),
    )


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
