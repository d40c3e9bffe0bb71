# SPDX-License-Identifier: Apache-2.0
"""A cloud that stands with its tester polling, for as long as somebody measures it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from weir import fabric
from weir.base.cloud import CloudTopology
from weir.base.error import FabricError
from weir.fabric import stop_signals
from weir.fabric.cloud.deployed import deployed_cloud
from weir.fabric.cloud.measured import MeasuredCloud
from weir.fabric.deployment import OnEvent, ignore
from weir.fabric.outside import TakenWatch
from weir.measure import SutCounters, Tester
from weir.measure.accounting import counted, lost_between
from weir.measure.preflight import where_dropped
from weir.plan import SOCKET
from weir.plan.cloud import cloud_steps
from weir.plan.cloud.data_plane import cloud_configuration
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.protocol.ledger import Hello
from weir.protocol.traffic import TrafficConfigure

_SEE = "see what its filters drop: `weir deploy` the lab, `weir exec` a ping there, and `weir inspect`"
_FIRST_PACKETS, _FIRST_S, _TRIES = 20.0, 0.25, 20
"""A second of each, and for how long: until the first way is known, packets wait or are lost."""


@dataclass(frozen=True)
class RunningCloud:
    """One that stands, with its tester polling."""

    topology: CloudTopology
    deployment: fabric.Deployment
    client: DataPlaneClient
    hello: Hello
    cloud: MeasuredCloud
    cores: TakenWatch
    bring_up_s: float


@contextmanager
def standing_cloud(
    topology: CloudTopology, first: TrafficConfigure, on_event: OnEvent = ignore, fix: str = _SEE
) -> Iterator[RunningCloud]:
    """Deployed, its tester configured and polling, its hosts knowing their neighbours; taken down after the
    body, however it ends. `first`: streams that all arrive then; where one does not, FabricError with `fix`.
    DataPlaneError."""
    began = time.monotonic()
    with deployed_cloud(cloud_steps(topology), topology, on_event) as deployment:
        cloud = MeasuredCloud(deployment, topology)
        with (
            stop_signals.allowed(),
            closing(cloud.core_watch()) as cores,
            polling(deployment, topology) as (client, hello),
        ):
            cloud.ask_gateways()
            first_packets(DataPlaneTester(client), cloud.counters, first, fix=fix)
            cloud.keep_neighbours()
            took_s = round(time.monotonic() - began, 3)
            yield RunningCloud(topology, deployment, client, hello, cloud, cores, took_s)


@contextmanager
def polling(
    deployment: fabric.Deployment, topology: CloudTopology
) -> Iterator[tuple[DataPlaneClient, Hello]]:
    """Its data plane has its ports and areas, and its loops poll: also after the body, which may ask it.
    DataPlaneError."""
    with DataPlaneClient(deployment.run_dir / SOCKET) as client:
        hello = client.hello()
        client.configure(cloud_configuration(topology))
        client.start()
        yield client, hello


def first_packets(
    tester: Tester, counters: SutCounters, config: TrafficConfigure, tries: int = _TRIES, fix: str = _SEE
) -> None:
    """A few of each stream, until some of each have arrived. FabricError that names a sender whose packets
    never do, and where they were lost; with `fix`."""
    tester.configure_traffic(config)
    lacking = {stream.id: stream for stream in config.streams}
    before = counted(tester.ledger(), counters())
    for _ in range(tries):
        rates_pps = dict.fromkeys((stream.id for stream in config.streams), _FIRST_PACKETS)
        for stream in tester.run(rates_pps, _FIRST_S, 1.0).streams:
            if stream.delivered:
                lacking.pop(stream.id, None)
        if not lacking:
            return
        stop_signals.check()
    lost = where_dropped(lost_between(before, counted(tester.ledger(), counters())))
    silent = next(iter(lacking.values()))
    raise FabricError(
        f"nothing that {silent.port} sends arrives at {silent.to}; lost were {lost}",
        fix,
    )
