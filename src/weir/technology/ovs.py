# SPDX-License-Identifier: Apache-2.0
"""`ovs`: Open vSwitch over veth pairs, with the kernel's datapath or the userspace one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from weir.base.step import Step
from weir.base.topology import Topology
from weir.technology import openvswitch
from weir.technology.descriptor import (
    Forwarding,
    KernelPortOptions,
    Need,
    NotModelledError,
    Technology,
    no_jumbo_on_af_xdp,
)
from weir.technology.kernel_links import namespaces, veth

_DATAPATHS = {"auto": "auto", "kernel": "kernel", "userspace": "netdev"}


class OvsOptions(KernelPortOptions):
    """Open vSwitch without DPDK."""

    datapath: Literal["auto", "kernel", "userspace"] = Field(
        default="auto", description="auto: the kernel's where this kernel has it, else userspace"
    )


def _steps(topology: Topology, options: OvsOptions) -> list[Step]:
    cores = list(topology.switch_cores)
    plan = [
        *namespaces(topology, with_switch=True),
        openvswitch.database(topology),
        openvswitch.vswitchd(topology, cores),
    ]
    for link in topology.links:
        plan.append(openvswitch.bridge(link, _DATAPATHS[options.datapath]))
        for port in (topology.port(link.left), topology.port(link.right)):
            plan += [veth(topology, port), openvswitch.system_port(link, port)]
    return plan


def _needs(options: OvsOptions) -> Iterator[Need]:
    yield Need("namespaces")
    yield Need("link", "veth")
    yield Need("packet-sockets")
    if options.datapath == "kernel":
        yield Need("openvswitch-datapath")
    yield Need("openvswitch")


def _forwarding(options: OvsOptions) -> Forwarding:
    if options.datapath == "auto":
        raise NotModelledError(
            "the cost model must know which datapath of Open vSwitch forwards, and `datapath: auto` leaves "
            "that to the machine; expected technologies: {ovs: {datapath: userspace}}, or kernel"
        )
    return Forwarding("sender", "openvswitch") if options.datapath == "kernel" else Forwarding("thread")


def _remarks(options: OvsOptions, datapath: str) -> Iterator[str]:
    if datapath.endswith("(userspace datapath)"):
        wanted = options.datapath == "userspace"
        yield f"{datapath}: {'as the lab asks' if wanted else 'this kernel has no Open vSwitch datapath'}."


TECHNOLOGY = Technology(
    name="ovs",
    options=OvsOptions,
    ends=lambda options: (options.port, options.port),
    switch="thread",
    steps=_steps,
    no_jumbo=no_jumbo_on_af_xdp,
    needs=lambda options: tuple(_needs(options)),
    no_interface=None,
    forwarding=_forwarding,
    remarks=lambda options, datapath: tuple(_remarks(options, datapath)),
    joins_hosts=True,
)
