# SPDX-License-Identifier: Apache-2.0
"""From a lab to the topology of one chain under one technology; the tester alone, for its calibration; and
whom frames are addressed to in it."""

from __future__ import annotations

from pathlib import PurePosixPath

from weir.base.error import ChainError
from weir.base.node import (
    GUESTS,
    HOST_PORT,
    KERNEL_PORT_KINDS,
    PROGRAM_DIRECTORY,
    PROGRAM_PEERS,
    WITH_WORKERS,
    ContainerBundle,
    KernelFunction,
    Machine,
    Node,
    NodeNf,
    Offload,
    Port,
    PortKind,
    ProgramFunction,
    Side,
)
from weir.base.topology import Link, Topology, mac, namespace, token_of
from weir.lab.frames import untagged_max_bytes
from weir.lab.function import DEFAULT_FASTPATH_FLOWS, DEFAULT_STATE_CORES, DEFAULT_WORKERS, FunctionOptions
from weir.lab.kernel import ProgramOptions, words_of
from weir.lab.lab import Chain, Lab
from weir.lab.nf import network_functions
from weir.plan.spanning import SPAN_PORT, spanning
from weir.technology import TECHNOLOGIES, Technology

LOOPBACK = "loopback"
NETNS_DIRECTORY = "/run/netns"
_TESTER = "tester"
_SWAP = "mac-swap"


class PlanError(ChainError):
    """What the lab asks for cannot be planned as things are on this machine. Says what to do."""


def build_topology(lab: Lab, technology: str, chain: Chain, deployment: str) -> Topology:
    """Nodes, ports and links of `chain`, left to right. Pure: nothing is looked up on the machine."""
    token, described = token_of(deployment), TECHNOLOGIES[technology]
    cores = lab.cores_for(technology)
    tester_cores, function_cores = cores.tester or (), cores.functions or ()
    functions = []
    hosts = [lab.hosts.host_of(name) if lab.hosts is not None else "" for name in chain.functions]
    for index, name in enumerate(chain.functions):
        function, host = lab.functions[name], hosts[index]
        own = function.cores or _share(function_cores, hosts[:index].count(host), hosts.count(host))
        functions.append(_function(name, function, index, own, host))
    tester_host = lab.hosts.tester if lab.hosts is not None else ""
    tester = Node(name=_TESTER, role="tester", cores=tester_cores, host=tester_host)
    ends: list[tuple[Node, Node]] = list(zip([tester, *functions], [*functions, tester], strict=True))
    ports: list[Port] = []
    links = []
    kinds = described.ends(lab.options(technology))
    for index, (left, right) in enumerate(ends):
        # The right port of the left node meets the left port of the right node; the tester's sides are turned
        # outwards: its left side feeds the chain's left end.
        near: Side = "left" if left is tester else "right"
        far: Side = "right" if right is tester else "left"
        met = (_kind(described, left, kinds[0]), _kind(described, right, kinds[1]))
        if not described.network and left.host != right.host:
            met = (SPAN_PORT, SPAN_PORT)
        elif not described.network:  # weir-dp itself is at the other end of a program's socket
            met = (PROGRAM_PEERS.get(met[1], met[0]), PROGRAM_PEERS.get(met[0], met[1]))
        pair = (
            _port(lab, described, token, link=index, node=left, side=near, kind=met[0]),
            _port(lab, described, token, link=index, node=right, side=far, kind=met[1]),
        )
        ports.extend(pair if described.network else _at_one_socket(*pair))
        name = f"net{index}" if described.network else f"wire{index}"
        links.append(
            Link(index=index, name=name, network=described.network, left=pair[0].name, right=pair[1].name)
        )
    topology = Topology(
        lab=lab.name,
        deployment=deployment,
        technology=technology,
        chain=chain.name,
        nodes=(tester, *functions),
        ports=tuple(ports),
        links=tuple(links),
        switch_cores=_switch_cores(lab, technology),
        wire="physical" if described.physical else "virtual",
        frame_bytes_max=untagged_max_bytes(lab.traffic.frames, vlan=lab.traffic.vlan is not None),
        bridge_netfilter=getattr(lab.options(technology), "netfilter", None),
    )
    return topology if lab.hosts is None else spanning(topology, lab, lab.hosts)


def _at_one_socket(left: Port, right: Port) -> tuple[Port, Port]:
    """Ends of a wire: a program makes the socket where it may."""
    made = next((port.socket for port in (left, right) if port.kind in PROGRAM_PEERS), None)
    update = {"socket": made} if made is not None else {}
    return left.model_copy(update=update), right.model_copy(update=update)


def _share(cores: tuple[int, ...], index: int, count: int) -> tuple[int, ...]:
    """The cores of function `index` of `count`: its part of them, or one that it shares."""
    first, end = (at * len(cores) // count for at in (index, index + 1))
    return cores[first : max(end, first + 1)]


def _function(name: str, function: FunctionOptions, index: int, cores: tuple[int, ...], host: str) -> Node:
    nfs = function.nfs()
    machine, kernel, program = _machine(function), _kernel(function), _program(function)
    architecture = function.architecture
    workers = function.workers or DEFAULT_WORKERS
    flows = function.fastpath_flows or DEFAULT_FASTPATH_FLOWS
    return Node(
        name=f"f{index + 1}",
        role="function",
        function=name,
        host=host,
        nf=_title(function, machine, kernel, program),
        options=nfs[0].options if len(nfs) == 1 else {},
        cores=cores[:1] if architecture == "run-to-completion" and function.kind == "process" else cores,
        chain=tuple(NodeNf(nf=one.nf, options=one.options) for one in nfs),
        inbound=function.inbound(),
        both_ways=function.both_ways(),
        architecture=architecture,
        workers=workers if architecture in WITH_WORKERS else 1,
        state_cores=(function.state_cores or DEFAULT_STATE_CORES) if architecture == "separated" else 1,
        fastpath_flows=flows if function.fastpath else 0,
        offload=_offload(function),
        machine=machine,
        kernel=kernel,
        program=program,
    )


def _offload(function: FunctionOptions) -> Offload | None:
    options = function.offloaded()
    return Offload(**options.model_dump()) if options is not None else None


def _title(
    function: FunctionOptions,
    machine: Machine | None,
    kernel: KernelFunction | None,
    program: ProgramFunction | None,
) -> str | None:
    """Weir's own functions by their names, all else by what forwards."""
    if program is not None:
        started = program.command[0] if program.container is None else program.container.bundle
        return PurePosixPath(started).name
    if kernel is not None:
        return f"Linux as {'+'.join(one.nf for one in kernel.does)}" if kernel.does else "Linux"
    return "+".join(one.nf for one in function.nfs()) or (machine.title() if machine else None)


def _machine(function: FunctionOptions) -> Machine | None:
    options = function.machine()
    if options is None:
        return None
    return Machine(**options.model_dump(exclude={"forwarder"}), forwarder=function.forwards_by())


def _kernel(function: FunctionOptions) -> KernelFunction | None:
    options = function.namespaced()
    if options is None:
        return None
    return KernelFunction(
        addressing=options.addressing,
        does=tuple(NodeNf(nf=one.nf, options=one.options) for one in function.linux_as()),
        counterpart=options.counterpart,
        sysctls=options.sysctls,
        commands=tuple(words_of(command) for command in options.commands),
        commands_time_limit_s=options.commands_time_limit_s,
        directory=options.directory or ".",
        drop_counters=options.drop_counters,
        rps=options.rps,
    )


def _program(function: FunctionOptions) -> ProgramFunction | None:
    options, container = function.programmed(), function.container
    if options is None:
        return None
    said = options.model_dump(exclude={"command", "commands", "directory", "path"})
    return ProgramFunction(
        **said,
        container=ContainerBundle(**container.model_dump()) if container is not None else None,
        command=_words(options, in_container=container is not None),
        does=tuple(NodeNf(nf=one.nf, options=one.options) for one in function.stands_for()),
        commands=tuple(words_of(command) for command in options.commands),
        directory=options.directory or ".",
    )


def _words(options: ProgramOptions, *, in_container: bool) -> tuple[str, ...]:
    if options.command is None:
        return () if in_container else (options.started(),)
    return words_of(options.command)


def loopback(topology: Topology, deployment: str) -> Topology:
    """The tester of `topology` alone: its left side wired to its right side by ports of the same kind.

    Between kernel ports the wire is a veth pair without a bridge; virtual functions keep their network, which
    their card's own switch is. `deployment` must differ from that of `topology`.
    """
    token = token_of(deployment)
    first, last = topology.port("tester.left"), topology.port("tester.right")
    if topology.spans:  # where one end is at a device, that limits the tester
        first = last = next((port for port in (first, last) if port.netns is not None), first)
    sockets = ("virtio-user", "vhost", *PROGRAM_PEERS.values())
    virtio = first.kind in sockets or last.kind in sockets
    update = {"link": 0, "socket": "wire0.sock" if virtio else None}
    if first.netns is not None:
        update["netns"] = namespace(token, "t")
    left = first.model_copy(update={**update, "mac": mac(token, 0, "left"), **_named("left", first)})
    right = last.model_copy(update={**update, "mac": mac(token, 0, "right"), **_named("right", last)})
    if virtio:
        left = left.model_copy(update={"kind": "virtio-user"})
        right = right.model_copy(update={"kind": "vhost"})
    network = topology.wire == "physical"
    name = "net0" if network else "wire0"
    return topology.model_copy(
        update={
            "deployment": deployment,
            "chain": LOOPBACK,
            "nodes": (topology.nodes[0],),
            "ports": (left, right),
            "links": (Link(index=0, name=name, network=network, left=left.name, right=right.name),),
            "switch_cores": (),
            "bridge_netfilter": None,
            "host": "",
            "spans": (),
        }
    )


def _named(side: Side, like: Port) -> dict[str, str | None]:
    """The tester's port on that side, of the kind of another one."""
    interface = side if like.netns is not None else like.interface
    return {"name": f"{_TESTER}.{side}", "side": side, "interface": interface}


def _kind(described: Technology, node: Node, otherwise: PortKind) -> PortKind:
    """Of a node's port. ValueError for one that the technology does not join, which a lab is refused for."""
    if node.machine is not None:
        if described.machine_port is None:
            raise ValueError(f"{described.name} joins no virtual machines, and {node.name} is one")
        return described.machine_port
    if not node.in_namespace:
        return otherwise
    found = described.program_port(node.program.ports if node.program is not None else "interface")
    if found is None:
        raise ValueError(f"{described.name} joins no port of {node.name}: {described.no_interface}")
    return found


def _port(
    lab: Lab, described: Technology, token: str, *, link: int, node: Node, side: Side, kind: PortKind
) -> Port:
    number = 0 if node.role == "tester" else int(node.name[1:])
    name = f"{node.name}.{side}"
    netns: str | None = None
    interface: str | None = None
    socket: str | None = None
    if kind == "vm-tap":
        interface = name  # in the switch's namespace
    elif kind in KERNEL_PORT_KINDS or kind == "veth":
        netns = namespace(token, "t" if node.role == "tester" else node.name)
        interface = side
    elif kind == "vm-vhost-user":
        socket = f"{GUESTS}/{name}.sock"
    elif kind in PROGRAM_PEERS:
        socket = f"{PROGRAM_DIRECTORY.format(node.name)}/{side}.sock"
    elif kind in ("virtio-user", "vhost", "memif"):
        socket = f"{name}.sock" if described.network else f"wire{link}.sock"
    elif kind == "physical" and node.role == "tester" and lab.tester.ports is not None:
        interface = lab.tester.ports[0 if side == "left" else 1]
    return Port(
        name=name,
        node=node.name,
        side=side,
        mac=mac(token, number, side),
        kind=kind,
        link=link,
        netns=netns,
        interface=interface,
        socket=socket,
    )


def _switch_cores(lab: Lab, technology: str) -> tuple[int, ...]:
    """Where switching happens. What forwards on the core that sends is everywhere."""
    kind = TECHNOLOGIES[technology].switch
    if kind == "none":
        return ()
    return lab.polling_cpus(technology) if kind == "inline" else lab.cores_for(technology).switch or ()


def next_hop(topology: Topology, port: Port) -> Port:
    """The port at the other end of `port`'s link."""
    link = topology.links[port.link]
    return topology.port(link.right if port.name == link.left else link.left)


def station(topology: Topology, port: Port) -> Port:
    """Whom frames that leave by `port` are addressed to.

    The next hop. A host, unlike the tester, takes no frame that is another station's: where hosts are at the
    ends, it is the next port of a function that writes addresses, or the host's own.
    """
    hop = next_hop(topology, port)
    if not any(node.role == "hosts" for node in topology.nodes):
        return hop
    while hop.kind != HOST_PORT and not _writes(topology, hop):
        beyond = "right" if hop.side == "left" else "left"
        hop = next_hop(topology, topology.port(f"{hop.node}.{beyond}"))
    return hop


def swaps(one: NodeNf) -> bool:
    """Whether it exchanges the addresses of each frame."""
    mode = network_functions()[one.nf].option("mode")
    return one.options.get("mode", mode.default if mode else None) == _SWAP


def _writes(topology: Topology, port: Port) -> bool:
    node = next(one for one in topology.nodes if one.name == port.node)
    if node.kernel is not None and node.kernel.addressing == "routed":
        return True
    return any(
        network_functions()[one.nf].option("dst_mac") is not None and not swaps(one) for one in node.chain
    )
