# SPDX-License-Identifier: Apache-2.0
"""Functions that are well formed and yet impossible: names, options, and how they are to be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir.base.node import WITH_WORKERS
from weir.lab.complaint import Complaint, show
from weir.lab.function import N4_ADDRESS, FunctionOptions, NfOptions
from weir.lab.kind_check import kernel_complaints, program_complaints
from weir.lab.lab import Lab
from weir.lab.nf import Nf, network_functions
from weir.lab.problem import nearest
from weir.lab.source import KeyPath
from weir.lab.vm_check import vm_complaints

N4_MAX = 8  # WEIR_CONTROLLED_MAX


def function_complaints(functions: Mapping[str, FunctionOptions]) -> Iterator[Complaint]:
    """Everything impossible in `functions` of a lab."""
    for name, function in functions.items():
        path: KeyPath = ("functions", name)
        yield from vm_complaints(path, function)
        yield from kernel_complaints(path, function)
        yield from program_complaints(path, function)
        if function.forwards_by() == "weir-dp":
            yield from _none(path, function)
        if function.forwards_by() == "weir-dp" or function.kind == "kernel":
            yield from _one_or_several(path, function)
        if function.router is not None:
            from weir.lab.router_check import router_complaints  # few labs have one

            yield from router_complaints((*path, "router"), function.router)
        for at, one in _places(path, function):
            yield from _function(at, one)
        yield from _n4(path, function)
        if all(one.nf in network_functions() for one in function.nfs()):
            yield from _way_of_running(path, function)


def _places(path: KeyPath, function: FunctionOptions) -> list[tuple[KeyPath, NfOptions]]:
    if function.nf is not None:
        return [(path, one) for one in (*function.nfs(), *function.linux_as())]
    return [((*path, "chain", index), one) for index, one in enumerate(function.chain)]


_WHAT = ("nf", "chain", "router")


def _none(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    if not any(getattr(function, key) for key in _WHAT):
        message = "names no network function"
        yield Complaint(path, message, "nf: one, or chain: a list of them, or router: its networks")


def _one_or_several(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    given = [key for key in _WHAT if getattr(function, key)]
    for other in given[1:]:
        message, about = f"stands beside {given[0]}", ((*path, given[0]),)
        yield Complaint((*path, other), message, "one of nf, chain and router", about=about)
    if function.nf is None and function.options:
        message = "belong to no function: each function of a chain has its own"
        yield Complaint((*path, "options"), message, "options within chain", about=((*path, "nf"),))


def _function(path: KeyPath, function: NfOptions) -> Iterator[Complaint]:
    known = network_functions()
    nf = known.get(function.nf)
    if nf is None:
        listed = "one of " + ", ".join(known)
        message = f"unknown network function {show(function.nf)}"
        yield Complaint((*path, "nf"), message, listed, nearest(function.nf, [*known]))
        return
    about: tuple[KeyPath, ...] = ((*path, "nf"),)
    for key, value in function.options.items():
        at: KeyPath = (*path, "options", key)
        option = nf.option(key)
        names = [option.name for option in nf.options]
        if option is None:
            listed = "one of " + ", ".join(names) if names else "no option"
            yield Complaint(at, f"unknown option of {nf.name}", listed, nearest(key, names), about=about)
        elif not option.accepts(value):
            near = nearest(value, option.values or ())
            yield Complaint(at, f"is {show(value)}", option.expected(), near, about=about)


def _way_of_running(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    about: tuple[KeyPath, ...] = (
        (*path, "nf"),
        (*path, "chain"),
        (*path, "router"),
        (*path, "architecture"),
    )
    nfs = [network_functions()[one.nf] for one in function.nfs()]
    architecture = function.architecture
    if function.workers is not None and architecture not in WITH_WORKERS:
        message = f"mean nothing to {architecture}, which has none"
        yield Complaint((*path, "workers"), message, "architecture: dispatch or separated", about=about)
    if function.state_cores is not None and architecture != "separated":
        message = f"mean nothing to {architecture}, which has none"
        yield Complaint((*path, "state_cores"), message, "architecture: separated", about=about)
    if function.fastpath_flows is not None and not function.fastpath:
        message = "is the room of a fast path that there is not"
        yield Complaint((*path, "fastpath_flows"), message, "fastpath: true", about=((*path, "fastpath"),))
    if function.cores is not None and len(function.cores) > function.cores_max():
        message = f"are {len(function.cores)}, more than {architecture} has areas for here"
        yield Complaint((*path, "cores"), message, f"at most {function.cores_max()}", about=about)
    movers = ", ".join(dict.fromkeys(nf.name for nf in nfs if not nf.decides))
    deciding = ", ".join(nf.name for nf in network_functions().values() if nf.decides)
    if movers and architecture == "separated":
        message = f"cannot be separated: {movers} does its work itself, and leaves nothing to others"
        yield Complaint((*path, "architecture"), message, f"functions that decide: {deciding}", about=about)
    if movers and function.fastpath:
        message = f"cannot be: nobody knows what {movers} decides"
        yield Complaint((*path, "fastpath"), message, f"functions that decide: {deciding}", about=about)
    yield from _offload(path, function, about)
    yield from _steering(path, function, nfs, about)
    yield from _station(path, function, about)


def _offload(path: KeyPath, function: FunctionOptions, about: tuple[KeyPath, ...]) -> Iterator[Complaint]:
    """Entries that there are not, or that nobody could put below."""
    options, at = function.offloaded(), (*path, "offload")
    if options is None or function.forwards_by() != "weir-dp":
        return
    if function.kind == "vm":
        message = "is of interfaces on this host, and the function is in a virtual machine"
        yield Complaint(at, message, "kind: process", about=((*path, "kind"),))
        return
    if not function.fastpath:
        message = "is of entries of a fast path, and there is none"
        yield Complaint(at, message, "fastpath: true", about=((*path, "fastpath"), *about))
    if function.area_count() > 1:
        message = f"cannot be {function.architecture} here: entries are followed between two ports, and its"
        message += " areas pass packets on by rings"
        expected = "run-to-completion, or no offload"
        yield Complaint((*path, "architecture"), message, expected, about=(at, *about))


def _shares_state(function: FunctionOptions) -> bool:
    """Several areas have state of its functions, each that of other flows."""
    several = {"dispatch": function.workers != 1, "separated": (function.state_cores or 1) > 1}
    return several.get(function.architecture, False)


def _station(path: KeyPath, function: FunctionOptions, about: tuple[KeyPath, ...]) -> Iterator[Complaint]:
    """A router with addresses: what its neighbours say must come to the one that asked."""
    if not any(one.is_station() for one in function.nfs()):
        return
    if _shares_state(function):
        message = (
            f"cannot be {function.architecture} here: l3fwd has addresses, and each worker would have to hear"
            " every neighbour"
        )
        wanted = "run-to-completion, or a single one of what has the state"
        yield Complaint((*path, "architecture"), message, wanted, about=(*about, (*path, "workers")))
    if function.architecture == "pipeline" and len(function.nfs()) > 1:
        message = (
            "cannot be pipeline here: l3fwd has addresses, and chooses the side that a packet leaves by, "
            "which no ring between functions carries"
        )
        wanted = "run-to-completion, or l3fwd in a function of its own"
        yield Complaint((*path, "architecture"), message, wanted, about=about)
    if [one.nf for one in function.nfs()].count("l3fwd") > 1:
        message = (
            "has several l3fwd, of which one has addresses: the others would not know which way is inside"
        )
        yield Complaint(path, message, "one l3fwd, or each in a function of its own", about=about)


def _steering(
    path: KeyPath, function: FunctionOptions, nfs: list[Nf], about: tuple[KeyPath, ...]
) -> Iterator[Complaint]:
    """A dispatcher sees packets as they come in: it can bring both directions together for one function that
    rewrites addresses, not for two."""
    steering = [nf.name for nf in nfs if nf.steers]
    if len(steering) > 1 and _shares_state(function):
        message = (
            f"cannot be {function.architecture} here: {' and '.join(steering)} each say which packets must "
            "meet, and one worker for both directions satisfies one of them only"
        )
        wanted = "one such function at the most, or a single one of what has the state"
        yield Complaint((*path, "architecture"), message, wanted, about=(*about, (*path, "workers")))


def _n4(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """What nobody could open, or would wait for in vain."""
    found = function.by_n4()
    about: tuple[KeyPath, ...] = ((*path, "n4"), (*path, "nf"), (*path, "chain"), (*path, "options"))
    if function.n4 is not None and not found:
        message = "is of a upf that listens, and none does here"
        yield Complaint(
            (*path, "n4"), message, f"{N4_ADDRESS}: its address, in the options of a upf", about=about
        )
    for index in found:
        one, at = function.nfs()[index], _at(path, function, index)
        if function.kind != "process":
            message = f"is opened by nobody in a function of kind {function.kind}"
            yield Complaint((*at, "options", N4_ADDRESS), message, "kind: process", about=((*path, "kind"),))
        most = _room(one)
        wanted = function.n4_options().sessions
        if most is not None and wanted > most:
            message = f"are {wanted}, and its options leave room for {most}"
            expected = "sessions_max: at least those of `sessions` and these"
            yield Complaint((*path, "n4", "sessions"), message, expected, about=about)


def _at(path: KeyPath, function: FunctionOptions, index: int) -> KeyPath:
    return path if function.nf is not None else (*path, "chain", index)


def _room(one: NfOptions) -> int | None:
    """For how many sessions it has room beside its own; None: its options are no numbers."""
    known = network_functions()[one.nf]
    defaults = {option.name: option.default for option in known.options}
    own, most = (one.options.get(name, defaults[name]) for name in ("sessions", "sessions_max"))
    return max(0, most - own) if isinstance(own, int) and isinstance(most, int) else None


def n4_complaints(lab: Lab) -> Iterator[Complaint]:
    """Functions of one chain that are controlled by N4: all of them listen at the same time, on one port."""
    for chain in lab.chains():
        taken: dict[tuple[str | None, str], str] = {}
        for name, function in ((one, lab.functions.get(one)) for one in chain.functions):
            if function is None:
                continue
            netns = function.n4_options().netns
            for index, address in function.by_n4().items():
                path = (*_at(("functions", name), function, index), "options", N4_ADDRESS)
                if (netns, address) in taken:
                    message = f"is {address}, where {taken[netns, address]} of chain {chain.name} listens too"
                    yield Complaint(path, message, "another address, or another netns of n4")
                    return
                taken[netns, address] = name
        if len(taken) > N4_MAX:
            message = f"has {len(taken)} functions that listen for N4 in {chain.name}"
            yield Complaint(("chain",), message, f"{N4_MAX} at most")
