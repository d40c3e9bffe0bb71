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
from weir.fabric.outside import TakenWatch
from weir.lab.tenants import TenantsFile
from weir.plan import SOCKET
from weir.plan.cloud import cloud_steps
from weir.plan.cloud.data_plane import cloud_configuration
from weir.plan.cloud.tester import tenant_streams
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.protocol.ledger import Hello

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
def standing_cloud(tenants: TenantsFile, topology: CloudTopology) -> Iterator[RunningCloud]:
    """Deployed, its tester configured and polling, its hosts knowing their neighbours; taken down after the
    body, however it ends. FabricError, DataPlaneError."""
    began = time.monotonic()
    with deployed_cloud(cloud_steps(topology), topology) as deployment:
        cloud = MeasuredCloud(deployment, topology)
        with (
            stop_signals.allowed(),
            closing(cloud.core_watch()) as cores,
            polling(deployment, topology) as (client, hello),
        ):
            cloud.ask_gateways()
            _first_packets(client, tenants, topology)
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


def _first_packets(client: DataPlaneClient, tenants: TenantsFile, topology: CloudTopology) -> None:
    """A few of every host that sends, until some of each have arrived. FabricError that names one whose
    packets never do."""
    assert topology.tester is not None
    senders = topology.tester.senders
    config = tenant_streams(topology, tenants, str(tenants.traffic.frames[0]), len(senders))
    tester = DataPlaneTester(client)
    tester.configure_traffic(config)
    lacking = dict(enumerate(senders))
    for _ in range(_TRIES):
        rates_pps = dict.fromkeys(range(len(senders)), _FIRST_PACKETS)
        for stream in tester.run(rates_pps, _FIRST_S, 1.0).streams:
            if stream.delivered:
                lacking.pop(stream.id, None)
        if not lacking:
            return
        stop_signals.check()
    raise FabricError(
        f"nothing that {next(iter(lacking.values()))} sends arrives outside",
        "see what its filters drop: `weir deploy` the lab, `weir exec` a ping there, and `weir inspect`",
    )
