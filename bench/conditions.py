# SPDX-License-Identifier: Apache-2.0
"""What a figure was taken under: commit, date, machine. bench.outcome writes it into every result."""

from __future__ import annotations

import datetime
import functools
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weir import fabric

ROOT = Path(__file__).resolve().parent.parent
MEASURED = (
    "bench",
    "labs",
    "meson.build",
    "meson_options.txt",
    "native",
    "src",
    "tests/private_data_plane.py",
    "tests/ray_cluster.py",
    "tests/served_pages.py",
    "tests/simulated",
    "tests/waiting_hosts",
)
"""What figures depend on: other changes leave a commit clean."""
DIRTY = "-dirty"
_ABBREVIATION = 12
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Machine:
    """Where it ran."""

    cpu: str
    cores: int
    """That the bench could use."""
    hypervisor: str
    """Empty on bare metal."""
    kernel: str


@dataclass(frozen=True)
class Conditions:
    """Of one result."""

    commit: str
    """`-dirty` at its end: with changes that are not committed; `unknown` outside a repository."""
    date: str
    machine: Machine


@functools.cache
def machine() -> Machine:
    """This one."""
    found = fabric.fingerprint(0, _UNKNOWN, {})
    hypervisor = found.hypervisor
    if hypervisor == _UNKNOWN:  # it shows no vendor in DMI; the processor may name it
        said = _output("lscpu") or ""
        named = re.search(r"Hypervisor vendor:\s+(\S+)", said)
        hypervisor = named.group(1) if named else _UNKNOWN
    return Machine(found.cpu, found.cores, hypervisor, found.kernel)


def here() -> Conditions:
    """Now, with the tree as it is."""
    return Conditions(commit(ROOT), datetime.datetime.now(datetime.UTC).date().isoformat(), machine())


def commit(root: Path, of: Sequence[str] = MEASURED) -> str:
    """Of the tree at `root`; what matters are changes `of` these."""
    head = _git(root, "rev-parse", f"--short={_ABBREVIATION}", "HEAD")
    if head is None:
        return _UNKNOWN
    changed = _git(root, "status", "--porcelain", "--", *of)
    return head + (DIRTY if changed != "" else "")


def _git(root: Path, *words: str) -> str | None:
    # sudo: the tree is another user's, which git refuses unless it is told.
    return _output("git", "-c", f"safe.directory={root}", "-C", str(root), *words)


def _output(*argv: str) -> str | None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
