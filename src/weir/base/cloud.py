# SPDX-License-Identifier: Apache-2.0
"""A cloud of tenants on one host: nodes, tenants' networks, instances, and the names of all they consist of.

Each node is a network namespace with an Open vSwitch of its own: `network` has the routers and DHCP servers,
`compute1` and `compute2` have the instances. They share a wire, on which `isolation` keeps networks apart.
"""

from __future__ import annotations

import ipaddress
from typing import Literal

from weir.base.node import Direction, Machine
from weir.base.record import FixedRecord
from weir.base.topology import namespace, token_of

Security = Literal["bridge-filter", "ovs-conntrack", "none"]
Isolation = Literal["vlan", "vxlan", "gre"]
Router = Literal["linux", "weir"]
NETWORK_NODE = "network"
DATA, OUTSIDE = "data", "outside"
SHARED = "shared"
"""The network of what tenants share: its functions are "shared.dpi", …"""
MTU_BYTES = 1500
"""Of instances."""
DATA_MTU_BYTES = 1600
"""Of the nodes' wire: room for a tunnel's headers, so that instances need no smaller MTU."""


class CloudNode(FixedRecord):
    """One node."""

    name: str
    address: str
    """On the nodes' wire, where tunnels end."""


class Rule(FixedRecord):
    """What a security group lets in."""

    protocol: Literal["any", "tcp", "udp", "icmp"]
    ports: tuple[int, int] | None
    source: str


class FunctionCommands(FixedRecord):
    """What is run in a function, once it has its address."""

    lines: tuple[str, ...]
    """Each split as a shell splits it; no shell runs it."""
    directory: str
    """Where they run."""
    time_limit_s: float
    """Of all together."""


class InstanceSystem(FixedRecord):
    """What runs in an instance from its start."""

    ssh_keys: str
    """File with public keys of those who may log in; empty: nobody may."""
    user_data: str
    """File with a script that is run once it is up; empty: none."""
    memory_limit_mb: int
    """Of all in it."""
    processes: int
    """At most."""


class Instance(FixedRecord):
    """A host of a tenant, which is a namespace with a TCP/IP stack, or a virtual machine; or a function that
    forwards for its hosts, a namespace too."""

    name: str
    """ "blue.1"; of a function "blue.dpi"."""
    number: int
    """In its network, from 1."""
    node: str
    mac: str
    address: str
    """That the DHCP server gives it."""
    floating: str | None
    """Outside; None: it has none."""
    gateway: str
    """By which it reaches everything outside its network: the router, or a function before it."""
    allowed: tuple[str, ...]
    """Of a function: the allowed-address pairs of its port. It may send packets from these addresses and to
    them, besides its own, and gets them."""
    routes: tuple[str, ...]
    """Of a function: the ways back to those addresses that lead through another one, as "10.0.0.3/32 via
    10.0.0.4"."""
    forwards: bool = False
    """It is a function, which forwards for hosts."""
    commands: FunctionCommands | None = None
    """Of a function; None: nothing is run in it."""
    system: InstanceSystem | None = None
    """None: it is a TCP/IP stack alone, in which commands of this host can be run."""
    machine: Machine | None = None
    """That it is; None: it is a namespace."""


class Network(FixedRecord):
    """One network: a segment with a DHCP server, instances, their security group, and a way out of it."""

    name: str
    number: int
    """From 1; the VLAN tag at the integration bridges, and the zone of connection tracking."""
    segmentation_id: int
    """On the nodes' wire: VLAN tag, VNI (RFC 7348) or GRE key (RFC 2890)."""
    subnet: str
    router: str
    """Address in the subnet of who leads out of it."""
    router_mac: str
    dhcp: str
    """Likewise the DHCP server's."""
    dhcp_mac: str
    ingress: tuple[Rule, ...]
    instances: tuple[Instance, ...]
    """Hosts, then functions in the order in which a packet to the outside meets them."""

    @property
    def functions(self) -> tuple[Instance, ...]:
        """Those that forward for the others."""
        return tuple(one for one in self.instances if one.forwards)

    @property
    def hosts(self) -> tuple[Instance, ...]:
        """Those that they forward for."""
        return tuple(one for one in self.instances if not one.forwards)

    @property
    def prefix_length(self) -> int:
        """Of the subnet."""
        return ipaddress.IPv4Network(self.subnet).prefixlen


class TenantNetwork(Network):
    """One tenant, of that name: its network with a router of its own."""

    external: str
    """The router's address outside."""
    external_mac: str
    shared: bool
    """Whether it reaches the host outside, and is reached, through the cloud's functions."""


class CloudTester(FixedRecord):
    """What sends from tenants' hosts and counts what arrives outside, or the other way: in a cloud that is
    measured."""

    core: int
    """On which it polls."""
    system_cores: tuple[int, ...]
    """Of everything else: switches, and what the kernel does with a packet once it has left a sender."""
    senders: tuple[str, ...]
    """An instance of each tenant, in the tenants' order. Or OUTSIDE alone: there it sends to the first of the
    functions that tenants share, and takes what comes back from the last."""
    directions: tuple[Direction, ...] = ("left-to-right",)
    """Left are these, right is the host outside. Each has a stream for each, one behind the other."""
    vcpus: int = 0
    """Of the system's cores, those that forward in each of these functions; 0: wherever the kernel does."""


class CloudTopology(FixedRecord):
    """What stands, or will."""

    lab: str
    deployment: str
    security: Security
    isolation: Isolation
    external: str
    """The network outside."""
    outside: str
    """Address of the host there, by which routers reach everything else."""
    outside_mac: str
    nodes: tuple[CloudNode, ...]
    """The network node first."""
    tenant_networks: tuple[TenantNetwork, ...]
    """One a tenant."""
    shared: Network | None
    """The network outside as one of the cloud's own (a provider network): its instances are the functions
    that tenants share, and the host outside is its router. None: nothing is shared."""
    tester: CloudTester | None = None
    """None: it is built to talk through, not to be measured."""
    router: Router = "linux"
    """What tenants' routers are."""
    router_core: int | None = None
    """Where those poll that are in weir-dp; None: there are none."""

    def namespace(self, name: str) -> str:
        """Of a node, an instance that is no virtual machine, a router ("blue.router"), a DHCP server
        ("blue.dhcp"), DATA or OUTSIDE."""
        return namespace(token_of(self.deployment), name)

    def node(self, name: str) -> CloudNode:
        """KeyError if there is none of that name."""
        return {one.name: one for one in self.nodes}[name]

    def compute_nodes(self) -> tuple[CloudNode, ...]:
        """Those with instances."""
        return self.nodes[1:]

    def all_networks(self) -> tuple[Network, ...]:
        """Every network with instances, by number: tenants', then what they share."""
        return self.tenant_networks if self.shared is None else (*self.tenant_networks, self.shared)

    def all_instances(self) -> list[tuple[Network, Instance]]:
        """All instances."""
        return [(of, one) for of in self.all_networks() for one in of.instances]

    def machines(self) -> list[tuple[Network, Instance, Machine]]:
        """Those that are virtual machines."""
        return [(of, one, one.machine) for of, one in self.all_instances() if one.machine is not None]

    def in_namespaces(self) -> list[tuple[Network, Instance]]:
        """The others."""
        return [(of, one) for of, one in self.all_instances() if one.machine is None]

    def instances_at(self, node: str) -> list[tuple[Network, Instance]]:
        """That node's."""
        return [(of, one) for of, one in self.all_instances() if one.node == node]

    def networks_at(self, node: str) -> list[Network]:
        """Those that the node has ports of."""
        if node == NETWORK_NODE:
            return list(self.all_networks())
        return [one for one in self.all_networks() if any(each.node == node for each in one.instances)]

    def shared_functions(self) -> tuple[str, ...]:
        """Names of those that tenants share."""
        return tuple(one.name for one in self.shared.functions) if self.shared is not None else ()

    def through(self, network: TenantNetwork) -> tuple[str, ...]:
        """Functions between its hosts and the outside, in order: "dpi", "shared.firewall"."""
        own = tuple(one.name.partition(".")[2] for one in network.functions)
        return own + (self.shared_functions() if network.shared else ())

    def way_out(self, network: TenantNetwork) -> str:
        """By whom its router reaches the host outside."""
        if self.shared is None or not network.shared:
            return self.outside
        return self.shared.functions[0].address

    def way_in_mac(self, network: TenantNetwork) -> str:
        """MAC address by which the host outside reaches its router: that one's, or of the last function that
        is shared."""
        if self.shared is None or not network.shared:
            return network.external_mac
        return self.shared.functions[-1].mac

    def working_cores(self) -> set[int]:
        """Of its own; where it is not measured there are none but those on which something polls."""
        polled = () if self.polling_core is None else (self.polling_core,)
        return {*polled, *self.outside_cores()}

    @property
    def polling_core(self) -> int | None:
        """Where weir-dp is; None: nothing of it is there."""
        return self.tester.core if self.tester is not None else self.router_core

    def outside_cores(self) -> tuple[int, ...]:
        """Those of what forwards outside weir-dp, where it is measured."""
        return self.tester.system_cores if self.tester is not None else ()

    def instance(self, name: str) -> tuple[Network, Instance]:
        """KeyError if there is none of that name."""
        return {one.name: (of, one) for of, one in self.all_instances()}[name]

    def hosts(self) -> dict[str, str]:
        """Who talks, and its addresses as text: instances, routers, the host outside."""
        found = {}
        for network in self.tenant_networks:
            for one in network.instances:
                found[one.name] = one.address + (f" (outside {one.floating})" if one.floating else "")
            found[router_name(network)] = f"{network.router}, {network.external}"
        if self.shared is not None:
            found |= {one.name: one.address for one in self.shared.instances}
        found[OUTSIDE] = self.outside
        return found


def router_name(network: Network) -> str:
    """Of a tenant's router."""
    return f"{network.name}.router"


def dhcp_name(network: Network) -> str:
    """Of its DHCP server."""
    return f"{network.name}.dhcp"
