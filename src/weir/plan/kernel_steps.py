# SPDX-License-Identifier: Apache-2.0
"""Steps for functions that Linux does in a network namespace, once its interfaces are there.

Nothing but the tester's packets may come out of such a namespace: no duplicate address detection, no router
solicitations, no redirects, and the one report of multicast groups that IPv6 insists on (RFC 3810) at once,
before anybody measures.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from weir.base.node import KernelFunction, Node, Port, ProgramFunction
from weir.base.si import MS_PER_S
from weir.base.step import Param, Step
from weir.base.topology import Topology
from weir.lab.kernel import SIDES, filled
from weir.lab.lab import Lab
from weir.plan.function_addresses import VERSIONS, addresses, ends, prefixes
from weir.plan.function_steps import commands_step, control_group_step
from weir.plan.memory import memory_mb, program_memory_mb, programs_memory_mb, queue_size
from weir.plan.tuning import isolated_cpus
from weir.technology.kernel_links import silent_namespace

_PORTS = ("default", *SIDES)
_FORWARDING = [
    "net.ipv4.ip_forward=1",
    *(f"net.ipv4.conf.{one}.rp_filter=0" for one in ("all", *_PORTS)),
    *(f"net.ipv4.conf.{one}.send_redirects=0" for one in ("all", *_PORTS)),
    *(f"net.ipv4.conf.{one}.accept_redirects=0" for one in ("all", *_PORTS)),
    *(
        f"net.ipv6.conf.{one}.{setting}"
        for one in _PORTS
        for setting in (
            "accept_ra=0",
            "autoconf=0",
            "accept_dad=0",
            "dad_transmits=0",
            "router_solicitations=0",
            "addr_gen_mode=1",
            "mldv2_unsolicited_report_interval=1",
        )
    ),
    "net.ipv6.mld_qrv=1",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.all.disable_ipv6=0",
    *(f"net.ipv6.conf.{one}.disable_ipv6=0" for one in _PORTS),
]


def kernel_steps(topology: Topology, lab: Lab) -> list[Step]:
    """In order; none without such functions. PlanError if no routes can tell the tester's ends apart."""
    return [step for node in topology.namespaced() for step in _steps(topology, lab, node)]


def port_values(topology: Topology, lab: Lab, node: Node) -> dict[str, str]:
    """What the names in braces of its commands stand for (`weir.lab.kernel`)."""
    found: dict[str, str] = {}
    for side, tester in zip(SIDES, ends(lab.traffic, lab.traffic.ip), strict=True):
        port = topology.port(f"{node.name}.{side}")
        at = addresses(topology, port)
        own = {
            "name": port.interface or "",
            "mac": port.mac,
            "address": at.own[4],
            "address6": at.own[6],
            "gateway": at.gateway[4],
            "gateway6": at.gateway[6],
            "gateway_mac": at.gateway_mac,
            "tester": tester,
        }
        found |= {f"{side}.{name}": value for name, value in own.items()}
    return found


def _steps(topology: Topology, lab: Lab, node: Node) -> Iterator[Step]:
    kernel = node.kernel
    ports = [topology.port(f"{node.name}.{side}") for side in SIDES]
    netns = topology.namespace_of(node)
    if node.program is not None:
        yield from _program_steps(topology, lab, node, node.program, ports)
    if kernel is None:
        return
    routed = kernel.addressing == "routed"
    if routed:
        yield _settings(f"forwarding:{node.name}", netns, _FORWARDING, f"let Linux forward IP in {netns}")
    for port in ports:
        yield _port(topology, node, port, routed=routed)
    if routed:
        yield _routes(topology, lab, node, netns)
    if kernel.does:
        yield _counterparts(topology, lab, node, kernel, netns)
    if kernel.sysctls:
        own = [f"{key}={value}" for key, value in kernel.sysctls.items()]
        text = f"set {', '.join(own)} in {netns}"
        yield _settings(f"sysctls:{node.name}", netns, own, text, required=True)
    if kernel.commands:
        yield _commands(topology, lab, node, kernel, port_values(topology, lab, node))


def _settings(name: str, netns: str, settings: list[str], text: str, *, required: bool = False) -> Step:
    return Step(
        kind="sysctl",
        name=name,
        params={"netns": netns, "settings": settings, "required": required},
        text=text,
        undo_text="",
    )


def _port(topology: Topology, node: Node, port: Port, *, routed: bool) -> Step:
    own = [addresses(topology, port).own[version] for version in VERSIONS] if routed else []
    cores = list(node.cores) if node.kernel is not None and node.kernel.rps else []
    said = ["without offloads", *(f"with {one}" for one in own)]
    said += [f"received on core {', '.join(map(str, cores))}"] if cores else []
    return Step(
        kind="function-port",
        name=f"function-port:{port.name}",
        params={
            "node": node.name,
            "netns": port.netns or "",
            "interface": port.interface or "",
            "mac": port.mac,
            "addresses": own,
            "cores": cores,
        },
        text=f"make {port.interface} in {port.netns} {port.mac}, {', '.join(said)}",
        undo_text="",
    )


def _routes(topology: Topology, lab: Lab, node: Node, netns: str) -> Step:
    """Each route is "PREFIX via GATEWAY dev INTERFACE", each neighbour "GATEWAY lladdr MAC dev INTERFACE"."""
    routes, neighbours = [], []
    for version in VERSIONS:
        for side, covered in zip(SIDES, prefixes(lab.traffic, version), strict=True):
            port = topology.port(f"{node.name}.{side}")
            at = addresses(topology, port)
            neighbours.append(f"{at.gateway[version]} lladdr {at.gateway_mac} dev {port.interface}")
            routes += [f"{one} via {at.gateway[version]} dev {port.interface}" for one in covered]
    return Step(
        kind="static-routes",
        name=f"static-routes:{node.name}",
        params={"netns": netns, "routes": routes, "neighbours": neighbours},
        text=f"route in {netns}: {'; '.join(routes)}",
        undo_text="",
    )


def _counterparts(topology: Topology, lab: Lab, node: Node, kernel: KernelFunction, netns: str) -> Step:
    """`does`: a JSON object each, with `nf` and `options`; `values`: NAME=VALUE of `port_values`."""
    names = ", ".join(one.nf for one in kernel.does)
    by = f" by {kernel.counterpart}" if kernel.counterpart is not None else ""
    return Step(
        kind="counterparts",
        name=f"counterparts:{node.name}",
        params={
            "netns": netns,
            "node": node.name,
            "function": _function_name(topology, lab, node),
            "does": [one.model_dump_json() for one in kernel.does],
            "counterpart": kernel.counterpart or "",
            "values": [f"{key}={value}" for key, value in port_values(topology, lab, node).items()],
            "left_prefixes": _left_prefixes(lab),
            "directory": kernel.directory,
            "time_limit_ms": round(kernel.commands_time_limit_s * MS_PER_S),
        },
        text=f"set Linux up as {names}{by} in {netns}, from the options of Weir's",
        undo_text=f"end what is left of its programs in {netns}",
    )


def _left_prefixes(lab: Lab) -> list[str]:
    """What is at the left end, of both versions of IP."""
    return [str(one) for version in VERSIONS for one in prefixes(lab.traffic, version)[0]]


def _behind(topology: Topology, node: Node) -> Topology:
    """With the functions beyond that one alone, which come up after it."""
    return topology.model_copy(update={"nodes": topology.nodes[topology.nodes.index(node) + 1 :]})


def _started(program: ProgramFunction, values: Mapping[str, str]) -> str:
    if program.counterpart is None:
        words = shlex.join(filled(program.command, values))
        return (
            words if program.container is None else f"container {program.container.bundle} {words}".rstrip()
        )
    return f"{program.command[0]} as {program.does[0].nf}, set up from its options"


def _program_steps(
    topology: Topology, lab: Lab, node: Node, program: ProgramFunction, ports: list[Port]
) -> Iterator[Step]:
    netns = topology.namespace_of(node)
    if topology.by_socket(node):
        yield from silent_namespace(netns)  # in which nothing is but the program, and ends with it
    else:
        for port in ports:
            yield _port(topology, node, port, routed=False)
    cores = ",".join(map(str, node.cores))
    values = port_values(topology, lab, node)
    values |= {"cores": cores, "memory_mb": str(program.memory_mb), "file_prefix": node.name}
    yield control_group_step(
        node.name,
        netns,
        cores=node.cores,
        memory_limit_mb=program.memory_limit_mb or 0,
        processes=program.processes,
        contained=program.container is not None,
        isolated=isolated_cpus(lab, topology.technology),
    )
    files = _files(topology, lab, program, ports, values)
    if program.commands:
        yield _commands(topology, lab, node, program, values, files=files)
    where = f" on core {cores}" if cores else ""
    yield Step(
        kind="program",
        name=f"program:{node.name}",
        params={
            "netns": netns,
            "node": node.name,
            "function": _function_name(topology, lab, node),
            "command": filled(program.command, values),
            **files,
            "counterpart": program.counterpart or "",
            "does": program.does[0].model_dump_json() if program.does else "",
            "values": [f"{key}={value}" for key, value in values.items()],
            "left_prefixes": _left_prefixes(lab) if program.counterpart else [],
            "environment": filled([f"{key}={value}" for key, value in program.environment.items()], values),
            "directory": program.directory,
            "ready": program.ready or "",
            "ready_time_limit_ms": round(program.ready_time_limit_s * MS_PER_S),
            "stop_signal": program.stop_signal,
            "processes": program.processes,
            "stop_time_limit_ms": round(program.stop_time_limit_s * MS_PER_S),
            "output_mb": program.output_mb,
            "cores": list(node.cores),
            "ready_socket": filled([program.ready_socket or ""], values)[0],
            "waits_for_peer": _waits(topology, ports),
            "runtime": (program.container.runtime or "") if program.container is not None else "",
            "memory_mb": program_memory_mb(program),
            "huge": lab.host.hugepages != "none",
            "later_memory_mb": memory_mb(topology, lab) + programs_memory_mb(_behind(topology, node)),
        },
        text=f"start in {netns}{where}: {_started(program, values)}",
        undo_text=f"end it by {program.stop_signal}, and all else in {netns}",
    )


def _files(
    topology: Topology, lab: Lab, program: ProgramFunction, ports: list[Port], values: Mapping[str, str]
) -> dict[str, Param]:
    """What `weir.fabric.function.program_files` writes, and for whom."""
    return {
        "file_names": [*program.files],
        "file_texts": filled([*program.files.values()], values),
        "vdevs": [_vdev(topology, lab, port) for port in ports],
        "sockets": [port.socket or "" for port in ports],
        "user": program.user or "",
        "bundle": program.container.bundle if program.container is not None else "",
    }


def _vdev(topology: Topology, lab: Lab, port: Port) -> str:
    """What --vdev of a DPDK program makes the port of; {} stands for the path of its socket."""
    number, size = SIDES.index(port.side), queue_size(topology, lab, port)
    match port.kind:
        case "program-virtio-user":
            # The program makes the socket: so it may be there before its peer is, as every peer of ours may.
            own = f"queues=1,queue_size={size},packed_vq=1,speed=100000,mac={port.mac}"
            return f"net_virtio_user{number},path={{}},server=1,{own}"
        case "program-vhost-user":
            return f"net_vhost{number},iface={{}},queues=1"
        case "program-memif":
            own = f"rsize={size.bit_length() - 1},mac={port.mac}"
            return f"net_memif{number},role=server,id=0,socket={{}},socket-abstract=no,{own}"
    return f"net_af_packet{number},iface={port.interface}"


def _waits(topology: Topology, ports: list[Port]) -> bool:
    """Whether it comes up only when weir-dp has connected, which it does when all else is there: DPDK's
    virtio-user waits for its peer before anything else."""
    return any(port.kind == "program-virtio-user" and not topology.links[port.link].network for port in ports)


def _commands(
    topology: Topology,
    lab: Lab,
    node: Node,
    kernel: KernelFunction | ProgramFunction,
    values: Mapping[str, str],
    *,
    files: Mapping[str, Param] | None = None,
) -> Step:
    netns = topology.namespace_of(node)
    lines = [shlex.join(filled(command, values)) for command in kernel.commands]
    return commands_step(
        netns,
        node.name,
        lines,
        function=_function_name(topology, lab, node),
        key=f"{node.kind}.commands",
        directory=kernel.directory,
        time_limit_s=kernel.commands_time_limit_s,
        files=files,
    )


def _function_name(topology: Topology, lab: Lab, node: Node) -> str:
    """As the lab calls it."""
    chain = next(one for one in lab.chains() if one.name == topology.chain)
    return chain.functions[topology.functions().index(node)]
