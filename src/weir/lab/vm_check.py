# SPDX-License-Identifier: Apache-2.0
"""Virtual machines that are well formed and yet impossible."""

from __future__ import annotations

from collections.abc import Iterator

from weir.lab.complaint import Complaint
from weir.lab.function import FunctionOptions
from weir.lab.lab import Lab
from weir.lab.source import KeyPath
from weir.technology import TECHNOLOGIES

_OF_WEIR_DP = ("nf", "chain", "router", "options", "fastpath")


def vm_complaints(path: KeyPath, function: FunctionOptions) -> Iterator[Complaint]:
    """What contradicts itself in one function."""
    machine = function.vm
    at: KeyPath = (*path, "vm")
    about: tuple[KeyPath, ...] = ((*path, "kind"), at)
    if machine is not None and function.kind != "vm":
        yield Complaint(at, f"means nothing to kind {function.kind}", "kind: vm", about=about)
        return
    if function.forwards_by() != "weir-dp":
        who = "the guest's kernel" if function.forwards_by() == "kernel" else "the image"
        for key in _OF_WEIR_DP:
            if getattr(function, key):
                yield Complaint((*path, key), f"means nothing to {who}", "vm.forwarder: weir-dp", about=about)
        if function.architecture != "run-to-completion":
            message = f"means nothing to {who}"
            yield Complaint((*path, "architecture"), message, "vm.forwarder: weir-dp", about=about)
    if machine is None:
        return
    if machine.image is not None and machine.forwarder is not None:
        message = "stands beside forwarder"
        yield Complaint((*at, "image"), message, "one of forwarder and image", about=about)
    if machine.user_data is not None and machine.image is None:
        message = "is for cloud-init, and the images of `weir image build` have none"
        yield Complaint((*at, "user_data"), message, "image: a disk image", about=about)
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
