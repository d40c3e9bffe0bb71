# SPDX-License-Identifier: Apache-2.0
"""A chain of instances in a cloud, with the tester outside at both its ends (PVP, PVVP): what tenants share
is the chain, on the external network, which nodes carry as one of their own. Pure.

The host outside has one interface, as a test host has one at a top-of-rack switch: what it sends goes to the
first instance, and what the last one forwards comes back to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.cloud import OUTSIDE, CloudTopology
from weir.lab.tenants import TenantsFile
from weir.lab.tenants_measure import DISCARD_PORT
from weir.plan.cloud.tester import FIRST_PORT, RECEIVER
from weir.plan.cloud.topology import cloud_tester, cloud_topology, with_tester
from weir.plan.streams import frame_size
from weir.plan.topology import PlanError
from weir.protocol.errors import refusing
from weir.protocol.traffic import FlowConfig, StreamConfig, Template, TrafficConfigure


def chain_topology(
    tenants: TenantsFile, deployment: str, cpus: Sequence[int], vcpus: int = 0
) -> CloudTopology:
    """Of `cloud.functions`, in their order; the first tenant's router is in whose name packets are sent, and
    stands by. `vcpus`: see CloudTester. PlanError as for clouds that are measured, and where there are fewer
    cores than vCPUs."""
    topology = cloud_topology(tenants, deployment)
    if topology.shared is None:
        raise PlanError("a chain needs an instance that forwards; expected cloud.functions")
    tester = cloud_tester(tenants.cores, cpus, (OUTSIDE,))
    if vcpus > len(tester.system_cores):
        raise PlanError(f"instances can have {len(tester.system_cores)} of this machine's cores, not {vcpus}")
    return with_tester(topology, tester.model_copy(update={"vcpus": vcpus}))


@refusing()
def chain_streams(topology: CloudTopology, frame: str, flows: int, seed: int) -> TrafficConfigure:
    """From outside through the chain and back, in one direction. The filters at its instances let in and out
    what is in the tenant's name."""
    shared, sent_as = topology.shared, topology.tenant_networks[0]
    assert shared is not None
    return TrafficConfigure(
        streams=(
            StreamConfig(
                id=0,
                port=OUTSIDE,
                to=RECEIVER,
                frame=frame_size(frame),
                template=Template(
                    src_mac=shared.router_mac,
                    dst_mac=shared.functions[0].mac,
                    src_ip=sent_as.external,
                    dst_ip=topology.outside,
                    src_port=FIRST_PORT,
                    dst_port=DISCARD_PORT,
                ),
                flows=FlowConfig(count=flows, seed=seed, vary=("src_port",)),
            ),
        )
    )
