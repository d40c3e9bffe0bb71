# SPDX-License-Identifier: Apache-2.0
"""A stack of the local driver that stands: what of it is as planned, and what its servers say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir import fabric
from weir.base.cloud import NETWORK_NODE, OUTSIDE, CloudTopology, dhcp_name, router_name
from weir.fabric import process
from weir.fabric.cloud.interface import addresses_of
from weir.fabric.cloud.system import ssh
from weir.fabric.cloud.system.run import console
from weir.fabric.cloud.system.tree import intact, tree
from weir.fabric.function.control_group import ControlGroup
from weir.fabric.openvswitch import vsctl
from weir.lab.tenants_system import SystemOptions
from weir.plan.cloud.names import HOST_INTERFACE, INNER, OUTER, dhcp_port, ovs_directory
from weir.verify.driver import ACTIVE, Resource
from weir.verify.drivers.local_errors import cloud_errors

_SHORT_S = 30.0


class LocalStack:
    """A project that stands, with servers of these names in this order."""

    def __init__(
        self, deployment: fabric.Deployment, topology: CloudTopology, servers: Sequence[str], key: Path
    ) -> None:
        self._deployment = deployment
        self._topology = topology
        self._network = topology.tenant_networks[-1]
        self._servers = {name: self._network.instances[number] for number, name in enumerate(servers)}
        self._key = key

    def resources(self) -> Sequence[Resource]:
        """By what the kernel shows of it now."""
        with cloud_errors():
            self._deployment.require_alive()
        network, topology = self._network, self._topology
        router = topology.namespace(router_name(network))
        outer, inner = addresses_of(router, OUTER), addresses_of(router, INNER)
        dhcp = addresses_of(topology.namespace(dhcp_name(network)), HOST_INTERFACE)
        wanted = {network.external, *(one.floating for one in network.instances if one.floating)}
        made = [
            Resource("network", network.name, _is(self._tagged()), f"segment {network.segmentation_id}"),
            Resource("subnet", network.subnet, _is(network.dhcp in dhcp), "with a DHCP server"),
            Resource(
                "router",
                f"{network.router} to {network.external}",
                _is(network.router in inner and wanted <= set(outer)),
            ),
            Resource("image", tree().name, _is(intact(tree())), "busybox and dropbear of this host"),
            self._flavor(),
        ]
        processes = self._deployment.processes()
        for name, instance in self._servers.items():
            pid = processes.get(f"instance-system:{instance.name}")
            runs = pid is not None and process.alive(pid)
            own = addresses_of(topology.namespace(instance.name), HOST_INTERFACE)
            state = _is(runs and instance.address in own)
            made.append(Resource("server", name, state, f"{instance.address}, outside {instance.floating}"))
        return made

    def _flavor(self) -> Resource:
        limits = SystemOptions()
        name = f"{limits.memory_limit_mb} MB, {limits.processes} processes"
        without = list(dict.fromkeys(said for one in self._deployment.unlimited().values() for said in one))
        refused = ControlGroup().lacking({"cores": []})
        if refused is not None or without:
            return Resource("flavor", name, f"not kept to: {refused or 'no ' + ', no '.join(without)}")
        return Resource("flavor", name, ACTIVE, "by control groups")

    def _tagged(self) -> bool:
        """Whether its DHCP server's port is in it, as the switch of the network node says."""
        directory = self._deployment.run_dir / ovs_directory(NETWORK_NODE)
        said = vsctl(directory, "get", "Port", dhcp_port(self._network), "tag")
        return said.strip() == str(self._network.number)

    def run(self, server: str, command: str, within_s: float) -> str:
        """From the host outside, at the server's floating address."""
        instance = self._servers[server]
        assert instance.floating is not None
        with cloud_errors(server):
            return ssh.said(
                self._topology.namespace(OUTSIDE),
                instance.floating,
                command,
                private_key=self._key,
                marker=f"{self._deployment.id}/ssh",
                within_s=min(within_s, _SHORT_S),
            )

    def console(self, server: str) -> str:
        """All of it."""
        path = console(self._deployment.run_dir, self._servers[server].name)
        return path.read_text(encoding="utf-8", errors="replace")

    def address(self, server: str) -> str:
        """That DHCP gave it."""
        return self._servers[server].address


def _is(good: bool) -> str:
    return ACTIVE if good else "not as planned"
