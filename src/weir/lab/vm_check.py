# SPDX-License-Identifier: Apache-2.0
"""Virtual machines of functions, or of tenants, that are well formed and yet impossible."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.function import FunctionOptions
from weir.lab.kind_check import of_weir_dp_alone
from weir.lab.lab import Lab
from weir.lab.source import KeyPath
from weir.lab.vm import GuestOptions
from weir.technology import TECHNOLOGIES


def vm_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """What contradicts itself in one function."""
    machine = function.vm
    at: KeyPath = (*path, "vm")
    about: tuple[KeyPath, ...] = ((*path, "kind"), at)
    if machine is not None and function.kind != "vm":
        yield Complaint(at, f"means nothing to kind {function.kind}", "kind: vm", about=about)
        return
    if function.kind == "vm" and function.forwards_by() != "weir-dp":
        yield from of_weir_dp_alone(path, function, about)
    if machine is None:
        return
    if machine.image is not None and machine.forwarder is not None:
        message = "stands beside forwarder"
        yield Complaint((*at, "image"), message, "one of forwarder and image", about=about)
    yield from user_data_complaints(machine, at, about)
    if machine.queues > 1 and function.forwards_by() == "weir-dp":
        message = "are more than the one pair that weir-dp opens of a port"
        yield Complaint((*at, "queues"), message, "1, or forwarder: kernel", about=about)


def vm_technology_complaints(lab: Lab) -> Iterator[Complaint]:
    """Virtual machines where nothing can join them."""
    used = dict.fromkeys(name for chain in lab.chains() for name in chain.functions)
    machine = next(
        (name for name in used if name in lab.functions and lab.functions[name].kind == "vm"), None
    )
    if machine is None:
        return
    able = [name for name, one in TECHNOLOGIES.items() if one.machine_port is not None]
    for index, technology in enumerate(lab.technology):
        if technology not in able:
            message = f"{technology} joins no virtual machines, and {machine} is one"
            listed = "one of " + ", ".join(able)
            yield Complaint(("technology", index), message, listed, about=(("functions",), ("chain",)))


def user_data_complaints(
    options: GuestOptions, at: KeyPath, about: tuple[KeyPath, ...] = ()
) -> Iterator[Complaint]:
    """Of a script that nothing would run. `about`: other keys to be looked at."""
    if options.user_data is not None and options.image is None:
        message = "is for cloud-init, and the images of `weir image build` have none"
        yield Complaint((*at, "user_data"), message, "image: a disk image", about=about)
