# SPDX-License-Identifier: Apache-2.0
"""A lab that was read on another machine, completed on this one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weir.base.error import ENVIRONMENT, WeirError
from weir.lab.files import missing_files
from weir.lab.host_check import Nodes
from weir.lab.lab import Lab
from weir.lab.ways import base_complaints, completed, near


class LabHereError(WeirError):
    """The lab does not fit on this machine; says what it asks for."""

    exit_code = ENVIRONMENT


def on_machine(lab: Lab, cpus: Sequence[int], nodes: Nodes | None) -> Lab:
    """`lab` with what it leaves open chosen from these CPUs. LabHereError for CPUs or files that are not
    here."""
    said = [*base_complaints(lab, cpus, nodes), *missing_files(lab, Path("/"))]
    if said:
        raise LabHereError(
            "; ".join(one.message + (f"; expected {one.expected}" if one.expected else "") for one in said)
        )
    return completed(lab, near(lab, cpus, nodes) or cpus)
