# SPDX-License-Identifier: Apache-2.0
"""Parquet onto a disk that fills up, wherever in the export that is: runs are whole or not there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from weir.store.rows import add_run
from weir.store.store import Store

from .made import run

pytest.importorskip("pyarrow")
RUNS = ["a-1", "a-2", "b-1"]


@pytest.fixture
def exports(tmp_path: Path) -> list[dict[str, Any]]:
    """What exports onto disks of every size said and left, until all fitted: by room, and by inodes."""
    store, place = tmp_path / "results.db", tmp_path / "disk"
    place.mkdir()
    with Store(store) as database, database.session(writing=True) as session:
        for name in RUNS:
            add_run(session, run(name, lab=name[0]), [])
    alone = ["unshare", "--mount", "--propagation", "private"]
    done = subprocess.run(
        [*alone, sys.executable, "-m", "tests.unit.store.full_disk", store, place],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts file systems: run as root")
def test_each_run_is_whole_or_not_there_and_named_and_no_folder_is_empty(
    exports: list[dict[str, Any]],
) -> None:
    assert sum(one["said"] is None for one in exports) == 2
    whole_of: Counter[int] = Counter()
    for one in exports:
        assert one["empty"] == []
        files = Counter(Path(name).stem for name in one["files"])
        assert set(files.values()) <= {3}
        whole = RUNS[: len(files)]
        assert set(files) == set(whole)
        whole_of[len(whole)] += 1
        if one["said"] is None:
            assert whole == RUNS
        elif whole:
            runs = "1 run" if len(whole) == 1 else f"{len(whole)} runs"
            assert one["said"].endswith(f"--parquet; {runs} of 3 are whole there, up to {whole[-1]}")
        else:
            assert re.search("--parquet(; no run is there)?$", one["said"])
            assert "No space left on device" in one["said"]
    assert all(whole_of[number] for number in range(len(RUNS) + 1))
