# SPDX-License-Identifier: Apache-2.0
"""Built and taken down a hundred times by one process, nothing grows: descriptors, memory, children,
hugepages, files, namespaces, and the work that a cycle is."""

from __future__ import annotations

import gc
import os
import secrets
from pathlib import Path
from statistics import median

import pytest

from weir import fabric, plan

from .surroundings import Surroundings
from .tiny import TECHNOLOGIES, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

CYCLES = int(os.environ.get("WEIR_CYCLES") or 100)
WARM = 10  # what is imported and cached at the first use is there after these
GROWTH_KIB = 2048
GROWTH_OF_WORK = 1.2
"""Of reads and writes in a cycle: what waits for somebody else reads a little more, or less."""


def rss_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def children() -> int:
    """Of this thread's process, ended ones too."""
    return len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def reads_and_writes() -> int:
    """System calls of this process and of the children that it has waited for: work, however fast it is."""
    said = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(said["syscr"]) + int(said["syscw"])


@pytest.mark.parametrize("technology", TECHNOLOGIES)
def test_nothing_grows(technology: str, run_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{technology} cannot run here: {refusal.missing}")
    lab, token = tiny_lab(technology), secrets.token_hex(4)
    name = plan.deployment_id(lab.name, token)
    topology = plan.build_topology(lab, technology, lab.chains()[0], name)
    steps = plan.steps(topology, lab)
    surroundings = Surroundings(run_root, lab.name, token)
    descriptors: list[int] = []
    memory_kib: list[int] = []
    work: list[int] = []
    started = children()
    try:
        for cycle in range(CYCLES):
            before = reads_and_writes()
            fabric.Deployment.deploy(steps, topology).destroy()
            assert fabric.clean_leftovers() == []
            work.append(reads_and_writes() - before)
            surroundings.check(cycle)
            gc.collect()
            descriptors.append(sum(1 for _ in Path("/proc/self/fd").iterdir()))
            memory_kib.append(rss_kib())
            assert children() == started, cycle
    finally:
        surroundings.remove()
    first, last = median(work[WARM : 2 * WARM]), median(work[-WARM:])
    with capsys.disabled():
        print(
            f"\n{technology}: {CYCLES} cycles, {descriptors[WARM]} to {descriptors[-1]} descriptors, "
            f"{memory_kib[WARM]} to {memory_kib[-1]} KiB, {first:.0f} to {last:.0f} reads and writes"
        )
    assert descriptors[-1] == descriptors[WARM]
    assert memory_kib[-1] - memory_kib[WARM] < GROWTH_KIB
    assert last <= GROWTH_OF_WORK * first
