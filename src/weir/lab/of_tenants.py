# SPDX-License-Identifier: Apache-2.0
"""Whether a lab file is one of tenants, for commands that take both kinds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.lab.problem import LabFileError, nearest
from weir.lab.source import FileKind, file_of, read_source

TENANTS = FileKind("a lab with tenants", "lab.yml", "weir, name, cloud, tenants")
KEYS = ("tenants", "cloud")
"""Of these labs alone; the first one makes a lab one of them."""
_OF_A_CHAIN = frozenset({"chain", "technology"})


def has_tenants(path: str | Path) -> bool:
    """Whether that lab file, or `lab.yml` in that directory, is one of tenants. False if it cannot be read:
    whoever reads it as a lab says why."""
    try:
        values = read_source(tenants_file(Path(path)), TENANTS).values
    except LabFileError:
        return False
    return isinstance(values, dict) and tenants_key(values) is not None


def tenants_key(values: Mapping[Any, Any]) -> str | None:
    """The key of a lab's `values` by which it is one of tenants: `tenants`, or what its author most likely
    mistyped for it, or `cloud`, which no other lab has. None: it is a chain's."""
    if KEYS[0] in values:
        return KEYS[0]
    if _OF_A_CHAIN & values.keys():
        return None
    from weir.lab.overlay import lab_schema

    known = list(lab_schema()["properties"])
    meant = {key: nearest(key, [*known, *KEYS]) for key in values if key not in known}
    return next((str(key) for name in KEYS for key, near in meant.items() if near == name), None)


def tenants_file(path: Path) -> Path:
    """The file itself, of a directory that has one."""
    return file_of(path, TENANTS)
