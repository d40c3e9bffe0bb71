# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to names and addresses."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

from weir.base.cloud import (
    NETWORK_NODE,
    SHARED,
    CloudNode,
    CloudTester,
    CloudTopology,
    FunctionCommands,
    Instance,
    InstanceSystem,
    Network,
    Rule,
    TenantNetwork,
)
from weir.base.node import Machine
from weir.base.topology import token_of
from weir.lab.tenants import Tenant, TenantFunction, TenantsFile
from weir.lab.tenants_measure import TenantsCores
from weir.plan.cloud.routers import ROUTERS
from weir.plan.topology import PlanError

FEWEST_CORES = 2
"""One on which the tester polls, and one for everything else."""
_NODES_NETWORK = ipaddress.IPv4Network("172.16.0.0/24")
_SEGMENTATION_IDS = {"vlan": 1000, "vxlan": 10_000, "gre": 10_000}
"""Numbers on the wire are others than the nodes' own, as in a cloud: what forgets to translate is seen."""


def cloud_topology(
    tenants: TenantsFile, deployment: str, core: int = 0, places: Sequence[int] = ()
) -> CloudTopology:
    """`deployment`: its id. `core`: where routers of weir-dp poll, if the file does not say. `places`: turns
    of the instances at the compute nodes, of each 0, 1 …; empty: one after the other.

    Addresses of a subnet: router, DHCP server, instances; outside: the host there,
    routers and floating ones, then what tenants share."""
    cloud = tenants.cloud
    outside = ipaddress.IPv4Network(cloud.external).hosts()
    there = str(next(outside))
    names = [NETWORK_NODE, *(f"compute{number}" for number in range(1, cloud.compute_nodes + 1))]
    segmentation_ids = _SEGMENTATION_IDS[cloud.isolation]
    turns = [names[1 + at % cloud.compute_nodes] for at in places or range(cloud.compute_nodes)]
    made = _Numbering(token_of(deployment), segmentation_ids, outside, cycle(turns))
    networks = tuple(
        made.network(name, number, one) for number, (name, one) in enumerate(tenants.all_tenants(), 1)
    )
    return CloudTopology(
        lab=tenants.name,
        deployment=deployment,
        security=cloud.security,
        isolation=cloud.isolation,
        external=cloud.external,
        outside=there,
        outside_mac=_mac(made.token, len(networks) + 1, _ROUTER),
        nodes=tuple(
            CloudNode(name=name, address=str(_NODES_NETWORK[number])) for number, name in enumerate(names, 1)
        ),
        tenant_networks=networks,
        shared=made.shared(tenants, there, networks) if cloud.functions else None,
        router=cloud.router,
        router_core=(tenants.cores.tester if tenants.cores.tester is not None else core)
        if ROUTERS[cloud.router].in_data_plane is not None
        else None,
    )


def measured_topology(tenants: TenantsFile, deployment: str, cpus: Sequence[int]) -> CloudTopology:
    """The same with a tester, on these CPUs of the machine. PlanError if they are too few, or not those that
    the file names."""
    topology = cloud_topology(tenants, deployment)
    sending = tenants.measured()
    empty = [one.name for one in topology.tenant_networks[:sending] if not one.hosts]
    if empty:
        raise PlanError(f"{empty[0]} has no instance that could send or receive; expected one or more")
    guests = [one for one in topology.tenant_networks[:sending] if one.hosts[0].machine is not None]
    if guests:
        raise PlanError(
            f"{guests[0].hosts[0].name} is a virtual machine, and the tester sends and takes packets at an"
            f" instance that is a namespace, each tenant's first one; expected vm.instances of"
            f" {guests[0].name} to be fewer than its instances"
        )
    senders = tuple(network.hosts[0].name for network in topology.tenant_networks[:sending])
    tester = cloud_tester(tenants.cores, cpus, senders)
    return with_tester(topology, tester.model_copy(update={"directions": tenants.tester.directions}))


def with_tester(topology: CloudTopology, tester: CloudTester) -> CloudTopology:
    """The same, measured."""
    return topology.model_copy(update={"tester": tester, "router_core": None})


def cloud_tester(cores: TenantsCores, cpus: Sequence[int], senders: tuple[str, ...]) -> CloudTester:
    """On these CPUs of the machine. PlanError if they are too few, or not those that the file names."""
    tester = cores.tester if cores.tester is not None else min(cpus)
    system = cores.system or tuple(cpu for cpu in sorted(cpus) if cpu != tester)
    missing = sorted({tester, *system} - set(cpus))
    if missing:
        raise PlanError(f"this machine gives no CPU {missing[0]}; expected cores of {sorted(cpus)}")
    if len({tester, *system}) < FEWEST_CORES:
        raise PlanError("a cloud is measured on two CPUs or more: one is the tester's, and there is no other")
    return CloudTester(core=tester, system_cores=system, senders=senders)


class _Place(NamedTuple):
    """Where functions are."""

    network: str
    number: int  # of the network
    first: int  # number of the first of them in it
    behind: Sequence[str]  # for whose addresses they forward
    router: str


@dataclass
class _Numbering:
    """What one network takes, the next one does not get."""

    token: str
    segmentation_ids: int  # the first one is one more
    outside: Iterator[ipaddress.IPv4Address]
    turn: Iterator[str]  # nodes

    def network(self, name: str, number: int, tenant: Tenant) -> TenantNetwork:
        """The tenant's."""
        inside = ipaddress.IPv4Network(tenant.subnet).hosts()
        router, dhcp = str(next(inside)), str(next(inside))
        external = str(next(self.outside))
        called = [*map(str, range(1, tenant.instances + 1)), *(one.name for one in tenant.functions)]
        addresses = [str(next(inside)) for _ in called]
        in_namespaces = tenant.instances - tenant.machines
        hosts, functions = addresses[: tenant.instances], addresses[tenant.instances :]
        # Everything goes from the hosts through each function in turn to the router, and back the same way.
        instances = tuple(
            Instance(
                name=f"{name}.{index}",
                number=index,
                node=next(self.turn),
                mac=_mac(self.token, number, index),
                address=address,
                floating=str(next(self.outside)) if index <= tenant.floating else None,
                gateway=(functions or [router])[0],
                allowed=(),
                routes=(),
                system=None if index > in_namespaces else _system(tenant),
                machine=_machine(tenant) if index > in_namespaces else None,
            )
            for index, address in enumerate(hosts, 1)
        )
        return TenantNetwork(
            name=name,
            number=number,
            segmentation_id=self.segmentation_ids + number,
            subnet=tenant.subnet,
            router=router,
            router_mac=_mac(self.token, number, _ROUTER),
            dhcp=dhcp,
            dhcp_mac=_mac(self.token, number, _DHCP),
            external=external,
            external_mac=_mac(self.token, number, _OUTER),
            shared=tenant.shared,
            ingress=tuple(
                Rule(protocol=one.protocol, ports=one.ports, source=one.source) for one in tenant.ingress
            ),
            instances=(
                *instances,
                *self._functions(
                    _Place(name, number, len(hosts) + 1, hosts, router), tenant.functions, functions
                ),
            ),
        )

    def shared(self, tenants: TenantsFile, router: str, networks: Sequence[TenantNetwork]) -> Network:
        """The external one, with what tenants share. `router`: the host outside."""
        dhcp = str(next(self.outside))
        number = len(networks) + 1
        addresses = [str(next(self.outside)) for _ in tenants.cloud.functions]
        behind = [address for one in networks if one.shared for address in outer_addresses(one)]
        return Network(
            name=SHARED,
            number=number,
            segmentation_id=self.segmentation_ids + number,
            subnet=tenants.cloud.external,
            router=router,
            router_mac=_mac(self.token, number, _ROUTER),
            dhcp=dhcp,
            dhcp_mac=_mac(self.token, number, _DHCP),
            ingress=(),
            instances=tuple(
                self._functions(_Place(SHARED, number, 1, behind, router), tenants.cloud.functions, addresses)
            ),
        )

    def _functions(
        self, place: _Place, functions: Sequence[TenantFunction], addresses: Sequence[str]
    ) -> Iterator[Instance]:
        """One behind the other. Back, the first one has those they forward for on its own link. The router is
        on every one's link: where it is an end, as the host outside is, the way there is through the others.
        """
        name, number, first, behind, router = place
        for index, (function, address) in enumerate(zip(functions, addresses, strict=True)):
            following = [*addresses[index + 1 :], router][0]
            back = [f"{one}/32 via {addresses[index - 1]}" for one in behind] if index else []
            on = [f"{router}/32 via {following}"] if name == SHARED and following != router else []
            yield Instance(
                name=f"{name}.{function.name}",
                number=first + index,
                node=next(self.turn),
                mac=_mac(self.token, number, first + index),
                address=address,
                floating=None,
                gateway=following,
                allowed=tuple(behind),
                routes=(*back, *on),
                forwards=True,
                commands=_commands(function),
            )


_ROUTER, _DHCP, _OUTER = 0xF1, 0xF2, 0xF3


def outer_addresses(network: TenantNetwork) -> list[str]:
    """By which the tenant is known outside: its router's, and its floating ones."""
    return [network.external, *(one.floating for one in network.instances if one.floating is not None)]


def _system(tenant: Tenant) -> InstanceSystem | None:
    wanted = tenant.system
    if wanted is None:
        return None
    return InstanceSystem(
        ssh_keys=wanted.ssh_keys or "",
        user_data=wanted.user_data or "",
        memory_limit_mb=wanted.memory_limit_mb,
        processes=wanted.processes,
    )


def _machine(tenant: Tenant) -> Machine | None:
    wanted = tenant.vm
    if wanted is None:
        return None
    return Machine(
        **wanted.model_dump(exclude={"instances"}),
        forwarder="host" if wanted.image is None else None,
        hugepages=False,
        queues=1,
    )


def _commands(function: TenantFunction) -> FunctionCommands | None:
    lines = tuple(one if isinstance(one, str) else shlex.join(one) for one in function.commands)
    if not lines:
        return None
    return FunctionCommands(
        lines=lines, directory=function.directory or "/", time_limit_s=function.commands_time_limit_s
    )


def _mac(token: str, network: int, number: int) -> str:
    """02:57 (locally administered, W), a byte of the deployment, two of the network, the number."""
    return f"02:57:{token[0:2]}:{network >> 8:02x}:{network & 0xFF:02x}:{number:02x}"
