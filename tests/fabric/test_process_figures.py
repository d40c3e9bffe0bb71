# SPDX-License-Identifier: Apache-2.0
"""What the kernel tells of a process."""

from __future__ import annotations

import os
from pathlib import Path

from weir.fabric.process_figures import process_figures


def test_this_process_has_memory_threads_and_switches() -> None:
    found = process_figures("pytest", os.getpid())
    assert found is not None
    assert (found.name, found.pid) == ("pytest", os.getpid())
    assert found.rss_kib > 1000
    assert found.cpu_s > 0
    assert found.threads >= 1
    assert found.voluntary_switches + found.involuntary_switches > 0


def test_one_that_has_ended_has_none(tmp_path: Path) -> None:
    assert process_figures("gone", 1, proc=tmp_path) is None
