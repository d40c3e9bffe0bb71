# SPDX-License-Identifier: Apache-2.0
"""What is compared of a run, or of several of the same: each rate and delay with its samples.

Of one run a sample is a round (of a run of one round: a repeat); of several, a run. Rounds of a worse state
of the machine do not stand beside those of its best one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weir.comparison.exactness import exactness
from weir.results.figures import Figure, Unit, figures
from weir.results.result import Case, Result, Setup

Key = tuple[str, str, str, str]
"""Chain, way, frame, what."""


@dataclass(frozen=True)
class Samples:
    """Of one rate or delay; no values: it was not found."""

    unit: Unit
    values: tuple[float, ...] = ()
    resolution: float = 0.0
    """How exactly each is known, as a share of it."""
    tester_bound: bool = False
    lab_bound: bool = False
    worse_state: bool = False
    """All that there is was measured in a worse state of the machine."""
    load_pps: float | None = None
    """Of a delay, or what was carried: at which rate."""
    why: str | None = None
    """Why there is none; of connections also what to bear in mind of what there is."""

    @property
    def at_least(self) -> bool:
        """Whether it may be more: nothing above it was tried."""
        return self.tester_bound or self.lab_bound

    @property
    def middle(self) -> float | None:
        return statistics.median(self.values) if self.values else None


def of_runs(results: Sequence[Result]) -> dict[Key, Samples]:
    """Of one run its rounds; of several a sample each."""
    if len(results) == 1:
        return dict(_of_run(results[0]))
    each = [dict(_of_run(result)) for result in results]
    keys = list(dict.fromkeys(key for run in each for key in run))
    return {key: _together([run[key] for run in each if key in run]) for key in keys}


def _together(of: Sequence[Samples]) -> Samples:
    found = [one for one in of if one.values]
    if not found:
        return of[0]
    best = [one for one in found if not one.worse_state] or found
    highest = statistics.median_high(one.middle or 0.0 for one in best)
    middle = [one for one in best if (one.middle or 0.0) <= highest]
    loads = [one.load_pps for one in best if one.load_pps is not None]
    return replace(
        best[0],
        values=tuple(one.middle for one in best if one.middle is not None),
        tester_bound=any(one.tester_bound for one in middle),
        lab_bound=any(one.lab_bound for one in middle),
        load_pps=statistics.median(loads) if loads else None,
    )


def _of_run(result: Result) -> Iterator[tuple[Key, Samples]]:
    for setup, case in result.cases():
        for figure in figures(case):
            yield _key(setup, case, figure.what), _samples(figure, result.spec)


def _key(setup: Setup, case: Case, what: str) -> Key:
    return setup.chain, setup.name, case.frame, what


def _samples(of: Figure, spec: Mapping[str, Any]) -> Samples:
    """Of a delay: of the worse direction."""
    if of.out_of_time:
        return Samples(of.unit, why="its search ran out of time")
    if not of.samples:
        at_load = of.load_pps is not None
        return Samples(of.unit, why=of.why or ("no valid trial" if at_load else "irregular"))
    exact = exactness(of.unit, of.what, statistics.median(of.samples), spec)
    why = of.why if of.unit not in ("pps", "us") else None
    bounds = of.tester_bound, of.lab_bound
    return Samples(of.unit, of.samples, exact, *bounds, of.worse_state, of.load_pps, why)
