# SPDX-License-Identifier: Apache-2.0
"""What this machine lacks for a lab, before anything is touched, and which host settings it can do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weir.base.error import FabricError
from weir.base.step import StepKind
from weir.base.topology import Topology
from weir.fabric import probe, sriov
from weir.fabric.built import native_version
from weir.fabric.host.cpus import nodes
from weir.fabric.host.tree import Tree
from weir.fabric.step_handlers import lacking
from weir.fabric.vm import lacking as machines_lacking
from weir.lab.lab import Lab, Program
from weir.lab.vm import VmOptions
from weir.plan import Step
from weir.plan.tuning import deployment_steps
from weir.results.result import HostSetting
from weir.technology import TECHNOLOGIES, TechnologyOptions
from weir.technology.descriptor import Need
from weir.technology.sriov import SrIovOptions

_INSTALL = "install it, or make it executable"
_OVS_PACKAGE = "openvswitch-switch-dpdk"
_NEEDS_OF_HOSTS = (Need("namespaces"), Need("link", "veth"), Need("packet-sockets"))
_OVS_PROGRAMS = ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovsdb-tool")


@dataclass(frozen=True)
class Refusal:
    """Why a technology cannot be built here, and how that can be mended."""

    missing: str
    fix: str


_NO_ROOT = Refusal(
    "building and measuring need root: for network namespaces, hugepages and the ports of weir-dp",
    "run it as root or with sudo; `weir validate`, `weir deploy --dry-run`, `weir inspect` and"
    " `weir report` need no root",
)


_NO_ROOT_TO_LOOK = Refusal(
    "looking into what is deployed needs root: nobody else may enter its network namespaces",
    "run it as root or with sudo; `weir inspect`, and `weir graph` of this user's own namespace, need no"
    " root",
)
_NO_ROOT_TO_VERIFY = Refusal(
    "verifying Weir's own cloud needs root: for the network namespaces, switches and instances of each case",
    "run it as root or with sudo; `weir verify --dry-run` says without root what would be run",
)


def require_root() -> None:
    """FabricError for a user who is not root: what needs root and what does not."""
    _require(_NO_ROOT)


def require_to_measure() -> None:
    """The same, for whoever measures chains; and FabricError without a weir-dp that starts, which each of
    them needs."""
    require_root()
    native_version("weir-dp")


def require_root_to_look() -> None:
    """The same, for whoever looks into what is deployed, or works in it."""
    _require(_NO_ROOT_TO_LOOK)


def require_root_to_verify() -> None:
    """The same, for whoever verifies a cloud that Weir builds for that."""
    _require(_NO_ROOT_TO_VERIFY)


def _require(refusal: Refusal) -> None:
    if os.geteuid() != 0:
        raise FabricError(refusal.missing, refusal.fix)


def check(
    technology: str,
    options: TechnologyOptions | None = None,
    *,
    machines: Sequence[VmOptions] = (),
    programs: Sequence[Program] = (),
    hosts: bool = False,
) -> Refusal | None:
    """None if the technology can be built here, with these virtual machines, functions that need these
    programs, or hosts at the ends. `options`: the lab's, of it."""
    if os.geteuid() != 0:
        return _NO_ROOT
    described = TECHNOLOGIES[technology]
    options = options or described.options()
    needs = (*described.needs(options), *(_NEEDS_OF_HOSTS if hosts else ()))
    refusals = (_lacking(need, options) for need in needs)
    refusal = next((one for one in refusals if one is not None), None)
    missing = None if refusal is not None else machines_lacking.lacking(machines, technology)
    if missing is not None:
        refusal = Refusal(*missing)
    return refusal or next((_not_installed(one) for one in programs if not _installed(one)), None)


def _installed(program: Program) -> bool:
    if program.module:
        return probe.has_module(program.module)
    place = str(Path(program.directory) / program.name) if "/" in program.name else program.name
    return any(shutil.which(one) is not None for one in (place, *program.or_else))


def _not_installed(program: Program) -> Refusal:
    if program.module:
        missing = f"this kernel has no {program.module}, which function {program.function} needs"
        return Refusal(missing, f"load its {program.module} module, or another kernel")
    if "/" in program.name:
        missing = f"there is no program {program.name} in {program.directory}"
    else:
        missing = f"{' or '.join((program.name, *program.or_else))} not installed"
    package = program.package
    fix = f"install the Debian package {package}" if package else program.mend or _INSTALL
    return Refusal(f"{missing}, which function {program.function} needs", fix)


def _lacking(need: Need, options: TechnologyOptions) -> Refusal | None:
    if need.kind == "virtual-functions":
        return _virtual_functions(options)
    if need.kind == "openvswitch":
        return _programs()
    has, refusal = _PROBES[need.kind]
    return None if has(need.of) else Refusal(refusal.missing.format(need.of), refusal.fix.format(need.of))


def _virtual_functions(options: TechnologyOptions) -> Refusal | None:
    lacking = sriov.missing(sriov.SYSFS, options if isinstance(options, SrIovOptions) else SrIovOptions())
    if not lacking:
        return None
    return Refusal(
        "; ".join(lacking),
        "use a machine with an SR-IOV capable NIC, an IOMMU switched on, and the driver loaded",
    )


def _programs() -> Refusal | None:
    missing = [name for name in _OVS_PROGRAMS if shutil.which(name) is None]
    if not missing:
        return None
    return Refusal(f"{', '.join(missing)} not installed", f"install the Debian package {_OVS_PACKAGE}")


_PROBES: Mapping[str, tuple[Callable[[str], bool], Refusal]] = {
    "namespaces": (
        lambda _: probe.makes_namespaces(),
        Refusal(
            "root may not make network namespaces here",
            "run it outside of the container, or in one that has CAP_SYS_ADMIN and CAP_NET_ADMIN",
        ),
    ),
    "link": (
        lambda kind: bool(probe.makes(kind)),
        Refusal("this kernel makes no {} interfaces", "load its {} module, or another kernel"),
    ),
    "packet-sockets": (
        lambda _: probe.opens_packet_sockets(),
        Refusal("this kernel gives no AF_PACKET sockets", "load its af_packet module"),
    ),
    "bridge-netfilter": (
        lambda _: probe.bridge_netfilter(),
        Refusal(
            "bridged packets do not pass netfilter here, which the lab asks for",
            "load the br_netfilter module, or leave out technologies.linux-bridge.netfilter",
        ),
    ),
    "openvswitch-datapath": (
        lambda _: probe.ovs_datapath(),
        Refusal(
            "this kernel has no Open vSwitch datapath, which the lab asks for",
            "load its openvswitch module, or set technologies.ovs.datapath to auto",
        ),
    ),
    "cpus": (
        lambda least: len(os.sched_getaffinity(0)) >= int(least),
        Refusal(
            "the switch polls on a core of its own, and this process may use fewer than {} cores",
            "give it {} cores or more",
        ),
    ),
}
"""Of each kind of need: whether it is there, and what to say where it is not; {}: what the need is of."""


_KEYS: dict[str, StepKind] = {
    "isolation": "isolation",
    "interrupts": "interrupts",
    "governor": "governor",
    "rt": "rt-throttle",
}


@dataclass(frozen=True)
class Skipped:
    """A step that is wished for and cannot be done here."""

    step: Step
    why: str


def possible(steps: Sequence[Step]) -> tuple[list[Step], list[Skipped]]:
    """Steps to do, and those left out. A required one stays: doing it says what to mend."""
    skipped = []
    for step in steps:
        why = None if step.params.get("required") is not False else lacking(step)
        if why is not None:
            skipped.append(Skipped(step, why))
    left_out = [one.step for one in skipped]
    ordinary = any(step.kind == "rt-throttle" for step in left_out)
    done = [_without_realtime(step) if ordinary else step for step in steps if step not in left_out]
    return done, skipped


def _without_realtime(step: Step) -> Step:
    """A loop under SCHED_FIFO needs what could not be done."""
    return step.model_copy(update={"params": {**step.params, "rt": False}}) if "rt" in step.params else step


def host_settings(
    lab: Lab, topology: Topology, *, memory: str, refused: Sequence[str]
) -> Iterator[HostSetting]:
    """Each key of `host`, and whether it holds for what was deployed. `memory`: as weir-dp says;
    `refused`: what the kernel kept as it was, a sentence for each step.
    """
    host = lab.host
    yield _setting("pinning", host.pinning, None if host.pinning else "")
    steps = {step.kind: step for step in deployment_steps(topology, lab)}
    why = {one.step.kind: one.why for one in possible(list(steps.values()))[1]}
    kept = {text.split(":")[0]: text for text in refused}
    for key, kind in _KEYS.items():
        step = steps.get(kind)
        partly = kept.get(step.text) if step is not None else None
        asked = getattr(host, key)
        yield _setting(key, asked, "" if step is None else why.get(kind), partly)
    huge = memory == "hugepages"
    yield _setting(
        "hugepages", host.hugepages, None if huge else "" if host.hugepages == "none" else "none free"
    )
    there = len([node for node in nodes(Tree()) if node.cpus])
    far = None if there > 1 else "one NUMA node: no memory is far away"
    yield _setting("numa", host.numa, "" if host.numa is None else far)
    options = lab.options(topology.technology)
    for number, key in enumerate(TECHNOLOGIES[topology.technology].cpu_options):
        chosen = topology.switch_cores if number == 0 else getattr(options, key)
        yield _setting(key, _listed(chosen), None if chosen else "")


def _setting(key: str, asked: object, why: str | None, partly: str | None = None) -> HostSetting:
    """`why` not: None where it was done, empty where nobody asked."""
    text = str(asked).lower() if isinstance(asked, bool) else None if asked is None else str(asked)
    return HostSetting(key=key, asked=text, applied=why is None, why=why or partly or None)


def _listed(cpus: Sequence[int] | None) -> str | None:
    return ",".join(map(str, cpus)) if cpus else None
