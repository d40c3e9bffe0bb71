# SPDX-License-Identifier: Apache-2.0
"""Weir's own tenants' networks and instances, on this host: what a case needs is a lab with tenants, which is
deployed for it and taken down after it.

A project is a tenant, a server an instance with a system of its own, an image the tree of files that this is
made of, a flavor the limits of its control group.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from weir import fabric, plan
from weir.base.cloud import CloudTopology
from weir.fabric.cloud.check import require_cloud
from weir.fabric.cloud.deployed import deployed_cloud
from weir.fabric.cloud.programs import require_programs
from weir.fabric.cloud.switch import userspace
from weir.fabric.cloud.system import ssh
from weir.fabric.cloud.system.tree import tree
from weir.fabric.openvswitch import call, version
from weir.lab.performance import Performance
from weir.lab.sut import SutFile
from weir.lab.tenants import Cloud, IngressRule, Tenant, TenantsFile
from weir.lab.tenants_system import SystemOptions
from weir.plan.cloud import cloud_steps, cloud_topology
from weir.plan.cloud.names import ovs_directory
from weir.results.result import Ceiling
from weir.verify.driver import (
    ChainWanted,
    HostsWanted,
    ServerWanted,
    Service,
    StackWanted,
)
from weir.verify.drivers.local_chain import PROJECT, LocalChain, LocalChains
from weir.verify.drivers.local_errors import Within, building, cloud_errors
from weir.verify.drivers.local_hosts import LocalHosts, cores
from weir.verify.drivers.local_stack import LocalStack

OTHER = "weir-other"
SSH_PORT = 22
SUBNET = "10.0.0.0/24"
_INGRESS = (
    IngressRule(protocol="tcp", ports=(SSH_PORT, SSH_PORT)),
    IngressRule(protocol="icmp"),
)


class LocalDriver:
    """`directory`: for keys and scripts; it is gone when the run is."""

    def __init__(self, sut: SutFile, directory: Path) -> None:
        self._sut = sut
        self._directory = directory
        self._chains = LocalChains(sut)

    @property
    def system(self) -> str:
        """As it is built."""
        local = self._sut.local
        nodes = f"{local.compute_nodes} compute {'node' if local.compute_nodes == 1 else 'nodes'}"
        return f"Weir's own cloud on this host: {nodes}, {local.isolation}, {local.security}"

    @property
    def fidelity(self) -> Sequence[str]:
        """What it is not."""
        datapath = "userspace" if userspace() else "kernel"
        return (
            "Servers are namespaces with a small system (busybox, dropbear), not virtual machines: nothing "
            "is said of a hypervisor, of images of other systems, or of how long those take to boot.",
            f"All nodes are network namespaces of this host. Open vSwitch {version()}, {datapath} datapath.",
            "There is no API between the case and the cloud: times are those of building, not of services.",
        )

    def require(self) -> None:
        """FabricError where such a cloud cannot stand."""
        topology = self._topology(StackWanted(servers=(ServerWanted("vm"),)))
        require_cloud(cloud_steps(topology), topology)
        ssh.require_ssh()
        tree()

    def services(self, within_s: float, built: ExitStack) -> Sequence[Service]:
        """Of a cloud that is built for it: each node's switch and its database, and a DHCP server."""
        standing = self._deployed(self._topology(StackWanted(), bare=[0]), within_s)
        deployment, topology = built.enter_context(standing)
        found = []
        for node in topology.nodes:
            directory = deployment.run_dir / ovs_directory(node.name)
            for name, socket in (("ovs-vswitchd", "vswitchd.ctl"), ("ovsdb-server", "ovsdb.ctl")):
                said = call(["ovs-appctl", "-t", str(directory / socket), "version"], directory)
                words = said.splitlines()[0].replace("(Open vSwitch) ", "")
                found.append(Service(f"{name} of {node.name}", f"{words} of {node.name}"))
        with cloud_errors():
            deployment.require_alive()
        (host,) = topology.tenant_networks[-1].instances
        found.append(Service("DHCP", f"dnsmasq gave out {host.address}"))  # or it would not stand
        return found

    @contextmanager
    def stack(self, wanted: StackWanted, within_s: float) -> Iterator[LocalStack]:
        """Each in a cloud of its own. No step of it begins after that time; one that has begun has a time-out
        of its own."""
        key = ssh.key(self._directory)
        with self._deployed(self._topology(wanted), within_s) as (deployment, topology):
            yield LocalStack(deployment, topology, [one.name for one in wanted.servers], key)

    def require_programs(self, programs: Mapping[str, str]) -> None:
        """FabricError names the packages: servers for programs have this host's files."""
        require_programs(programs)

    @contextmanager
    def hosts(self, wanted: HostsWanted) -> Iterator[LocalHosts]:
        """Instances without a system of their own, in which programs of this host run. CannotRunError where
        they would take more CPUs than it has."""
        on = cores(len(wanted.names), wanted.vcpus)
        topology = self._topology(StackWanted(), bare=[wanted.path.index(name) for name in wanted.names])
        with self._deployed(topology) as (deployment, _):
            yield LocalHosts(deployment, topology, wanted, on)

    def require_tester(self) -> None:
        """FabricError where it cannot stand."""
        self._chains.require_tester()

    def cannot_build(self, wanted: ChainWanted) -> str | None:
        """What a chain takes and is not there."""
        return self._chains.cannot_build(wanted)

    def chain_needs(self) -> Sequence[str]:
        """Nothing that is not seen before."""
        return ()

    def tester_alone(self, performance: Performance) -> Mapping[str, Ceiling]:
        """Measured once."""
        return self._chains.tester_alone(performance)

    def chain(self, wanted: ChainWanted, within_s: float) -> AbstractContextManager[LocalChain]:  # noqa: ARG002
        """In a cloud of its own, as a stack is."""
        return self._chains.chain(wanted)

    def _topology(self, wanted: StackWanted, *, bare: Sequence[int] = ()) -> CloudTopology:
        """With the servers' scripts, which know each other's addresses. `bare`: places of instances without
        a system, where there are no servers."""
        name = f"{self._sut.name[:20]}-verify"
        system = SystemOptions(
            ssh_keys=str(self._directory / "id_ed25519.pub"),
            user_data=str(self._directory / "user-data") if wanted.servers else None,
        )
        project = Tenant(
            name=PROJECT,
            instances=len(wanted.servers) or len(bare),
            floating=len(wanted.servers),
            subnet=SUBNET,
            ingress=_INGRESS,
            system=system if wanted.servers else None,
        )
        other = [Tenant(name=OTHER, subnet=SUBNET)] if wanted.new_project else []
        local = self._sut.local
        tenants = TenantsFile(
            weir=1,
            name=name,
            cloud=Cloud(
                compute_nodes=local.compute_nodes, security=local.security, isolation=local.isolation
            ),
            tenants=(*other, project),
        )
        topology = cloud_topology(tenants, plan.deployment_id(name, secrets.token_hex(4)), places=bare)
        script = self._directory / "user-data"
        script.write_text(_scripts(topology, wanted.servers))
        return topology

    @contextmanager
    def _deployed(
        self, topology: CloudTopology, within_s: float = math.inf
    ) -> Iterator[tuple[fabric.Deployment, CloudTopology]]:
        held, watch = ExitStack(), Within(within_s)
        with building(watch.clean_up_s):
            deployment = held.enter_context(deployed_cloud(cloud_steps(topology), topology, watch))
        try:
            yield deployment, topology
        finally:
            held.close()  # what a case finds is no error of the deployment's, of which logs would be kept


def _scripts(topology: CloudTopology, servers: Sequence[ServerWanted]) -> str:
    """One for all of them: each runs its own part."""
    network = topology.tenant_networks[-1]
    known = {one.name: network.instances[number].address for number, one in enumerate(servers)}
    parts = "".join(
        f"{network.instances[number].name.replace('.', '-')})\n{_filled(one.user_data, known)}\n;;\n"
        for number, one in enumerate(servers)
        if one.user_data
    )
    return f"#!/bin/sh\ncase $(hostname) in\n{parts}esac\n" if parts else ""


def _filled(script: str, known: Mapping[str, str]) -> str:
    for name, address in known.items():
        script = script.replace(f"{{{name}}}", address)
    return script
