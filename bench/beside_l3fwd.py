# SPDX-License-Identifier: Apache-2.0
"""Cycles a packet of a function on its own, against l3fwd on the same packets: build/native/stage-bench."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping

from bench.hugepages import hugepages
from bench.pairs import PAIRS, Line, SkipError, line
from weir.fabric.data_plane import binary

CORE = 1
MEMORY_MB = 1024
TIMEOUT_S = 300
L3FWD = {"dst_mac": "02:00:00:00:00:09"}


def against_l3fwd(
    name: str, nf: str, options: Mapping[str, str], *, flows: int, to: tuple[str, int], target: float
) -> Line:
    """Ratio of l3fwd's cycles (with a default route alone) to those of `nf`, on UDP packets of so many flows
    to that address and port."""
    program = binary().with_name("stage-bench")
    if not program.exists():
        raise SkipError(f"{program} is missing: run 'make native'")
    argv = [str(program), "-l", str(CORE), "-m", str(MEMORY_MB), "--in-memory", "--no-pci", "--no-telemetry"]
    argv += ["--log-level=error", "--", str(flows), str(PAIRS), to[0], str(to[1])]
    argv += _contender(nf, options) + _contender("l3fwd", L3FWD)
    with hugepages(MEMORY_MB):
        done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SkipError(f"stage-bench ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    rounds = [json.loads(text) for text in done.stdout.splitlines()]
    taken = [(float(cycles[nf]), float(cycles["l3fwd"])) for cycles in rounds]
    return line(name, taken, target=target, unit="cycles_a_packet", less_is_better=True)


def _contender(nf: str, options: Mapping[str, str]) -> list[str]:
    return [f"nf={nf}", *(f"{option}={value}" for option, value in options.items())]
