# SPDX-License-Identifier: Apache-2.0
"""From a fleet file to a checked fleet, or to everything that is wrong with it; and its JSON Schema."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weir.base.record import SCHEMA_ID
from weir.lab.complaint import Complaint, show
from weir.lab.fleet import CHAINS_MAX, HOSTS_MAX, FleetFile
from weir.lab.problem import nearest
from weir.lab.read_checked import read_checked
from weir.lab.source import FileKind, KeyPath

FLEET = FileKind("a fleet", "fleet.yml", "weir, name, hosts, chains, …")


@functools.cache
def fleet_schema() -> dict[str, Any]:
    """The schema of a fleet file."""
    return {"$schema": SCHEMA_ID, **FleetFile.model_json_schema(), "title": "Weir fleet file"}


def load_fleet(path: str | Path) -> FleetFile:
    """Reads and checks a fleet file, or `fleet.yml` in a directory. LabFileError has all its problems."""
    return read_checked(path, FLEET, FleetFile, fleet_schema(), _complaints)


def _complaints(fleet: FleetFile) -> Iterator[Complaint]:
    """What is well formed and yet impossible."""
    zones = sorted({host.zone for host in fleet.hosts.values()})
    for name, chain in fleet.chains.items():
        yield from _unknown(("chains", name, "hosts"), "class of hosts", chain.hosts or (), [*fleet.hosts])
        yield from _unknown(("chains", name, "zones"), "zone", chain.zones or (), zones)
    for index, group in enumerate(fleet.anti_affinity):
        path: KeyPath = ("anti_affinity", index, "chains")
        yield from _unknown(path, "class of chains", group.chains, [*fleet.chains])
    for key, most, classes in (
        ("hosts", HOSTS_MAX, fleet.hosts.values()),
        ("chains", CHAINS_MAX, fleet.chains.values()),
    ):
        count = sum(one.count for one in classes)
        if count > most:
            yield Complaint((key,), f"are {count} in all", f"at most {most}")


def _unknown(path: KeyPath, what: str, names: Sequence[str], known: list[str]) -> Iterator[Complaint]:
    for index, name in enumerate(names):
        if name not in known:
            listed = "one of " + ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
            yield Complaint((*path, index), f"unknown {what} {show(name)}", listed, nearest(name, known))
