# SPDX-License-Identifier: Apache-2.0
"""Lab files for tests: a small good one, with lines added or replaced."""

from __future__ import annotations

import tempfile
from pathlib import Path

from weir.lab import Lab, LabFileError, Problem, load_lab

GOOD = """\
weir: 1
name: small
chain: PVP
technology: [direct, linux-bridge, ovs-dpdk]
"""


def load(text: str, *, quick: bool = False, cpus: tuple[int, ...] | None = (0, 1)) -> Lab:
    """The lab of a text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "lab.yml"
        path.write_text(text, encoding="utf-8")
        return load_lab(path, quick=quick, cpus=cpus, spanning=True)


def problems(text: str, *, cpus: tuple[int, ...] | None = (0, 1)) -> tuple[Problem, ...]:
    """Everything that is wrong with a text; nothing if it is a lab."""
    try:
        load(text, cpus=cpus)
    except LabFileError as error:
        return error.problems
    return ()


def problem(text: str, *, cpus: tuple[int, ...] | None = (0, 1)) -> Problem:
    """The one thing that is wrong with a text."""
    found = problems(text, cpus=cpus)
    assert len(found) == 1, "\n".join(map(str, found)) or "nothing is wrong"
    return found[0]
