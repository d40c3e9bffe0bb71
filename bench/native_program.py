# SPDX-License-Identifier: Apache-2.0
"""Bench programs of the native build: they measure their contenders in turn, a line of JSON each round."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from bench.hugepages import hugepages
from bench.pairs import SkipError
from weir.fabric.built import built

CORE = 1
TIMEOUT_S = 300  # building a million flows or compiling 40,000 expressions is most of it
QUIET = ("--no-pci", "--no-telemetry", "--log-level=error")
Answer = dict[str, Any]


def answers(name: str, *words: str | int, memory_mb: int, eal: Sequence[str] = ()) -> list[Answer]:
    """What it prints, run on CORE with so many MiB of hugepages. SkipError if it is not built, or fails."""
    own = ["-l", str(CORE), "-m", str(memory_mb), "--in-memory", *QUIET, *eal]
    with hugepages(memory_mb):
        return printed(name, [*own, "--", *map(str, words)])


def printed(name: str, argv: Sequence[str]) -> list[Answer]:
    """The same with these arguments, and in whatever memory is there."""
    program = built("weir-dp").with_name(name)
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'ninja -C build benches'")
    done = subprocess.run(
        [str(program), *argv], check=False, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    if done.returncode != 0:
        raise SkipError(f"{name} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    return [json.loads(text) for text in done.stdout.splitlines()]
