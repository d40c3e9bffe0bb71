# SPDX-License-Identifier: Apache-2.0
"""On a machine without hugepages a run does without, and its result says so."""

from __future__ import annotations

import mmap
import os
import subprocess
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir import fabric
from weir.fabric import hugepages
from weir.procedures.lean.run import MEMORY_MB
from weir.results.lean import LeanResult
from weir.store.store import Store

from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="hides hugepages and starts processes: run as root"),
]

MAP_HUGETLB = 0x40000
# Nothing is where the kernel shows its hugepages, for this program and its children.
HIDDEN = 'mount -t tmpfs -o ro none /sys/kernel/mm/hugepages && exec "$@"'


def test_pages_that_another_program_was_promised_are_not_free() -> None:
    """It has not touched them yet, so the kernel still counts them among those that are free."""
    pages = 8
    before = hugepages.DIRECTORY.joinpath("nr_hugepages").read_text()
    free_mb = hugepages.free_mb()
    hugepages.DIRECTORY.joinpath("nr_hugepages").write_text(str(int(before) + pages))
    try:
        if hugepages.free_mb() < free_mb + pages * hugepages.PAGE_MB:
            pytest.skip("the kernel has no memory for hugepages")
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB
        with mmap.mmap(-1, pages * hugepages.PAGE_MB << 20, flags=flags):
            assert hugepages.free_mb() == free_mb
        assert hugepages.free_mb() == free_mb + pages * hugepages.PAGE_MB
    finally:
        hugepages.DIRECTORY.joinpath("nr_hugepages").write_text(before)


@pytest.mark.long
def test_lean_goes_on_without_pages_that_others_were_promised() -> None:
    nr = hugepages.DIRECTORY.joinpath("nr_hugepages")
    before = nr.read_text()
    nr.write_text(str(int(before) + MEMORY_MB // hugepages.PAGE_MB))
    try:
        free_mb = hugepages.free_mb()
        if free_mb < MEMORY_MB:
            pytest.skip("the kernel has no memory for hugepages")
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB
        lean = [*WEIR, "lean", "l2fwd"]
        with mmap.mmap(-1, free_mb << 20, flags=flags):
            done = subprocess.run(
                [*lean, "--launches", "5", "--json"], capture_output=True, text=True, check=False, timeout=120
            )
    finally:
        nr.write_text(before)
    assert done.returncode == 0, done.stderr
    assert LeanResult.model_validate_json(done.stdout).fingerprint.memory == "no-huge"


@pytest.mark.long
@pytest.mark.parametrize("technology", ["direct", "ovs-dpdk"])
def test_a_run_without_hugepages(technology: str, tmp_path: Path, run_root: Path) -> None:
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{technology} cannot run here: {refusal.missing}")
    text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", technology)
    (tmp_path / "lab.yml").write_text(text)
    weir = [*WEIR]
    words = ["run", str(tmp_path), "--store", str(tmp_path / "results.db"), "--output", str(tmp_path)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", HIDDEN, "sh", *weir, *words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: a disturbed machine, no believable rate
    with Store(tmp_path / "results.db") as store:
        result = store.latest()
    assert result is not None
    (setup,) = result.setups
    assert setup.refused is None
    assert result.fingerprint.memory == "no-huge"
    assert "No hugepages were used: pages of 4 KiB." in setup.fidelity
    assert "No hugepages were used" in done.stdout
    assert any(trial.delivered for trial in setup.cases[0].trials)
    assert list(run_root.iterdir()) == []
