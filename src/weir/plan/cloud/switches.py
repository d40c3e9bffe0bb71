# SPDX-License-Identifier: Apache-2.0
"""Steps for a node's Open vSwitch: the program, its bridges, the ports of tenants, and the flows."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import DATA_MTU_BYTES, NETWORK_NODE, CloudNode, CloudTopology
from weir.base.step import Step
from weir.plan.cloud import flows, names
from weir.plan.cloud.parts import LEARNT_S
from weir.plan.cloud.security import SECURITIES

_TO_EXTERNAL, _FROM_EXTERNAL = "int-br-ex", "phy-br-ex"
_OWN_TAG = 4095  # of br-int's own interface: in no network
DATAPATH = "{datapath}"
"""In an ovs-vsctl transaction: which one this machine has."""


def daemons(topology: CloudTopology, node: CloudNode) -> Iterator[Step]:
    """The node's ovsdb-server and ovs-vswitchd."""
    directory, netns = names.ovs_directory(node.name), topology.namespace(node.name)
    yield Step(
        kind="ovsdb-server",
        name=f"ovsdb-server:{node.name}",
        params={"netns": netns, "directory": directory},
        text=f"start a private ovsdb-server of {node.name} with an empty database",
        undo_text=f"end ovsdb-server of {node.name}",
    )
    yield Step(
        kind="ovs-vswitchd",
        name=f"ovs-vswitchd:{node.name}",
        params={
            "netns": netns,
            "directory": directory,
            "cores": list(topology.tester.system_cores) if topology.tester is not None else [],
            "dpdk": False,
            "pmd_cores": [],
            "lcores": [],
            "socket_memory_mb": 0,
        },
        text=f"start a private ovs-vswitchd of {node.name}",
        undo_text=f"end ovs-vswitchd of {node.name}",
    )


def bridges(topology: CloudTopology, node: CloudNode) -> Step:
    """All of the node, with the patches between them and the tunnels; before any port of a tenant."""
    commands = _bridge(names.INTEGRATION, secure=True)
    commands += [["set", "Port", names.INTEGRATION, f"tag={_OWN_TAG}"]]
    made = [names.INTEGRATION]
    if topology.isolation == "vlan":
        commands += _bridge(names.VLAN, secure=True)
        commands += [["add-port", names.VLAN, names.DATA_INTERFACE]]
        commands += _patch(names.INTEGRATION, names.TO_VLANS, names.VLAN, names.FROM_VLANS)
        made.append(names.VLAN)
    else:
        commands += _bridge(names.PHYSICAL, secure=False)
        commands += [["add-port", names.PHYSICAL, names.DATA_INTERFACE]]
        commands += [["set", "Interface", names.PHYSICAL, f"mtu_request={DATA_MTU_BYTES}"]]
        commands += _bridge(names.TUNNEL, secure=True)
        commands += _patch(names.INTEGRATION, names.TO_TUNNELS, names.TUNNEL, names.FROM_TUNNELS)
        commands += [
            each for other in topology.nodes if other != node for each in _tunnel(topology, node, other)
        ]
        made += [names.PHYSICAL, names.TUNNEL]
    if node.name == NETWORK_NODE:
        commands += _bridge(names.EXTERNAL, secure=False)
        commands += [["add-port", names.EXTERNAL, names.EXTERNAL_INTERFACE]]
        if topology.shared is not None:  # the network outside is then one of br-int's, too
            commands += _patch(names.INTEGRATION, _TO_EXTERNAL, names.EXTERNAL, _FROM_EXTERNAL)
            commands += [["set", "Port", _TO_EXTERNAL, f"tag={topology.shared.number}"]]
        made.append(names.EXTERNAL)
    return _transaction(node, "bridges", commands, f"make bridges {', '.join(made)} of {node.name}")


def _bridge(name: str, *, secure: bool) -> list[list[str]]:
    mode = "secure" if secure else "standalone"
    return [
        ["add-br", name],
        ["set", "Bridge", name, f"datapath_type={DATAPATH}", f"fail-mode={mode}"],
        ["set", "Bridge", name, "mcast_snooping_enable=false", "stp_enable=false"],
        ["set", "Bridge", name, f"other_config:mac-aging-time={LEARNT_S}"],
    ]


def _patch(bridge: str, port: str, other: str, other_port: str) -> list[list[str]]:
    return [
        each
        for here, own, peer in ((bridge, port, other_port), (other, other_port, port))
        for each in (
            ["add-port", here, own],
            ["set", "Interface", own, "type=patch", f"options:peer={peer}"],
        )
    ]


def _tunnel(topology: CloudTopology, node: CloudNode, other: CloudNode) -> Iterator[list[str]]:
    port = flows.tunnel_port(other)
    yield ["add-port", names.TUNNEL, port]
    ends = [f"options:local_ip={node.address}", f"options:remote_ip={other.address}", "options:key=flow"]
    yield ["set", "Interface", port, f"type={topology.isolation}", *ends]


def ports(topology: CloudTopology, node: CloudNode) -> Step:
    """Those of the tenants, whose interfaces are there, in one go."""
    commands = []
    if node.name == NETWORK_NODE:
        shared = topology.shared
        for network in topology.tenant_networks:
            inner, outer = names.inner_port(network), names.outer_port(network)
            commands.append(["add-port", names.INTEGRATION, inner, f"tag={network.number}"])
            if shared is None:
                commands.append(["add-port", names.EXTERNAL, outer])
            else:
                commands.append(["add-port", names.INTEGRATION, outer, f"tag={shared.number}"])
        commands += [
            ["add-port", names.INTEGRATION, names.dhcp_port(one), f"tag={one.number}"]
            for one in topology.networks_at(node.name)
        ]
    for of, instance in topology.instances_at(node.name):
        port = SECURITIES[topology.security].at_integration(names.InstancePort.of(of, instance))
        commands.append(["add-port", names.INTEGRATION, port, f"tag={of.number}"])
    text = f"attach {len(commands)} ports of tenants to the bridges of {node.name}"
    return _transaction(node, "ports", commands, text)


def _transaction(node: CloudNode, what: str, commands: list[list[str]], text: str) -> Step:
    words = [word for command in commands for word in ("--", *command)]
    return Step(
        kind="ovs-transaction",
        name=f"ovs-{what}:{node.name}",
        params={"directory": names.ovs_directory(node.name), "words": words},
        text=text,
        undo_text="",
    )


def all_flows(topology: CloudTopology, node: CloudNode) -> Iterator[Step]:
    """Of the node's bridges. Until then they forward nothing."""
    sets = {names.INTEGRATION: flows.integration_bridge(topology, node)}
    if topology.isolation == "vlan":
        sets[names.VLAN] = flows.vlan_bridge(topology, node)
    else:
        sets[names.TUNNEL] = flows.tunnel_bridge(topology, node)
    for bridge, rules in sets.items():
        listed = list(rules)
        yield Step(
            kind="openflow",
            name=f"openflow:{node.name}.{bridge}",
            params={"directory": names.ovs_directory(node.name), "bridge": bridge, "flows": listed},
            text=f"give {bridge} of {node.name} its {len(listed)} flows",
            undo_text="",
        )
