# SPDX-License-Identifier: Apache-2.0
"""From a tenants file to checked tenants, or to everything that is wrong with it; and its JSON Schema."""

from __future__ import annotations

import functools
import ipaddress
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from weir.base.cloud import OUTSIDE
from weir.base.record import SCHEMA_ID
from weir.lab.complaint import Complaint, complaints_about, located
from weir.lab.of_tenants import TENANTS, tenants_file
from weir.lab.problem import LabFileError
from weir.lab.source import read_source
from weir.lab.tenants import RESERVED_NAMES, TENANTS_MAX, TenantsFile

_BEFORE_TENANTS = 2  # addresses outside: of the host there, and none of number 0
_SHARED_ADDRESSES = ipaddress.IPv4Network("172.16.0.0/24")
"""Of the nodes on their own wire."""


@functools.cache
def tenants_schema() -> dict[str, Any]:
    """The schema of a tenants file."""
    return {"$schema": SCHEMA_ID, **TenantsFile.model_json_schema(), "title": "Weir lab file with tenants"}


def load_tenants(path: str | Path) -> TenantsFile:
    """Reads and checks it. LabFileError has all its problems."""
    source = read_source(tenants_file(Path(path)), TENANTS)
    problems = list(source.problems)
    found = None
    try:
        found = TenantsFile.model_validate_json(json.dumps(source.values), strict=True)
    except ValidationError as error:
        problems += [located(source, one) for one in complaints_about(error, tenants_schema())]
    if found is not None:
        problems += [located(source, one) for one in _complaints(found)]
    if problems or found is None:
        raise LabFileError(dict.fromkeys(problems))
    return found.within(tenants_file(Path(path)).resolve().parent)


def _complaints(tenants: TenantsFile) -> Iterator[Complaint]:
    """What is well formed and yet impossible."""
    external = ipaddress.IPv4Network(tenants.cloud.external)
    every = tenants.every()
    names = [name for name, _ in every]
    for index, one in enumerate(tenants.tenants):
        if one.name == OUTSIDE:
            yield Complaint(("tenants", index, "name"), "is what the host outside is called", "another name")
        subnet = ipaddress.IPv4Network(one.subnet)
        called = [function.name for function in one.functions]
        for number, name in enumerate(called):
            at = ("tenants", index, "functions", number, "name")
            if name in RESERVED_NAMES:
                yield Complaint(at, f"is {name}, as every tenant has one", "another name")
            if name in called[:number]:
                yield Complaint(at, f"is {name}, as another function of the tenant", "a name of its own")
        if subnet.overlaps(external):
            message = f"overlaps the external network {external}"
            yield Complaint(("tenants", index, "subnet"), message, "a network apart from cloud.external")
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Complaint(("tenants",), f"are two called {name}", "a name of its own for each")
    if len(every) > TENANTS_MAX:
        yield Complaint(("tenants",), f"are {len(every)} in all", f"at most {TENANTS_MAX}")
    if max(tenants.sending()) > len(every):
        message = f"has {max(tenants.sending())} tenants that send, and there are {len(every)}"
        yield Complaint(("measure", "sending"), message, f"at most {len(every)}")
    if tenants.cores.tester is not None and tenants.cores.tester in (tenants.cores.system or ()):
        message = f"has CPU {tenants.cores.tester}, on which the tester polls"
        yield Complaint(("cores", "system"), message, "other CPUs")
    if external.overlaps(_SHARED_ADDRESSES):
        message = f"overlaps {_SHARED_ADDRESSES}, the nodes' own network"
        yield Complaint(("cloud", "external"), message, "another network")
    wanted = len(every) + sum(one.floating for _, one in every)
    room = external.num_addresses - 1 - _BEFORE_TENANTS
    if wanted > room:
        message = f"has room for {max(0, room)} routers and floating addresses, and {wanted} are needed"
        yield Complaint(("cloud", "external"), message, "a larger network")
