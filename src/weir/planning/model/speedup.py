# SPDX-License-Identifier: Apache-2.0
"""The speed-up of n cores: equations (3) to (5) of [Lean], section II.C.

(3): S(n) = f_t n / (1 + (n - 1) f_a + n f_s + n Σ f_i), the sum over i = 1 … n. All cores of a
run-to-completion system do the same, so its f_i are equal and the sum is n f_i.

What can be identified: n / S(n) is a polynomial of degree two in n, so measurements of n cores give three
numbers, not four. f_t, the change of the total computational scale, is known (1: the same work a packet), not
fitted. f_s, the fixed overhead, shows only against a core *without* any parallel overhead: the rate that a
lean measurement predicts. Without that reference its cost is in the reference rate, and f_s is reported as 0.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from weir.base import packet_rate

RESAMPLES = 200
LEVEL = 0.95

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Factors:
    """The factors of equation (3), each a share of the work of one core."""

    total_scale: float = 1.0
    """f_t, above 0."""
    nonparallel: float = 0.0
    """f_a, 0 to 1."""
    fixed_overhead: float = 0.0
    """f_s, from 0."""
    cumulative_overhead: float = 0.0
    """f_i of each core, from 0."""


@dataclass(frozen=True)
class Point:
    """One measurement."""

    cores: int
    pps: float


@dataclass(frozen=True)
class Interval:
    """95 %, by bootstrap of the residuals."""

    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """Factors that explain measurements."""

    factors: Factors
    reference_pps: float
    """Of one core without parallel overhead."""
    reference_given: bool
    intervals: dict[str, Interval]
    """By the name of the factor, and of `reference_pps` unless it was given."""
    residual: float
    """Largest relative deviation of a measurement from the model."""
    best_cores: int | None
    """Where S(n) is highest; None: it grows without end."""


def speedup(cores: int, factors: Factors) -> float:
    """S(n) by equation (3)."""
    if cores < 1:
        raise ValueError(f"{cores} cores; expected 1 or more")
    cumulative = cores * factors.cumulative_overhead
    spent = 1 + (cores - 1) * factors.nonparallel + cores * (factors.fixed_overhead + cumulative)
    return factors.total_scale * cores / spent


def best_cores(factors: Factors) -> int | None:
    """The number of cores at which S(n) is highest: beyond, each further core costs more than it gives."""
    if factors.cumulative_overhead <= 0:
        return None
    peak = math.sqrt(max(0.0, 1 - factors.nonparallel) / factors.cumulative_overhead)
    return max((max(1, math.floor(peak)), math.ceil(peak) or 1), key=lambda n: speedup(n, factors))


def points_of_csv(text: str) -> list[Point]:
    """Rows `cores,pps` under such a heading, repeats welcome. ValueError says what is wrong."""
    rows = csv.DictReader(io.StringIO(text))
    if rows.fieldnames is None or not {"cores", "pps"} <= {name.strip() for name in rows.fieldnames}:
        raise ValueError("expected a first line `cores,pps`")
    points = []
    for row in rows:
        values = {
            (key or "").strip(): (value or "").strip() for key, value in row.items() if isinstance(value, str)
        }
        try:
            point = Point(int(values["cores"]), float(values["pps"]))
        except (KeyError, ValueError):
            wanted = "a whole number of cores and a rate in pps"
            raise ValueError(f"line {rows.line_num}: expected {wanted}") from None
        if point.cores < 1 or not 0 < point.pps < math.inf:
            raise ValueError(f"line {rows.line_num}: expected 1 core or more, and a rate above 0")
        points.append(point)
    return points


def fit(points: Sequence[Point], *, reference_pps: float | None = None) -> Fit:
    """The factors that explain the rates, least squares of relative deviations, none of them below 0.

    ValueError with too few points: three different numbers of cores.
    """
    different = {point.cores for point in points}
    if len(different) < 3:
        raise ValueError(f"{len(different)} different numbers of cores; expected 3 or more")
    cores = np.array([point.cores for point in points], dtype=float)
    pps = np.array([point.pps for point in points], dtype=float)
    solve = _Solver(cores, reference_pps)
    found = solve(pps)
    model = solve.rates(found)
    residuals = np.log(pps / model)
    freedom = max(1, len(points) - len(found))
    spread = residuals * math.sqrt(len(points) / freedom)
    draws = np.random.default_rng(1)  # the same measurements give the same intervals
    resampled = np.array([solve(model * np.exp(draws.choice(spread, len(points)))) for _ in range(RESAMPLES)])
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    factors, reference = solve.named(found)
    return Fit(
        factors=factors,
        reference_pps=reference,
        reference_given=reference_pps is not None,
        intervals={
            name: Interval(float(low[index]), float(high[index])) for index, name in enumerate(solve.names)
        },
        residual=float(np.max(np.abs(np.expm1(residuals)))),
        best_cores=best_cores(factors),
    )


class _Solver:
    """Three unknowns: two or three factors, and the reference rate unless it is given."""

    def __init__(self, cores: Array, reference_pps: float | None) -> None:
        self.cores, self.reference = cores, reference_pps
        third = "reference_pps" if reference_pps is None else "fixed_overhead"
        self.names = ("nonparallel", "cumulative_overhead", third)

    def named(self, values: Array) -> tuple[Factors, float]:
        nonparallel, cumulative, third = (float(value) for value in values)
        fixed, reference = (0.0, third) if self.reference is None else (third, self.reference)
        factors = Factors(nonparallel=nonparallel, fixed_overhead=fixed, cumulative_overhead=cumulative)
        return factors, reference

    def rates(self, values: Array) -> Array:
        factors, reference = self.named(values)
        return np.array([reference * speedup(int(n), factors) for n in self.cores])

    def __call__(self, pps: Array) -> Array:
        guess = float(np.max(pps / self.cores)) if self.reference is None else 0.01

        def deviations(values: Array) -> Array:
            return np.asarray(np.log(self.rates(values) / pps), dtype=float)

        found = least_squares(
            deviations,
            x0=[0.05, 0.005, guess],
            bounds=([0, 0, 0], [1, 10, np.inf]),
            x_scale=[0.1, 0.01, max(guess, 0.01)],
        )
        return np.asarray(found.x, dtype=float)


# Equation (5): all of them low. What each means, and what lowers it ([Lean], sections II.C and III).
_MEANINGS = {
    "nonparallel": (
        "f_a",
        "of one core's work cannot be done beside others, such as a look-up that a rewrite waits for; better "
        "locality (NUMA placement, state in the caches, lock-free dispatch) lowers it",
    ),
    "fixed_overhead": (
        "f_s",
        "is a fixed cost of running in parallel at all, the same for any number of cores: runtime, platform, "
        "hypervisor; compiler options, isolation and hugepages lower it",
    ),
    "cumulative_overhead": (
        "f_i",
        "is added by each further core to the work of all: lines and locks that cores hand to each other; "
        "private flow tables, larger bursts between cores and a shorter path lower it",
    ),
}


def sentences(fit: Fit) -> list[str]:
    """The fit for people: a line a factor, with its interval and what lowers it."""
    said = [f"speed-up model, equation (3); largest deviation of a measurement {fit.residual:.1%}", ""]
    for name, (symbol, meaning) in _MEANINGS.items():
        if name in fit.intervals:
            said.append(
                f"{symbol} = {_with_interval(getattr(fit.factors, name), fit.intervals[name])}: {meaning}."
            )
    said.append(
        f"f_t = {fit.factors.total_scale:g}: the total computational scale, given and not fitted; less work "
        "a packet (offloads, better algorithms, the fast path) lowers it, and raises the reference rate."
    )
    if fit.reference_given:
        said.append(f"One core without parallel overhead: {packet_rate.said(fit.reference_pps)}, given.")
    else:
        interval = fit.intervals["reference_pps"]
        said.append(
            f"One core without parallel overhead: {packet_rate.said(fit.reference_pps)} "
            f"({interval.low / 1e6:.3f} to {interval.high / 1e6:.3f}), fitted. f_s cannot be told apart from "
            "it: give --reference-pps, as `weir lean` predicts it."
        )
    if fit.best_cores is None:
        said.append("The rate grows with every further core.")
    else:
        peak = packet_rate.said(fit.reference_pps * speedup(fit.best_cores, fit.factors))
        said.append(f"Most at {fit.best_cores} cores: {peak}; further cores cost more than they give.")
    return said


def _with_interval(value: float, interval: Interval) -> str:
    return f"{value:.4f} ({interval.low:.4f} to {interval.high:.4f})"


def as_json(fit: Fit) -> str:
    """The fit for machines."""
    return json.dumps(asdict(fit), indent=2)
