# SPDX-License-Identifier: Apache-2.0
"""Parameters of the cost model: from what trials measured, how well they are known, and which trials
tell most.

`fit` is Bayesian linear regression; nothing costs less than zero, but a difference between two costs may be
less. A weak prior (each term may cost up to some hundred cycles) makes the answer unique where the trials do
not tell two parameters apart, and its covariance says so. All measurements of one trial share a factor, since
the host is now slower, now faster; it is estimated with them. Measurements far off count less (Huber, 1964).

`chosen` takes the fewest of many possible trials, one after another: each step the one after which the
parameters are known best together (D-optimal, greedy: the largest determinant of the information). It ends
when every cost that is to be predicted is known well enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from weir.planning.model.terms import HANDED_OVER, HOP, INBOUND, Terms

Array = NDArray[np.float64]
PRIOR_CYCLES = 300.0
"""Standard deviation of what one term may contribute."""
NOISE_SHARE, NOISE_CYCLES = 0.03, 1.5
"""Of one measurement: share of it, and what the time-stamp counter adds."""
FACTOR_SHARE = 0.05
"""Standard deviation of a trial's factor."""
HUBER = 2.0
"""Standard deviations; what is farther off counts less."""
_ROUNDS = 6


@dataclass(frozen=True)
class Row:
    """One measured cost: cycles a packet of so much of each term."""

    trial: int
    terms: Terms
    cycles: float
    noise: float = 1.0
    """How much less than usual it is to be believed."""


@dataclass(frozen=True)
class Parameters:
    """Cycles of each term, and their covariance."""

    names: tuple[str, ...]
    cycles: Array
    covariance: Array

    def value(self, terms: Terms) -> float:
        """Cycles of what has these terms; what was never measured is left out."""
        return float(self._amounts(terms) @ self.cycles)

    def deviation(self, terms: Terms) -> float:
        """Standard deviation of `value`: how well the trials tell it."""
        amounts = self._amounts(terms)
        return math.sqrt(max(0.0, float(amounts @ self.covariance @ amounts)))

    def times(self, factor: float) -> Parameters:
        """All of them so many times as large."""
        return Parameters(self.names, self.cycles * factor, self.covariance * factor**2)

    def unknown(self, terms: Terms) -> list[str]:
        """Terms that no trial had."""
        return [name for name, amount in terms.items() if amount and name not in self.names]

    def _amounts(self, terms: Terms) -> Array:
        return np.array([terms.get(name, 0.0) for name in self.names])


@dataclass(frozen=True)
class Fitted:
    """Parameters, and what is left of the measurements."""

    parameters: Parameters
    factors: Mapping[int, float]
    """Of each trial: how much slower than the others the host was."""
    residuals: Array
    """Measured less fitted, as a share of the fitted, row by row."""


def fit(rows: Sequence[Row]) -> Fitted:
    """The parameters that explain `rows` best. ValueError without any."""
    if not rows:
        raise ValueError("nothing was measured")
    names = tuple(sorted({name for row in rows for name, amount in row.terms.items() if amount}))
    amounts = np.array([[row.terms.get(name, 0.0) for name in names] for row in rows])
    scale = np.abs(amounts).max(axis=0)
    cycles = np.array([row.cycles for row in rows])
    trials = np.array([row.trial for row in rows])
    noise = np.array([row.noise for row in rows]) * np.hypot(NOISE_SHARE * cycles, NOISE_CYCLES)
    factors, weights = np.ones(len(rows)), 1 / noise
    solved = np.zeros(len(names))
    # A switch, in the kernel above all, costs thousands of cycles, which the prior would make smaller.
    switched = any(name.endswith(HOP) for name in names)
    prior = max(PRIOR_CYCLES, float(cycles.max())) if switched else PRIOR_CYCLES
    signed = np.array([name.endswith((HANDED_OVER, INBOUND)) for name in names])
    for _ in range(_ROUNDS):
        solved = _solve(amounts / scale * factors[:, None], cycles, weights, signed, prior)
        fitted = amounts / scale @ solved
        factors = _factors(trials, cycles, fitted, 1 / noise)
        off = np.abs(cycles - fitted * factors) / noise
        # Rows are scaled, and their squares are summed: a square is to have Huber's weight.
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(off, 1e-12))) / noise
    design = amounts / scale * factors[:, None] * weights[:, None]
    left = (cycles - amounts / scale @ solved * factors) * weights
    variance = max(1.0, float(left @ left) / max(1, len(rows) - len(names)))
    information = design.T @ design / variance + np.eye(len(names)) / prior**2
    covariance = np.linalg.inv(information) / np.outer(scale, scale)
    fitted = amounts / scale @ solved
    return Fitted(
        parameters=Parameters(names, solved / scale, covariance),
        factors={int(trial): float(factors[trials == trial][0]) for trial in sorted(set(trials))},
        residuals=(cycles - fitted) / np.maximum(fitted, 1.0),
    )


def _solve(design: Array, cycles: Array, weights: Array, signed: NDArray[np.bool_], prior: float) -> Array:
    """Weighted least squares, nothing below zero but what is `signed`, each parameter pulled to zero by its
    prior."""
    count = design.shape[1]
    above = np.vstack([design * weights[:, None], np.eye(count) / prior])
    aim = np.concatenate([cycles * weights, np.zeros(count)])
    found = nnls(np.hstack([above, -above[:, signed]]), aim)[0]
    solved = np.array(found[:count], dtype=np.float64)
    solved[signed] -= found[count:]
    return solved


def _factors(trials: NDArray[Any], cycles: Array, fitted: Array, weights: Array) -> Array:
    """Of each row its trial's factor, pulled to one by its prior; their median is one."""
    found = np.ones(len(cycles))
    for trial in set(trials):
        mine = trials == trial
        strength = float(np.sum((fitted[mine] * weights[mine]) ** 2))
        pull = float(np.sum(fitted[mine] * (cycles[mine] - fitted[mine]) * weights[mine] ** 2))
        found[mine] = 1 + pull / (strength + 1 / FACTOR_SHARE**2)
    each = [float(found[trials == trial][0]) for trial in set(trials)]
    return np.asarray(found / np.median(each), dtype=np.float64)


ROW_CYCLES = 5.0
"""Standard deviation of one measurement of a stage or area, for planning."""
KNOWN_CYCLES = 6.0
"""A cost with a smaller standard deviation is known."""


def chosen(
    trials: Sequence[Sequence[Terms]], aims_at: Sequence[Terms], most: int, turns: Sequence[Sequence[int]]
) -> list[int]:
    """Indices of the trials to run, in order. `trials`: the terms of every row that each would measure.

    `aims_at`: what is to be predicted; the choice ends when all of it is known, or with `most`. `turns`:
    groups of indices; they choose in turn, each one of its own, since the model is less exact from one way
    of running functions to another than the numbers say. All have their turn once.
    """
    names = sorted({name for trial in trials for row in trial for name in row})
    designs = [_design(trial, names) for trial in trials]
    aims = _design([terms for terms in aims_at if all(name in names for name in terms)], names)
    scale = np.maximum(np.max([np.abs(one).max(axis=0) for one in designs], axis=0), 1e-9)
    gains = [(one / scale / ROW_CYCLES).T @ (one / scale / ROW_CYCLES) for one in designs]
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
