# SPDX-License-Identifier: Apache-2.0
"""The ordered steps of a cloud: wires between the nodes, nodes, routers, instances, addresses.

Everything but processes and namespaces goes with its namespace, so that many tenants are gone quickly.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import (
    DATA,
    DATA_MTU_BYTES,
    NETWORK_NODE,
    OUTSIDE,
    SHARED,
    CloudNode,
    CloudTopology,
    Instance,
    Network,
    router_name,
)
from weir.base.step import Step
from weir.plan.cloud import names, switches
from weir.plan.cloud.data_plane import data_plane_steps
from weir.plan.cloud.dhcp import dhcp_host_steps, dhcp_server_step
from weir.plan.cloud.machines import machine_port_step, machine_ready_steps, machine_start_steps
from weir.plan.cloud.names import hosts_file, resolver_file
from weir.plan.cloud.parts import bridge, interface, routes, silent, wire
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.security import SECURITIES
from weir.plan.cloud.systems import system_steps
from weir.plan.cloud.tester import tester_steps
from weir.plan.function_steps import commands_step

_FILTERS_BRIDGED = [
    f"net.bridge.bridge-nf-call-{tables}" for tables in ("iptables", "ip6tables", "arptables")
]


def cloud_steps(topology: CloudTopology) -> list[Step]:
    """All of them."""
    return list(_steps(topology))


def _steps(topology: CloudTopology) -> Iterator[Step]:
    yield Step(
        kind="run-directory",
        name="run-directory",
        params={"deployment": topology.deployment, "lab": topology.lab},
        text="make the run directory",
        undo_text="remove the run directory",
    )
    yield from silent(topology.namespace(DATA))
    for node in topology.nodes:
        yield from _node(topology, node)
    wires = [node.name for node in topology.nodes]
    yield from bridge(topology.namespace(DATA), DATA, wires, DATA_MTU_BYTES)
    yield from _outside(topology)
    for node in topology.nodes:
        yield from switches.daemons(topology, node)
        yield switches.bridges(topology, node)
        if topology.isolation != "vlan":
            netns = topology.namespace(node.name)
            yield interface(netns, names.PHYSICAL, "", [f"{node.address}/24"], at=node.name, host=False)
    for tenant in topology.tenant_networks:
        yield from ROUTERS[topology.router].steps(topology, tenant)
    for network in topology.all_networks():
        yield from dhcp_host_steps(topology, network)
        for instance in network.instances:
            yield from _instance(topology, network, instance)
    for node in topology.compute_nodes():
        yield from SECURITIES[topology.security].node_steps(topology, node)
    for node in topology.nodes:
        if topology.networks_at(node.name):
            yield switches.ports(topology, node)
        yield from switches.all_flows(topology, node)
    for network in topology.all_networks():
        yield dhcp_server_step(topology, network)
    yield from machine_start_steps(topology)
    yield from _hosts(topology)
    yield from machine_ready_steps(topology)
    yield from _systems(topology)
    yield from tester_steps(topology)
    yield from data_plane_steps(topology)


def _node(topology: CloudTopology, node: CloudNode) -> Iterator[Step]:
    netns = topology.namespace(node.name)
    yield from silent(netns)
    bridged = SECURITIES[topology.security].bridged_netfilter
    wanted = int(bridged and node.name != NETWORK_NODE)
    yield Step(
        kind="sysctl",
        name=f"netfilter:{netns}",
        params={
            "netns": netns,
            "settings": [f"{key}={wanted if key.endswith('-iptables') else 0}" for key in _FILTERS_BRIDGED],
            "required": bool(wanted),
        },
        text=f"{'lead' if wanted else 'do not lead'} bridged packets through netfilter in {netns}",
        undo_text="",
    )
    yield wire(netns, names.DATA_INTERFACE, topology.namespace(DATA), node.name, DATA_MTU_BYTES)


def _outside(topology: CloudTopology) -> Iterator[Step]:
    netns, node = topology.namespace(OUTSIDE), topology.namespace(NETWORK_NODE)
    yield from silent(netns)
    yield wire(netns, names.HOST_INTERFACE, node, names.EXTERNAL_INTERFACE)
    length = topology.external.partition("/")[2]
    own = [f"{topology.outside}/{length}"]
    shared = topology.shared
    last = shared.functions[-1] if shared is not None else None
    back = [f"{one}/32 via {last.address}" for one in last.allowed] if last is not None else []
    yield interface(netns, names.HOST_INTERFACE, topology.outside_mac, own, at=OUTSIDE, routes=back)


def _instance(topology: CloudTopology, network: Network, instance: Instance) -> Iterator[Step]:
    if instance.machine is not None:
        yield machine_port_step(topology, network, instance)
    else:
        netns, node = topology.namespace(instance.name), topology.namespace(instance.node)
        yield from silent(netns, *(["net.ipv4.ip_forward=1"] if instance.forwards else []))
        yield wire(netns, names.HOST_INTERFACE, node, names.InstancePort.of(network, instance).tap)
        yield interface(netns, names.HOST_INTERFACE, instance.mac, [], at=instance.name)
    yield from SECURITIES[topology.security].instance_steps(topology, network, instance)


def _hosts(topology: CloudTopology) -> Iterator[Step]:
    """Instances get their addresses; then commands may run there."""
    every = topology.in_namespaces()
    yield Step(
        kind="dhcp-leases",
        name="dhcp-leases",
        params={
            "interface": names.HOST_INTERFACE,
            "namespaces": [topology.namespace(one.name) for _, one in every],
            "instances": [one.name for _, one in every],
            "expected": [f"{one.address}/{network.prefix_length} {one.gateway}" for network, one in every],
        },
        text=f"let {len(every)} instances get their addresses by DHCP",
        undo_text="",
    )
    for _, one in every:
        if one.routes:
            yield routes(topology.namespace(one.name), names.HOST_INTERFACE, one.routes, at=one.name)
    for _, one in every:
        if one.commands is not None:
            yield commands_step(
                topology.namespace(one.name),
                one.name,
                one.commands.lines,
                function=one.name,
                key="commands",
                directory=one.commands.directory,
                time_limit_s=one.commands.time_limit_s,
            )
    routers = [router_name(network) for network in topology.tenant_networks]
    hosts = [*(one.name for _, one in every), *routers, OUTSIDE]
    yield Step(
        kind="cloud-hosts",
        name="cloud-hosts",
        params={
            "namespaces": [topology.namespace(name) for name in hosts],
            "files": [hosts_file(network.name) for network in topology.all_networks()]
            + [hosts_file(OUTSIDE)],
            "names": ["\n".join(_names(network)) for network in topology.all_networks()]
            + ["\n".join(_floating(topology))],
            "resolver_file": resolver_file(),
        },
        text=f"let commands run in {len(hosts)} hosts",
        undo_text="end what runs in them",
    )


def _systems(topology: CloudTopology) -> Iterator[Step]:
    """In the instances that have one, when they have their addresses and names."""
    for network, instance in topology.all_instances():
        if instance.system is not None:
            yield from system_steps(topology, network, instance, instance.system)


def _names(network: Network) -> Iterator[str]:
    for one in network.instances:
        yield f"{one.address} {one.name}"
    yield f"{network.router} {OUTSIDE if network.name == SHARED else router_name(network)}"


def _floating(topology: CloudTopology) -> Iterator[str]:
    for network in topology.tenant_networks:
        yield f"{network.external} {router_name(network)}"
        for one in network.instances:
            if one.floating is not None:
                yield f"{one.floating} {one.name}"
