# SPDX-License-Identifier: Apache-2.0
"""Whether a lab file is one of tenants, for commands that take both kinds."""

from __future__ import annotations

from pathlib import Path

from weir.lab.problem import LabFileError
from weir.lab.source import FileKind, file_of, read_source

TENANTS = FileKind("a lab with tenants", "lab.yml", "weir, name, cloud, tenants")
_KEY = "tenants"


def has_tenants(path: str | Path) -> bool:
    """Whether that lab file, or `lab.yml` in that directory, is one of tenants. False if it cannot be read:
    whoever reads it as a lab says why."""
    try:
        values = read_source(tenants_file(Path(path)), TENANTS).values
    except LabFileError:
        return False
    return isinstance(values, dict) and _KEY in values


def tenants_file(path: Path) -> Path:
    """The file itself, of a directory that has one."""
    return file_of(path, TENANTS)
