# SPDX-License-Identifier: Apache-2.0
"""`linux-bridge`: a bridge of the kernel for each network, veth pairs and tap interfaces to it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from weir.base.node import ELSEWHERE
from weir.base.step import Step
from weir.base.topology import Link, Topology, switch_namespace, taps
from weir.technology.descriptor import (
    AGEING_S,
    Forwarding,
    KernelPortOptions,
    Need,
    Technology,
    no_jumbo_on_af_xdp,
)
from weir.technology.kernel_links import namespaces, span_step, tap, veth

# Of br_netfilter, for each network namespace its own; where that is loaded, a new namespace begins with 1.
_BRIDGE_HOOKS = [f"net.bridge.bridge-nf-call-{tables}" for tables in ("iptables", "ip6tables", "arptables")]


class LinuxBridgeOptions(KernelPortOptions):
    """The kernel's bridge, one for each network of the chain."""

    netfilter: bool = Field(
        default=False,
        description="whether bridged packets pass netfilter's hooks (br_netfilter), which costs time even "
        "without any rule; the host's own setting is left alone",
    )


def _steps(topology: Topology, options: LinuxBridgeOptions) -> list[Step]:
    """One two-port bridge for each link."""
    switch = switch_namespace(topology)
    plan = [*namespaces(topology, with_switch=True), _netfilter(topology, wanted=options.netfilter)]
    for link in topology.links_here():
        plan.append(
            Step(
                kind="bridge",
                name=f"bridge:{link.name}",
                params={
                    "netns": switch,
                    "bridge": link.name,
                    "ageing_s": AGEING_S,
                    "mtu_bytes": topology.frame_bytes_max,
                },
                text=f"make bridge {link.name} in {switch}, learning, without STP and multicast snooping",
                undo_text=f"delete bridge {link.name}",
            )
        )
        for port in (topology.port(link.left), topology.port(link.right)):
            if port.kind == ELSEWHERE:
                found = topology.span_here(link)
                assert found is not None
                plan += [span_step(topology, *found), _bridge_port(switch, link, found[1].interface)]
                continue
            if port.kind != "vm-tap":
                plan += [veth(topology, port), _bridge_port(switch, link, port.name)]
                continue
            names = taps(topology, port)
            for name in names:
                plan += [tap(topology, port, name), _bridge_port(switch, link, name, flooded=len(names) == 1)]
    return plan


def _bridge_port(switch: str, link: Link, name: str, *, flooded: bool = True) -> Step:
    how = "" if flooded else ", without packets for everybody or nobody"
    return Step(
        kind="bridge-port",
        name=f"bridge-port:{name}",
        params={"netns": switch, "bridge": link.name, "interface": name, "flooded": flooded},
        text=f"attach {name} to bridge {link.name}{how}",
        undo_text=f"detach {name} from {link.name}",
    )


def _netfilter(topology: Topology, *, wanted: bool) -> Step:
    """In the switch's namespace alone; said either way, so that a lab is the same on every host."""
    switch = switch_namespace(topology)
    return Step(
        kind="sysctl",
        name=f"netfilter:{switch}",
        params={"netns": switch, "settings": [f"{hook}={int(wanted)}" for hook in _BRIDGE_HOOKS]},
        text=f"{'lead' if wanted else 'do not lead'} bridged packets through netfilter in {switch}",
        undo_text="",
    )


def _needs(options: LinuxBridgeOptions) -> Iterator[Need]:
    yield Need("namespaces")
    yield Need("link", "veth")
    yield Need("link", "bridge")
    yield Need("packet-sockets")
    if options.netfilter:
        yield Need("bridge-netfilter")


TECHNOLOGY = Technology(
    name="linux-bridge",
    options=LinuxBridgeOptions,
    ends=lambda options: (options.port, options.port),
    switch="inline",
    steps=_steps,
    no_jumbo=no_jumbo_on_af_xdp,
    needs=lambda options: tuple(_needs(options)),
    no_interface=None,
    forwarding=lambda options: Forwarding("sender", "netfilter bridge" if options.netfilter else "bridge"),
    machine_port="vm-tap",
    functions_apart=True,
    joins_hosts=True,
    spans=True,
)
