# SPDX-License-Identifier: Apache-2.0
"""Labs that are well formed and yet impossible: found here, before anything is touched."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from weir.base.cores import cpus_text
from weir.base.node import STANDARD_FRAME_BYTES, is_jumbo
from weir.lab.complaint import Complaint, show
from weir.lab.frames import (
    IMIX_PREFIX,
    VLAN_TAG_BYTES,
    frame_sizes_bytes,
    max_frame_bytes,
    min_frame_bytes,
    untagged_max_bytes,
)
from weir.lab.function_check import function_complaints, n4_complaints
from weir.lab.goal_check import goals_named
from weir.lab.host_check import Nodes, host_complaints
from weir.lab.kind_check import kernel_lab_complaints
from weir.lab.lab import Lab
from weir.lab.nf import network_functions
from weir.lab.offload_check import offload_complaints
from weir.lab.problem import nearest
from weir.lab.source import KeyPath
from weir.lab.traffic import Traffic
from weir.lab.traffic_check import traffic_complaints
from weir.lab.vm_check import vm_technology_complaints
from weir.technology import TECHNOLOGIES

AREAS_MAX = 256  # WEIR_AREAS_MAX
TESTER_AREAS = 4
DPDK_MAX_PORTS = 32  # RTE_MAX_ETHPORTS of Debian's packages


def complaints(lab: Lab, cpus: Sequence[int] | None, nodes: Nodes | None = None) -> Iterator[Complaint]:
    """Everything impossible in `lab`, on a machine with these CPUs and nodes (None: whatever machine)."""
    yield from _frames(lab)
    yield from traffic_complaints(lab)
    yield from _ends(lab)
    yield from function_complaints(lab.functions)
    yield from n4_complaints(lab)
    yield from offload_complaints(lab)
    yield from _chains(lab)
    yield from _lengths(lab)
    yield from _areas(lab)
    yield from _technologies(lab)
    yield from vm_technology_complaints(lab)
    yield from kernel_lab_complaints(lab)
    yield from _cores(lab, cpus)
    yield from host_complaints(lab, cpus, nodes)
    if lab.hosts is not None:  # of most labs nothing, and loaded then alone
        from weir.lab.spanning_check import spanning_complaints

        yield from spanning_complaints(lab)
    yield from goals_named(lab)
    yield from _durations(lab)


def _frames(lab: Lab) -> Iterator[Complaint]:
    traffic = lab.traffic
    tagged = traffic.vlan is not None
    least, most = min_frame_bytes(traffic.ip, traffic.l4, tagged), max_frame_bytes(tagged)
    template = f"IPv{traffic.ip} and {traffic.l4.upper()}{' with a VLAN tag' if tagged else ''}"
    about: tuple[KeyPath, ...] = (("traffic", "ip"), ("traffic", "l4"), ("traffic", "vlan"))
    for index, frame in enumerate(traffic.frames):
        path: KeyPath = ("traffic", "frames", index)
        sizes_bytes = frame_sizes_bytes(frame)
        what = f"{frame} sends" if frame.startswith(IMIX_PREFIX) else "is"
        if min(sizes_bytes) < least:
            message = f"{what} a frame of {min(sizes_bytes)} bytes: too small for the stamp after {template}"
            yield Complaint(path, message, f"at least {least}", about=about)
        if max(sizes_bytes) > most:
            message = f"{what} a frame of {max(sizes_bytes)} bytes: larger than what Weir sends"
            yield Complaint(path, message, f"at most {most}", about=about)
        elif is_jumbo(untagged_max_bytes([frame], vlan=tagged)):
            yield from _jumbo(lab, path, f"{what} a jumbo frame, of {max(sizes_bytes)} bytes")
        if frame in traffic.frames[:index]:
            yield Complaint(
                path, f"names {frame} twice", "each frame size once", about=(("traffic", "frames"),)
            )


def _jumbo(lab: Lab, path: KeyPath, what: str) -> Iterator[Complaint]:
    """Where the lab has what carries none."""
    wanted = f"at most {STANDARD_FRAME_BYTES}, or {STANDARD_FRAME_BYTES + VLAN_TAG_BYTES} with a VLAN tag"
    for name in lab.technology:
        if reason := TECHNOLOGIES[name].no_jumbo(lab.options(name)):
            message = f"{what}, and {name} carries none: {reason}"
            yield Complaint(path, message, f"{wanted}, or other technologies", about=(("technology",),))
    used = dict.fromkeys(name for chain in lab.chains() for name in chain.functions)
    for name in used:
        if name in lab.functions and lab.functions[name].kind == "vm":
            message = (
                f"{what}, and {name} carries none: the interfaces of a virtual machine have an MTU of 1500"
            )
            yield Complaint(path, message, f"{wanted}, or no virtual machines", about=(("functions",),))


def _ends(lab: Lab) -> Iterator[Complaint]:
    version, about = lab.traffic.ip, (("traffic", "ip"),)
    expected = f"an IPv{version} address of one host, such as {Traffic(ip=version).addresses()[0]}"
    for side, end in (("left", lab.traffic.left), ("right", lab.traffic.right)):
        for key in ("address", "to_address"):
            path, address = ("traffic", side, key), getattr(end, key)
            try:
                parsed = ipaddress.ip_address(address) if address is not None else None
            except ValueError:
                yield Complaint(path, f"is {address!r}", expected)
                continue
            if parsed is not None and parsed.version != version:
                yield Complaint(path, f"is an IPv{parsed.version} address", expected, about=about)
            elif parsed is not None and (parsed.is_multicast or parsed.is_unspecified or parsed.is_loopback):
                yield Complaint(path, f"is {address}, which is no other host's", expected)
    if len(set(lab.traffic.addresses())) == 1:
        yield Complaint(("traffic", "right", "address"), "is the left end's, too", "another address")


def _chains(lab: Lab) -> Iterator[Complaint]:
    known = network_functions()
    names: dict[str, int] = {}
    for index, (form, chain) in enumerate(zip(lab.chain, lab.chains(), strict=True)):
        if chain.name in names:
            yield Complaint(
                ("chain", index),
                f"is called {chain.name} as chain {names[chain.name] + 1} is",
                "names that differ",
                about=(("chain",),),
            )
        names.setdefault(chain.name, index)
        refused: set[str] = set()
        for position, name in enumerate(chain.functions):
            path: KeyPath = ("chain", index) if isinstance(form, str) else ("chain", index, position)
            function = lab.functions.get(name)
            if name in refused:
                continue
            if function is None:
                refused.add(name)
                listed = "one of " + ", ".join(lab.functions)
                yield Complaint(
                    path,
                    f"unknown function {show(name)}",
                    listed,
                    nearest(name, [*lab.functions]),
                    about=(("functions",),),
                )
                continue
            ending = next(
                (one.nf for one in function.nfs() if one.nf in known and not known[one.nf].returns), None
            )
            if ending is not None:
                refused.add(name)
                message = (
                    f"function {position + 1} of {len(chain.functions)}, {name}, is a {ending}: "
                    "it ends the chain, so no packet returns to the tester"
                )
                returning = ", ".join(nf.name for nf in known.values() if nf.returns)
                yield Complaint(
                    path, message, f"functions that forward: {returning}", about=(("functions", name),)
                )


def _lengths(lab: Lab) -> Iterator[Complaint]:
    """Polled ports are DPDK's, which was built for so many at most."""
    limited = [name for name in lab.technology if getattr(lab.options(name), "port", None) != "packet_socket"]
    longest = DPDK_MAX_PORTS // 2 - 1
    for index, chain in enumerate(lab.chains()):
        if limited and len(chain.functions) > longest:
            message = (
                f"{len(chain.functions)} functions need {2 * len(chain.functions) + 2} ports, "
                f"and DPDK, which {', '.join(limited)} rest on, has {DPDK_MAX_PORTS} at most"
            )
            yield Complaint(
                ("chain", index), message, f"at most {longest} functions", about=(("technology",),)
            )


def _areas(lab: Lab) -> Iterator[Complaint]:
    """In one weir-dp, the tester's among them."""
    for index, chain in enumerate(lab.chains()):
        functions = [lab.functions[name] for name in chain.functions if name in lab.functions]
        functions = [function for function in functions if function.kind == "process"]
        count = TESTER_AREAS + sum(function.area_count() for function in functions)
        if count > AREAS_MAX:
            message = f"is run in {count} areas, more than weir-dp has room for"
            wanted = f"fewer functions or workers: {AREAS_MAX} areas at most, the tester's among them"
            yield Complaint(("chain", index), message, wanted, about=(("functions",),))


def _technologies(lab: Lab) -> Iterator[Complaint]:
    known = lab.compared()
    if lab.baseline is not None and lab.baseline not in known:
        message = f"{lab.baseline} is not among the lab's {'variants' if lab.variants else 'technologies'}"
        about: tuple[KeyPath, ...] = (("technology",), ("variants",))
        listed = "one of " + ", ".join(known)
        yield Complaint(("baseline",), message, listed, nearest(lab.baseline, known), about=about)
    yield from _steps(lab)
    physical = ", ".join(name for name, one in TECHNOLOGIES.items() if one.physical)
    virtual = [name for name in lab.technology if not TECHNOLOGIES[name].physical]
    if lab.tester.ports is not None and virtual:
        message = (
            f"only {physical} has network ports of its own for the tester, "
            f"and this lab measures {', '.join(virtual)} too"
        )
        wanted = f"no ports, or technology: {physical} alone"
        yield Complaint(("tester", "ports"), message, wanted, about=(("technology",),))
    if lab.tester.timestamps == "hardware" and virtual:
        message = f"is hardware, and under {', '.join(virtual)} the tester's ports are no network card's"
        yield Complaint(
            ("tester", "timestamps"),
            message,
            f"auto, or technology: {physical} alone",
            about=(("technology",),),
        )


def _steps(lab: Lab) -> Iterator[Complaint]:
    if lab.steps and not lab.variants:
        message = "are variants, and the lab has none"
        yield Complaint(("steps",), message, "variants of these names, or no steps", about=(("variants",),))
        return
    for index, name in enumerate(lab.steps):
        if name not in lab.variants:
            message, listed = f"{name} is not among the lab's variants", "one of " + ", ".join(lab.variants)
            close = nearest(name, list(lab.variants))
            yield Complaint(("steps", index), message, listed, close, about=(("variants",),))
        elif name in lab.steps[:index]:
            yield Complaint(("steps", index), f"names {name} twice", "each of them once")
    if len(lab.steps) == 1:
        yield Complaint(("steps",), "is one variant, with nothing to compare it to", "two or more, or none")


def _cores(lab: Lab, cpus: Sequence[int] | None) -> Iterator[Complaint]:
    for role in ("tester", "functions", "switch"):
        yield from _cpus(("cores", role), getattr(lab.cores, role, None), cpus)
    for name, described in TECHNOLOGIES.items():
        options = lab.options(name)
        for role in ("tester", "functions", "switch"):
            yield from _cpus(("technologies", name, "cores", role), getattr(options.cores, role, None), cpus)
        for key in described.cpu_options:
            yield from _cpus(("technologies", name, key), getattr(options, key), cpus)
    for function, chosen in lab.functions.items():
        yield from _cpus(("functions", function, "cores"), chosen.cores, cpus, again=True)
    for index, name in enumerate(lab.technology):
        if TECHNOLOGIES[name].switch == "polling":
            yield from _starving(lab, index, name, cpus)


def _cpus(
    path: KeyPath, chosen: Sequence[int] | None, cpus: Sequence[int] | None, *, again: bool = False
) -> Iterator[Complaint]:
    """`again`: one may be named more than once."""
    for index, cpu in enumerate(chosen or ()):
        if cpus is not None and cpu not in cpus:
            yield Complaint(
                (*path, index), f"this machine has no core {cpu} to give", f"cores of {cpus_text(cpus, ', ')}"
            )
        if cpu in (chosen or ())[:index] and not again:
            yield Complaint((*path, index), f"names core {cpu} twice", "each core once")


def _starving(lab: Lab, index: int, name: str, cpus: Sequence[int] | None) -> Iterator[Complaint]:
    if cpus is not None and len(cpus) == 1:
        message = f"{name} is impossible on one core: its polling thread and weir-dp would starve each other"
        yield Complaint(("technology", index), message, "a machine with two cores, or other technologies")
        return
    cores = lab.cores_for(name, cpus or (0, 1))
    polling = {*(cores.tester or ()), *lab.function_cpus(name, cpus or (0, 1))}
    shared = sorted(polling.intersection(cores.switch or ()))
    if shared:
        listed = ", ".join(map(str, shared))
        message = (
            f"core {listed} would be polled by the switch{_option(name)} and by weir-dp (tester, functions): "
            "two polling processes on one core starve each other"
        )
        free = [cpu for cpu in cpus or () if cpu not in polling]
        wanted = (
            f"cores of {cpus_text(free, ', ')} for the switch" if free else "a core of its own for the switch"
        )
        yield Complaint(
            _chosen_at(lab, index, name), message, wanted, about=(("cores",), ("technologies", name))
        )


def _option(name: str) -> str:
    polled = TECHNOLOGIES[name].cpu_options[:1]
    return f" ({polled[0]})" if polled else ""


def _chosen_at(lab: Lab, index: int, name: str) -> KeyPath:
    """Where the lab chose the cores of that switch."""
    options = lab.options(name)
    for key in TECHNOLOGIES[name].cpu_options[:1]:
        if getattr(options, key):
            return ("technologies", name, key)
    if options.cores is not None:
        return ("technologies", name, "cores")
    return ("cores",) if lab.cores is not None else ("technology", index)


def _durations(lab: Lab) -> Iterator[Complaint]:
    measure = lab.measure
    if not measure.goals and measure.latency is None:
        message = "searches for nothing, and no latency is measured either"
        yield Complaint(("measure", "goals"), message, "goals, or `latency`", about=(("measure", "latency"),))
    if measure.time_limit_s < measure.repeats * measure.trial.duration_sum_s:
        least = measure.repeats * measure.trial.duration_sum_s
        one_s = measure.trial.duration_sum_s
        message = f"leaves no time for {measure.repeats} repeats: one load of each takes {one_s:g} s"
        yield Complaint(
            ("measure", "time_limit_s"),
            message,
            f"at least {least:g} s",
            about=(("measure", "repeats"), ("measure", "trial")),
        )
