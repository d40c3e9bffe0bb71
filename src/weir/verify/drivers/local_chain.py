# SPDX-License-Identifier: Apache-2.0
"""Chains of the local driver: instances of the external network in which Linux forwards, in a cloud that is
deployed for the case; the tester is at the host outside."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from weir import plan
from weir.base.cloud import CloudTopology
from weir.fabric.cloud.check import require_cloud
from weir.lab.frames import mean_frame_bytes
from weir.lab.performance import GENERIC, Performance
from weir.lab.sla import Sla
from weir.lab.sut import SutFile
from weir.lab.tenants import Cloud, Tenant, TenantFunction, TenantsFile
from weir.lab.tenants_measure import TenantsTraffic
from weir.measure import Traffic
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import OnChain
from weir.measure.tester import Stream
from weir.plan import PlanError
from weir.plan.cloud import cloud_steps
from weir.plan.cloud.chain import chain_streams, chain_topology
from weir.procedures.tenants.fidelity import fidelity
from weir.procedures.tenants.standing_cloud import RunningCloud, standing_cloud
from weir.protocol import DataPlaneTester
from weir.results.result import Ceiling
from weir.verify.driver import ChainWanted
from weir.verify.drivers.local_errors import Within, building, own_cores
from weir.verify.drivers.tester_alone import TesterAlone

PROJECT = "weir-project"
_SEE = (
    "see what `performance.instance_commands` make of its instances, and what filters by `local.security` and"
    " by the technique let through"
)
_LACKED: Mapping[str, str] = {
    "pinned": "its instances are namespaces, and have no processors of their own that could be pinned",
    "hugepages": "its instances are namespaces, and have no memory of their own",
    "ovs-dpdk": "its nodes' switches are Open vSwitch without DPDK (labs/switching measures that one)",
    "sr-iov": "its networks have no card whose functions instances could have",
}


class LocalChains:
    """Of one run: the tester alone is measured once, and the machine's best is of all its trials."""

    def __init__(self, sut: SutFile) -> None:
        self._sut = sut
        self._state = MachineState()
        self._alone = TesterAlone(self._state)

    def require_tester(self) -> None:
        """FabricError where weir-dp is not there, or somebody else has its cores. Where CPUs are too few,
        cases say so."""
        with suppress(PlanError):
            topology = self._topology(ChainWanted(1, GENERIC, 0, self._sut.performance))
            require_cloud(cloud_steps(topology), topology)
            with own_cores(topology):
                pass

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        """What this cloud, or this machine, has not."""
        for acceleration, why in _LACKED.items():
            if wanted.uses(acceleration):
                return f"Weir's own cloud has no {acceleration}: {why}"
        if wanted.uses("unfiltered") and wanted.uses("ovs-conntrack"):
            return "what is unfiltered is not filtered by ovs-conntrack either"
        try:
            self._topology(wanted)
        except PlanError as error:
            return str(error)
        return None

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        """Over sockets of the same kind."""
        one = ChainWanted(1, GENERIC, 0, performance)
        tester = self._topology(one).tester
        assert tester is not None
        return self._alone.measured(self._tenants(one).name, tester, performance)

    @contextmanager
    def chain(self, wanted: ChainWanted) -> Iterator[LocalChain]:
        """With cores that nobody else has meanwhile."""
        topology = self._topology(wanted)
        traffic = wanted.performance.traffic
        first = chain_streams(topology, str(traffic.frames[0]), traffic.flows[0], wanted.performance.seed)
        with ExitStack() as held:
            watch = Within()
            with building(watch.clean_up_s):
                held.enter_context(own_cores(topology))
                standing = held.enter_context(standing_cloud(topology, first, watch, _SEE))
            yield LocalChain(standing, wanted.performance, self._state)

    def _topology(self, wanted: ChainWanted) -> CloudTopology:
        tenants = self._tenants(wanted)
        cpus = sorted(os.sched_getaffinity(0))
        name = plan.deployment_id(tenants.name, secrets.token_hex(4))
        return chain_topology(tenants, name, cpus, wanted.vcpus)

    def _tenants(self, wanted: ChainWanted) -> TenantsFile:
        local, performance = self._sut.local, wanted.performance
        security = local.security
        if wanted.uses("unfiltered"):
            security = "none"
        if wanted.uses("ovs-conntrack"):
            security = "ovs-conntrack"
        functions = tuple(
            TenantFunction(name=f"vnf{number}", commands=performance.instance_commands)
            for number in range(1, wanted.instances + 1)
        )
        return TenantsFile(
            weir=1,
            name=f"{self._sut.name[:20]}-verify",
            cloud=Cloud(
                compute_nodes=local.compute_nodes,
                security=security,
                isolation=local.isolation,
                functions=functions,
            ),
            tenants=(Tenant(name=PROJECT, instances=0),),
            traffic=TenantsTraffic(flows=max(performance.traffic.flows)),
            cores=performance.cores,
        )


class LocalChain:
    """One that stands."""

    def __init__(self, on: RunningCloud, performance: Performance, state: MachineState) -> None:
        self._on = on
        self._performance = performance
        self._state = state

    @property
    def datapath(self) -> str:
        """Each node's."""
        return self._on.cloud.datapath()

    @property
    def fidelity(self) -> Sequence[str]:
        """Of one host with all nodes."""
        return fidelity(self._on.topology, self.datapath)

    @property
    def bring_up_s(self) -> float:
        """Until packets came through."""
        return self._on.bring_up_s

    def traffic(self, frame: str, flows: int) -> Traffic:
        """From the host outside back to it."""
        config = chain_streams(self._on.topology, frame, flows, self._performance.seed)
        streams = tuple(
            Stream(one.id, "left-to-right", one.port, one.to) for one in config.streams if one.to is not None
        )
        return Traffic(frame, mean_frame_bytes(frame), config, streams, flows)

    def measured(self, ceilings: Mapping[str, Ceiling], sla: Sla) -> OnChain:
        """By weir-dp, with the counters of every device on the way."""
        on = self._on
        return OnChain(
            DataPlaneTester(on.client, on.topology.outside_cores()),
            on.cloud.counters,
            lambda _event: None,
            ceilings,
            sla=sla,
            outside=on.cloud.watch(),
            watched=Watched(on.cores, self._state),
            failed=on.deployment.keep_logs,
        )
