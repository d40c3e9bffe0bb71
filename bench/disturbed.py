# SPDX-License-Identifier: Apache-2.0
"""disturbed: rates found beside a program that takes a core in bursts, against those found without it.

Three technologies, PVP and PVVP, 64 B, NDR as labs/switching --quick finds it. Searches are made in turn on
one built chain: quiet, disturbed, quiet, …; a disturbed one is compared with the mean of its two neighbours.
Bursts of 1 to 20 ms, 5 to 25 % of the time, on either core, drawn from a seed.

- *ratio*: share of the disturbed searches whose rate is within 5 % of the quiet one, of those that found one,
  in whatever state the machine was then.
- `quiet_near`: the same of each quiet search to the next: what the machine itself allows.
- `unflagged_off`: rates without a flag that are more than 10 % off. None is allowed.
- `irregular`: share without an answer; at most 5 %.
"""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from bench.pairs import Line, SkipError
from bench.planted_load import bursts
from bench.standing_chain import Search, standing, switching
from weir.base.error import WeirError
from weir.fabric import require_root
from weir.fabric.check import check
from weir.measure.machine_state import NEAR_TIMES, MachineState

TECHNOLOGIES = ("direct", "linux-bridge", "ovs-dpdk")
CHAINS = ("PVP", "PVVP")
CELLS = int(os.environ.get("DISTURBED_CELLS", "204"))
TARGET = 0.95
NEAR, FAR = 0.05, 0.10
LETTERS = "TLSDUI"
SEED = 13


@dataclass(frozen=True)
class Cell:
    """One search beside bursts, and the quiet ones around it."""

    technology: str
    chain: str
    core: int
    burst_ms: float
    share: float
    quiet_pps: float | None
    quiet_flags: str
    quiet_change: float | None
    """Of the quiet rate, from the one before to the one behind."""
    load_pps: float | None
    flags: str
    left_out_share: float
    trials: int

    @property
    def error(self) -> float | None:
        """Of the rate, to the quiet one."""
        if self.load_pps is None or not self.quiet_pps:
            return None
        return self.load_pps / self.quiet_pps - 1


def run() -> Line:
    """The share that is right; detail has all cells."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise SkipError("needs two cores")
    try:
        require_root()
        cells = list(_cells(cpus[:2]))
    except WeirError as error:
        raise SkipError(str(error)) from None
    return judged(cells)


def judged(cells: list[Cell]) -> Line:
    """What the cells say together. A flag is a warning only if no quiet search has it."""
    errors = [(cell, abs(cell.error)) for cell in cells if cell.error is not None]
    near = [error <= NEAR for _, error in errors]
    warned = {letter: sum(letter in cell.flags for cell in cells) for letter in LETTERS}
    silent = [cell for cell, error in errors if error > FAR and not _said(cell)]
    changes = [cell.quiet_change for cell in cells if cell.quiet_change is not None]
    ratio = sum(near) / len(near) if near else 0.0
    return Line(
        name="disturbed",
        ratio=ratio,
        min=ratio,
        max=ratio,
        n=len(cells),
        target=TARGET,
        detail={
            "unflagged_off": len(silent),
            "irregular": sum(cell.load_pps is None for cell in cells) / max(1, len(cells)),
            "median_error": statistics.median(error for _, error in errors) if errors else None,
            "quiet_near": sum(abs(change) <= NEAR for change in changes) / len(changes) if changes else None,
            "flags": warned,
            "seed": SEED,
            "cells": [asdict(cell) | {"error": cell.error} for cell in cells],
        },
    )


def _said(cell: Cell) -> bool:
    """Whether what stands beside either rate says why they differ. "At least" is true of less."""
    error = cell.error or 0
    bound = ("T" in cell.flags and error < 0) or ("T" in cell.quiet_flags and error > 0)
    return bound or bool((set(cell.flags) | set(cell.quiet_flags)) - {"T"})


def _cells(cpus: list[int]) -> Iterator[Cell]:
    draw, state, lab = random.Random(SEED), MachineState(), switching()
    setups = [(technology, chain) for technology in TECHNOLOGIES for chain in CHAINS]
    for technology, chain in setups:
        refusal = check(technology, lab.options(technology))
        if refusal is not None:
            raise SkipError(f"{technology}: {refusal.missing}")
        with standing(lab, technology, chain, state) as chain_built:
            before = chain_built.search()
            for _ in range(CELLS // len(setups)):
                core, burst_ms = draw.choice(cpus), draw.uniform(1, 20)
                share = draw.uniform(0.05, 0.25)
                with bursts(core, burst_ms, share):
                    disturbed = chain_built.search()
                after = chain_built.search()
                quiet_pps, quiet_flags = _quiet(before, disturbed, after)
                yield Cell(
                    technology=technology,
                    chain=chain,
                    core=core,
                    burst_ms=round(burst_ms, 1),
                    share=round(share, 3),
                    quiet_pps=quiet_pps,
                    quiet_flags=quiet_flags,
                    quiet_change=_change(before, after),
                    load_pps=disturbed.found.load_pps,
                    flags=disturbed.flags,
                    left_out_share=disturbed.found.left_out_share,
                    trials=len(disturbed.trials),
                )
                before = after


def _quiet(before: Search, disturbed: Search, after: Search) -> tuple[float | None, str]:
    """The mean of those in the disturbed one's state of the machine, or else of both; with the flags that
    all of them have."""
    both = [one for one in (before, after) if one.found.load_pps is not None]
    same = [one for one in both if _same_state(one, disturbed)] or both
    rates = [one.found.load_pps for one in same if one.found.load_pps is not None]
    flags = "".join(letter for letter in LETTERS if same and all(letter in one.flags for one in same))
    return (statistics.fmean(rates) if rates else None), flags


def _change(before: Search, after: Search) -> float | None:
    first_pps, then_pps = before.found.load_pps, after.found.load_pps
    return then_pps / first_pps - 1 if first_pps and then_pps else None


def _same_state(one: Search, other: Search) -> bool:
    """Of the cores' distance."""
    here, there = (max(search.found.distances_cycles.values(), default=1.0) for search in (one, other))
    return max(here, there) < NEAR_TIMES * min(here, there)
