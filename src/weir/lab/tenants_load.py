# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to checked tenants, or to everything that is wrong with it; and its JSON Schema."""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weir.base.cloud import OUTSIDE, SHARED
from weir.base.record import SCHEMA_ID
from weir.lab.command_check import commands_complaints
from weir.lab.complaint import Complaint
from weir.lab.files import no_file
from weir.lab.of_tenants import TENANTS, tenants_file
from weir.lab.qcow2 import image_fault
from weir.lab.read_checked import read_checked
from weir.lab.tenants import (
    RESERVED_NAMES,
    TENANTS_MAX,
    IngressRule,
    Tenant,
    TenantFunction,
    TenantsFile,
)
from weir.lab.tenants_measure import DISCARD_PORT
from weir.lab.vm_check import user_data_complaints

_BEFORE_TENANTS = 2  # addresses outside: of the host there, and none of number 0
_SHARED_ADDRESSES = ipaddress.IPv4Network("172.16.0.0/24")
"""Of the nodes on their own wire."""


@functools.cache
def tenants_schema() -> dict[str, Any]:
    """The schema of a tenants file."""
    return {"$schema": SCHEMA_ID, **TenantsFile.model_json_schema(), "title": "Weir lab file with tenants"}


def load_tenants(path: str | Path) -> TenantsFile:
    """Reads and checks it. LabFileError has all its problems."""
    folder = tenants_file(Path(path)).resolve().parent

    def complaints(tenants: TenantsFile) -> Iterator[Complaint]:
        yield from _complaints(tenants)
        yield from _missing(tenants, folder)

    return read_checked(path, TENANTS, TenantsFile, tenants_schema(), complaints).within(folder)


def _missing(tenants: TenantsFile, folder: Path) -> Iterator[Complaint]:
    """Files and directories that it names, and that are not there; images that are none."""
    functions: list[tuple[tuple[str | int, ...], Sequence[TenantFunction]]]
    functions = [(("cloud", "functions"), tenants.cloud.functions)]
    for index, one in enumerate(tenants.tenants):
        functions.append((("tenants", index, "functions"), one.functions))
        named = [
            (section, key, folder / name)
            for section, options in (("system", one.system), ("vm", one.vm))
            if options is not None
            for key, name in options.files().items()
        ]
        for section, key, path in named:
            why = no_file(path)
            if why is not None:
                expected = f"a file; relative ones are looked for in {folder.resolve()}"
                yield Complaint(("tenants", index, section, key), why, expected)
            elif one.vm is not None and (section, key) == ("vm", "image"):
                why = image_fault(one.vm, path)
                if why is not None:
                    yield Complaint(("tenants", index, section, key), why)
    for at, several in functions:
        for number, function in enumerate(several):
            directory = folder / (function.directory or "")
            if not directory.is_dir():
                message, expected = f"there is no directory {directory}", f"one; relative to {folder}"
                yield Complaint((*at, number, "directory"), message, expected)


def _complaints(tenants: TenantsFile) -> Iterator[Complaint]:
    """What is well formed and yet impossible."""
    external = ipaddress.IPv4Network(tenants.cloud.external)
    every = tenants.all_tenants()
    names = [name for name, _ in every]
    for index, one in enumerate(tenants.tenants):
        if one.name == OUTSIDE:
            yield Complaint(("tenants", index, "name"), "is what the host outside is called", "another name")
        if one.name == SHARED and tenants.cloud.functions:
            message = "is what the functions that tenants share are called"
            yield Complaint(("tenants", index, "name"), message, "another name")
        yield from _of_machines(one, ("tenants", index))
        subnet = ipaddress.IPv4Network(one.subnet)
        yield from _of_functions(one.functions, ("tenants", index, "functions"), "of the tenant")
        if subnet.overlaps(external):
            message = f"overlaps the external network {external}"
            yield Complaint(("tenants", index, "subnet"), message, "a network apart from cloud.external")
    yield from _of_shared(tenants)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Complaint(("tenants",), f"are two called {name}", "a name of its own for each")
    if len(every) > TENANTS_MAX:
        yield Complaint(("tenants",), f"are {len(every)} in all", f"at most {TENANTS_MAX}")
    yield from _of_senders(tenants, len(every))
    if "right-to-left" in tenants.tester.directions:
        yield from _from_outside(tenants, next(external.hosts()))
    if tenants.cores.tester is not None and tenants.cores.tester in (tenants.cores.system or ()):
        message = f"has CPU {tenants.cores.tester}, on which the tester polls"
        yield Complaint(("cores", "system"), message, "other CPUs")
    if external.overlaps(_SHARED_ADDRESSES):
        message = f"overlaps {_SHARED_ADDRESSES}, the nodes' own network"
        yield Complaint(("cloud", "external"), message, "another network")
    shared = len(tenants.cloud.functions)
    wanted = len(every) + sum(one.floating for _, one in every) + (shared + 1 if shared else 0)
    room = external.num_addresses - 1 - _BEFORE_TENANTS
    if wanted > room:
        message = (
            f"has room for {max(0, room)} routers, floating addresses and functions, and {wanted} are needed"
        )
        yield Complaint(("cloud", "external"), message, "a larger network")


def _of_machines(tenant: Tenant, at: tuple[str | int, ...]) -> Iterator[Complaint]:
    """Keys that say nothing to those instances of it that are virtual machines."""
    vm = tenant.vm
    if vm is None:
        return
    yield from user_data_complaints(vm, (*at, "vm"))
    if tenant.system is not None and tenant.machines == tenant.instances:
        message = "is of instances that are namespaces, and all of these are virtual machines"
        yield Complaint((*at, "system"), message, "vm.instances: fewer than instances, or no system")


def _of_functions(
    functions: Sequence[TenantFunction], at: tuple[str | int, ...], whose: str
) -> Iterator[Complaint]:
    """Names that some of them may not have, and commands that nothing could run."""
    called = [function.name for function in functions]
    for number, name in enumerate(called):
        if name in RESERVED_NAMES:
            yield Complaint((*at, number, "name"), f"is {name}, as every network has one", "another name")
        if name in called[:number]:
            yield Complaint(
                (*at, number, "name"), f"is {name}, as another function {whose}", "a name of its own"
            )
        yield from commands_complaints((*at, number, "commands"), functions[number].commands)


def _of_shared(tenants: TenantsFile) -> Iterator[Complaint]:
    yield from _of_functions(tenants.cloud.functions, ("cloud", "functions"), "that tenants share")
    many = max(tenants.measure.functions or (0,))
    if many > len(tenants.cloud.functions):
        message = f"has {many} shared functions, and cloud.functions has {len(tenants.cloud.functions)}"
        yield Complaint(("measure", "functions"), message, f"at most {len(tenants.cloud.functions)}")
    if tenants.cloud.functions and not any(one.shared for one in tenants.tenants):
        yield Complaint(("cloud", "functions"), "are shared by no tenant", "shared: true of some, or none")


def _of_senders(tenants: TenantsFile, tenants_in_all: int) -> Iterator[Complaint]:
    wanted, most = max(tenants.sending()), tenants.sending_most
    if wanted > tenants_in_all:
        message = f"has {wanted} tenants that send, and there are {tenants_in_all}"
        yield Complaint(("measure", "sending"), message, f"at most {tenants_in_all}")
    at_once = f"{most} can send at once" + (
        ", in both directions" if len(tenants.tester.directions) > 1 else ""
    )
    if wanted > most:
        yield Complaint(("measure", "sending"), f"has {wanted} tenants, and {at_once}", f"at most {most}")
    if tenants.measure.background is not None and tenants_in_all > most:
        message = f"is of {tenants_in_all} tenants, and {at_once}"
        yield Complaint(("measure", "background"), message, f"at most {most} tenants, or none of it")


def _from_outside(tenants: TenantsFile, outside: ipaddress.IPv4Address) -> Iterator[Complaint]:
    """Tenants whose first instance nothing reaches that comes from outside unasked for."""
    filtered = set(tenants.measure.security or (tenants.cloud.security,)) != {"none"}
    way = f"tester.direction is {tenants.tester.direction}"
    before = 0
    for index, one in enumerate(tenants.tenants):
        if before >= tenants.measured():
            return
        before += one.count
        if one.instances and not one.floating:
            yield Complaint(
                ("tenants", index, "floating"),
                f"is 0, and {way}: behind its router's source translation nobody outside can reach "
                f"{one.name}'s instances",
                "floating: 1, or tester.direction: left-to-right",
            )
        elif one.instances and filtered and not any(_lets_in(rule, outside) for rule in one.ingress):
            yield Complaint(
                ("tenants", index, "ingress"),
                f"lets in no UDP to port {DISCARD_PORT} from {outside}, which the tester sends, since {way}",
                f"{{protocol: udp, ports: [{DISCARD_PORT}, {DISCARD_PORT}]}} among its rules, or security: "
                "none",
            )


def _lets_in(rule: IngressRule, outside: ipaddress.IPv4Address) -> bool:
    """What the tester sends from there."""
    first, last = rule.ports or (DISCARD_PORT, DISCARD_PORT)
    from_there = outside in ipaddress.IPv4Network(rule.source)
    return from_there and rule.protocol in ("any", "udp") and first <= DISCARD_PORT <= last
