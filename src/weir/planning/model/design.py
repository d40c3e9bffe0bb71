# SPDX-License-Identifier: Apache-2.0
"""Which trials tell the parameters: the fewest of many possible ones, chosen one after another.

Each step takes the trial after which the parameters are known best together (D-optimal, greedy: the largest
determinant of the information). It ends when every cost that is to be predicted is known well enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weir.planning.model.fit import PRIOR_CYCLES
from weir.planning.model.terms import Terms

Array = NDArray[np.float64]
NOISE_CYCLES = 5.0
"""Standard deviation of one measurement of a stage or area, for planning."""
KNOWN_CYCLES = 6.0
"""A cost with a smaller standard deviation is known."""


def chosen(
    trials: Sequence[Sequence[Terms]], wanted: Sequence[Terms], most: int, turns: Sequence[Sequence[int]]
) -> list[int]:
    """Indices of the trials to run, in order. `trials`: the terms of every row that each would measure.

    `wanted`: what is to be predicted; the choice ends when all of it is known, or with `most`. `turns`:
    groups of indices; they choose in turn, each one of its own, since the model is less exact from one way
    of running functions to another than the numbers say. All have their turn once.
    """
    names = sorted({name for trial in trials for row in trial for name in row})
    designs = [_design(trial, names) for trial in trials]
    aims = _design([terms for terms in wanted if all(name in names for name in terms)], names)
    scale = np.maximum(np.max([np.abs(one).max(axis=0) for one in designs], axis=0), 1e-9)
    gains = [(one / scale / NOISE_CYCLES).T @ (one / scale / NOISE_CYCLES) for one in designs]
    information = np.eye(len(names)) / PRIOR_CYCLES**2
    found: list[int] = []
    for turn in itertools.count():
        left = [index for index in turns[turn % len(turns)] if index not in found]
        all_had = turn >= len(turns)
        if len(found) == min(most, len(trials)) or (all_had and _known(information, aims / scale)):
            return found
        if left:
            best = max(left, key=lambda index: _volume(information + gains[index]))
            found.append(best)
            information = information + gains[best]
    raise AssertionError


def _design(rows: Sequence[Terms], names: Sequence[str]) -> Array:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows]).reshape(len(rows), len(names))


def _known(information: Array, aims: Array) -> bool:
    variances = np.einsum("ij,jk,ik->i", aims, np.linalg.inv(information), aims)
    return bool(np.all(variances <= KNOWN_CYCLES**2))


def _volume(information: Array) -> float:
    return float(np.linalg.slogdet(information)[1])
