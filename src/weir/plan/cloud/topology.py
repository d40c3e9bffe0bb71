# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to names and addresses."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from weir.base.cloud import (
    NETWORK_NODE,
    CloudNode,
    CloudTester,
    CloudTopology,
    FunctionCommands,
    Instance,
    Rule,
    TenantNetwork,
)
from weir.base.topology import token_of
from weir.lab.tenants import Tenant, TenantFunction, TenantsFile
from weir.plan.topology import PlanError

FEWEST_CORES = 2
"""One on which the tester polls, and one for everything else."""
_NODES_NETWORK = ipaddress.IPv4Network("172.16.0.0/24")
_SEGMENTS = {"vlan": 1000, "vxlan": 10_000, "gre": 10_000}
"""Numbers on the wire are others than the nodes' own, as in a cloud: what forgets to translate is seen."""


def cloud_topology(tenants: TenantsFile, deployment: str) -> CloudTopology:
    """`deployment`: its id. Addresses of a subnet: router, DHCP server, instances; outside: the host there,
    routers, floating ones."""
    cloud = tenants.cloud
    outside = ipaddress.IPv4Network(cloud.external).hosts()
    there = str(next(outside))
    names = [NETWORK_NODE, *(f"compute{number}" for number in range(1, cloud.compute_nodes + 1))]
    segments = _SEGMENTS[cloud.isolation]
    made = _Numbering(token_of(deployment), segments, outside, cycle(names[1:]))
    return CloudTopology(
        lab=tenants.name,
        deployment=deployment,
        security=cloud.security,
        isolation=cloud.isolation,
        external=cloud.external,
        outside=there,
        nodes=tuple(
            CloudNode(name=name, address=str(_NODES_NETWORK[number])) for number, name in enumerate(names, 1)
        ),
        networks=tuple(
            made.network(name, number, one) for number, (name, one) in enumerate(tenants.every(), 1)
        ),
    )


def measured_topology(tenants: TenantsFile, deployment: str, cpus: Sequence[int]) -> CloudTopology:
    """The same with a tester, on these CPUs of the machine. PlanError if they are too few, or not those that
    the file names."""
    topology = cloud_topology(tenants, deployment)
    tester = tenants.cores.tester if tenants.cores.tester is not None else min(cpus)
    system = tenants.cores.system or tuple(cpu for cpu in sorted(cpus) if cpu != tester)
    missing = sorted({tester, *system} - set(cpus))
    if missing:
        raise PlanError(f"this machine gives no CPU {missing[0]}; expected cores of {sorted(cpus)}")
    if len({tester, *system}) < FEWEST_CORES:
        raise PlanError("a cloud is measured on two CPUs or more: one is the tester's, and there is no other")
    senders = tuple(network.instances[0].name for network in topology.networks[: max(tenants.sending())])
    made = CloudTester(core=tester, system_cores=system, senders=senders)
    return topology.model_copy(update={"tester": made})


@dataclass
class _Numbering:
    """What one network takes, the next one does not get."""

    token: str
    segments: int  # the first one is one more
    outside: Iterator[ipaddress.IPv4Address]
    turn: Iterator[str]  # nodes

    def network(self, name: str, number: int, tenant: Tenant) -> TenantNetwork:
        """The tenant's."""
        inside = ipaddress.IPv4Network(tenant.subnet).hosts()
        router, dhcp = str(next(inside)), str(next(inside))
        external = str(next(self.outside))
        called = [*map(str, range(1, tenant.instances + 1)), *(one.name for one in tenant.functions)]
        addresses = [str(next(inside)) for _ in called]
        hosts, functions = addresses[: tenant.instances], addresses[tenant.instances :]
        commands = dict(zip(functions, map(_commands, tenant.functions), strict=True))
        # Everything goes from the hosts through each function in turn to the router, and back the same way.
        gateways = [(functions or [router])[0]] * len(hosts) + ([*functions[1:], router] if functions else [])
        instances = tuple(
            Instance(
                name=f"{name}.{own_name}",
                number=index,
                node=next(self.turn),
                mac=_mac(self.token, number, index),
                address=address,
                floating=str(next(self.outside)) if index <= tenant.floating else None,
                gateway=gateway,
                allowed=tuple(hosts) if address in functions else (),
                routes=tuple(_ways(hosts, functions, address)),
                commands=commands.get(address),
            )
            for index, (own_name, address, gateway) in enumerate(
                zip(called, addresses, gateways, strict=True), 1
            )
        )
        return TenantNetwork(
            name=name,
            number=number,
            segment=self.segments + number,
            subnet=tenant.subnet,
            router=router,
            router_mac=_mac(self.token, number, 0xF1),
            dhcp=dhcp,
            dhcp_mac=_mac(self.token, number, 0xF2),
            external=external,
            external_mac=_mac(self.token, number, 0xF3),
            ingress=tuple(
                Rule(protocol=one.protocol, ports=one.ports, source=one.source) for one in tenant.ingress
            ),
            instances=instances,
        )


def _commands(function: TenantFunction) -> FunctionCommands | None:
    lines = tuple(one if isinstance(one, str) else shlex.join(one) for one in function.commands)
    if not lines:
        return None
    return FunctionCommands(
        lines=lines, directory=function.directory or "/", time_limit_s=function.commands_time_limit_s
    )


def _ways(hosts: list[str], functions: list[str], address: str) -> Iterator[str]:
    """Back to the hosts, of the function with that address: the first one has them on its own link."""
    if address in functions[1:]:
        before = functions[functions.index(address) - 1]
        yield from (f"{host}/32 via {before}" for host in hosts)


def _mac(token: str, network: int, number: int) -> str:
    """02:57 (locally administered, W), a byte of the deployment, two of the network, the number."""
    return f"02:57:{token[0:2]}:{network >> 8:02x}:{network & 0xFF:02x}:{number:02x}"
