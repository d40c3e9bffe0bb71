# SPDX-License-Identifier: Apache-2.0
"""The name of the lab in a file, for commands that know labs by their names."""

from __future__ import annotations

from pathlib import Path


def name_in(path: str) -> str:
    """Of the lab there, with tenants or without. LabFileError if it is none."""
    from weir.lab import load_lab
    from weir.lab.of_tenants import has_tenants

    if has_tenants(path):
        from weir.lab.tenants_load import load_tenants

        return load_tenants(path).name
    return load_lab(Path(path)).name
