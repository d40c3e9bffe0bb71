# SPDX-License-Identifier: Apache-2.0
"""weir-lean as a process, by programs in its place."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from weir.fabric.lean import LeanProcess


def launched(tmp_path: Path, script: str) -> LeanProcess:
    binary = tmp_path / "weir-lean"
    binary.write_text(f"#!/bin/sh\n{script}\n")
    binary.chmod(0o755)
    return LeanProcess(binary, Path("/dev/null"), 0, memory_mb=64)


def test_one_that_measures_when_somebody_stops_it_is_told_so_and_not_only_that_nobody_asks_any_more(
    tmp_path: Path,
) -> None:
    one = launched(tmp_path, "exec sleep 60")
    with pytest.raises(KeyboardInterrupt), one:
        raise KeyboardInterrupt
    assert one._process.returncode == -signal.SIGTERM


def test_one_that_is_done_ends_when_nobody_asks_any_more(tmp_path: Path) -> None:
    with launched(tmp_path, "while read line; do :; done; exit 3") as one:
        pass
    assert one._process.returncode == 3
