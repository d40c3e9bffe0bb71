# SPDX-License-Identifier: Apache-2.0
"""Trials from which the cost model of a switch can be made: chains of one function, and of several.

Every function more is one more network to cross, which tells the switch's own cost from that of the tester
and of the functions. Each chain has several kinds of traffic, of small and large frames and of few and many
flows: what more bytes and more flows cost adds up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from weir.lab.function import ARCHITECTURES, NfOptions
from weir.lab.lab import Lab
from weir.lab.technology import TechnologyName
from weir.plan.trials import (
    FEW_FLOWS,
    MANY_FLOWS,
    PlannedTrial,
    chains,
    frame_ends,
    library,
    places,
    possible,
)
from weir.technology import TECHNOLOGIES

CACHED_FLOWS = 2000
"""For which the exact-match cache has room in each of these chains, and nearer caches have not."""
APART_MAX = 3
"""Functions in a chain of trials, each with ports of its own."""


def switched_candidates(lab: Lab, technology: TechnologyName, cpus: Sequence[int]) -> list[PlannedTrial]:
    """Every trial that may be worth running; those that weir-dp would refuse are left out."""
    return possible(_all(lab, technology, library(lab), cpus), lab, cpus)


def bundled(trials: Sequence[PlannedTrial]) -> list[list[PlannedTrial]]:
    """Those together that differ in traffic alone: a chain behind a switch takes longer to build than to
    measure, and is built for all of them at once."""
    found: list[list[PlannedTrial]] = []
    for one in trials:
        alike = (some for some in found if one == replace(some[0], frame=one.frame, flows=one.flows))
        same = next(alike, None)
        if same is None:
            found.append([one])
        else:
            same.append(one)
    return found


def _all(
    lab: Lab, technology: TechnologyName, functions: tuple[NfOptions, ...], cpus: Sequence[int]
) -> Iterator[PlannedTrial]:
    """Run to completion; and in the other architectures that functions of the lab have."""
    switch = set(lab.cores_for(technology, cpus).switch or ()) if TECHNOLOGIES[technology].own_core else set()
    free = [cpu for cpu in cpus if cpu not in switch]
    if not free:
        return
    used = {one.architecture for one in lab.functions.values()}
    architectures = [one for one in ARCHITECTURES if one == ARCHITECTURES[0] or one in used]
    small, large = frame_ends(lab)
    traffic = [(small, FEW_FLOWS), (large, FEW_FLOWS), (small, MANY_FLOWS)]
    if TECHNOLOGIES[technology].flow_cache:
        traffic.append((small, CACHED_FLOWS))
    for (frame, flows), (tester, cores) in itertools.product(traffic, places(free)):
        for chain, architecture in itertools.product(_together(functions), architectures):
            if architecture != ARCHITECTURES[0] or len(cores) == 1:
                yield PlannedTrial(chain, architecture, frame, flows, tester, cores, technology=technology)
        for chain in _apart(functions) if len(cores) == 1 else ():
            yield PlannedTrial(
                chain, ARCHITECTURES[0], frame, flows, tester, cores, technology=technology, apart=True
            )


def _together(functions: tuple[NfOptions, ...]) -> Iterator[tuple[NfOptions, ...]]:
    """In one function: each alone, and as trials without a switch have them."""
    if len(functions) > 1:
        yield from ((one,) for one in functions)
    yield from chains(functions)


def _apart(functions: tuple[NfOptions, ...]) -> Iterator[tuple[NfOptions, ...]]:
    """Each in a function of its own, two and more of them; one alone twice, and three times."""
    around = functions * APART_MAX
    for length in range(2, APART_MAX + 1):
        for at in range(len(functions)):
            yield around[at : at + length]
