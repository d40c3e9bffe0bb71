# SPDX-License-Identifier: Apache-2.0
"""How good a fitted model is: the error of each trial's rate, predicted without that trial."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weir.lab.execution import Execution
from weir.planning.model.capacity import (
    DOUBTFUL,
    CostModel,
    Range,
    deviation,
    predict,
    predict_blind,
    state_deviation,
    typical,
)
from weir.planning.model.fit import Fitted, Parameters, Row, fit
from weir.planning.model.intervals import Residual, Spread, spread
from weir.planning.model.terms import MemoryCurve, core_terms

SCATTER_MIN = 0.005
"""No rate on a shared host is known better."""
SWITCHED_SCATTER_MIN = 0.08
"""Nor one behind a switch: what it copies and looks up waits for memory that others use, which changes from
one minute to the next more than trials of a few minutes tell (labs/predict-switch)."""
LEFT_OUT_MIN = 3
UNKNOWN = Spread(0.0, 0.0)


@dataclass(frozen=True)
class Measured:
    """One measurement of a trial: what was set up, its rate, and the costs of its areas."""

    execution: Execution
    pps: float
    rows: tuple[Row, ...]
    group: int
    """Measurements of one set-up have the same."""
    utilisation: float = 1.0
    """Share of the time of the core that limits in which something was done."""
    fed: bool = False
    """Another core feeds that one."""
    light: tuple[Row, ...] = ()
    """Costs of the set-up's areas at loads at which bursts are short."""
    slowed: float = 1.0
    """How many times what was received `pps` is, had nobody slowed its cores."""
    drawn: bool = False
    """A set-up that was drawn at random, as those are that a model is held against."""

    def all_rows(self) -> tuple[Row, ...]:
        """All that it tells of the parameters."""
        return (*self.rows, *self.light)


@dataclass(frozen=True)
class ErrorSummary:
    """Absolute relative errors of predicted rates."""

    mean: float
    p90: float
    worst: float
    bias: float
    """Mean with its sign: above zero the prediction is too high."""


def errors(predicted: Sequence[float], measured: Sequence[float]) -> ErrorSummary:
    """Of each prediction against its measurement. ValueError without any."""
    if not predicted:
        raise ValueError("nothing was measured")
    signed = np.array(predicted) / np.array(measured) - 1
    sizes = np.abs(signed)
    return ErrorSummary(
        mean=float(sizes.mean()),
        p90=float(np.quantile(sizes, 0.9)),
        worst=float(sizes.max()),
        bias=float(signed.mean()),
    )


@dataclass(frozen=True)
class LeftOut:
    """The rate of one set-up, predicted without its own measurements."""

    group: int
    conditional: Residual
    """In the state that it was measured in."""
    blind: Residual
    """In the median state of the others."""
    fitted: bool
    """No other set-up tells what it costs: with its own measurements, the error that the fit leaves."""


def calibrated(
    trials: Sequence[Measured], memory: MemoryCurve, hz: float
) -> tuple[CostModel, Fitted, list[LeftOut]]:
    """The model of all trials, with intervals from the errors of rates that were left out of the fit."""
    fitted = fit([row for trial in trials for row in trial.all_rows()])
    best = undisturbed(trials)
    model = CostModel(
        parameters=at_best(fitted, trials),
        memory=memory,
        hz=hz,
        utilisation=_utilisation(trials, fed=False),
        fed_utilisation=_utilisation(trials, fed=True),
        conditional=UNKNOWN,
        blind=UNKNOWN,
        ranges=ranges(trials),
        distances_cycles=_distances(best),
        slowed=statistics.median(trial.slowed for trial in best),
    )
    left_out = _left_out(model, trials, best)
    switched = any(trial.execution.switched() for trial in trials)
    least = SWITCHED_SCATTER_MIN if switched else SCATTER_MIN
    return (
        replace(
            model,
            conditional=spread([one.conditional for one in left_out], least),
            blind=spread([one.blind for one in left_out], least),
        ),
        fitted,
        left_out,
    )


def _distances(best: Sequence[Measured]) -> tuple[float, ...]:
    return tuple(
        sorted(trial.execution.core_distance_cycles for trial in best if len(trial.execution.cores()) > 1)
    )


def _utilisation(trials: Sequence[Measured], *, fed: bool) -> float:
    """The median; of all trials where there are none of the kind."""
    of_kind = [trial.utilisation for trial in trials if trial.fed is fed]
    return statistics.median(of_kind or [trial.utilisation for trial in trials])


def at_best(fitted: Fitted, trials: Sequence[Measured]) -> Parameters:
    """What the parameters are when the host disturbs least: of each set-up the best measurement tells, as it
    is the best one against which predictions are held."""
    factors: dict[int, float] = {}
    for trial in trials:
        for number in {row.trial for row in trial.rows}:
            factor = fitted.factors.get(number, 1.0)
            factors[trial.group] = min(factor, factors.get(trial.group, factor))
    level = statistics.median(factors.values()) if factors else 1.0
    return fitted.parameters.times(level)


def undisturbed(trials: Sequence[Measured]) -> list[Measured]:
    """of each set-up the fastest measurement."""
    best: dict[int, Measured] = {}
    for trial in trials:
        known = best.get(trial.group)
        if known is None or trial.pps > known.pps:
            best[trial.group] = trial
    return [best[group] for group in sorted(best)]


def ranges(trials: Sequence[Measured]) -> dict[str, Range]:
    """Of all that predictions may differ in."""
    values: dict[str, list[float]] = {}
    for trial in trials:
        execution = trial.execution
        values.setdefault("frame_bytes", []).append(execution.frame_bytes)
        values.setdefault("flows", []).append(float(execution.flows))
        for area in execution.areas:
            for path in area.paths:
                if path.stages:
                    values.setdefault("functions", []).append(float(len(path.stages)))
                for stage in path.stages:
                    if stage.rules:
                        values.setdefault(f"rules {stage.nf}", []).append(float(stage.rules))
    return {name: Range(min(seen), max(seen)) for name, seen in values.items()}


def _left_out(model: CostModel, trials: Sequence[Measured], best: Sequence[Measured]) -> list[LeftOut]:
    """Of set-ups that were drawn at random, if there are enough: chosen ones are chosen since no other tells
    what they do, so that without them the model is worse than it is.

    Where no other trial tells what one costs, the error that the fit leaves: its rate may be less than the
    sum of its costs says.
    """
    drawn = [trial for trial in best if trial.drawn]
    found = []
    for trial in drawn if len(drawn) >= LEFT_OUT_MIN else best:
        others = [other for other in trials if other.group != trial.group]
        rows = [row for other in others for row in other.all_rows()]
        if not rows:
            continue
        without = replace(model, parameters=at_best(fit(rows), others))
        told = _tells(without, trial.execution)
        found.append(_errors_of(without if told else model, trial, fitted=not told))
    return found


def _errors_of(model: CostModel, trial: Measured, *, fitted: bool) -> LeftOut:
    away = typical(model, trial.execution)
    return LeftOut(
        trial.group,
        Residual(
            math.log(trial.pps / predict(model, trial.execution).pps), deviation(model, trial.execution)
        ),
        Residual(
            math.log(trial.pps / trial.slowed / predict_blind(model, away).pps),
            math.hypot(deviation(model, away), state_deviation(model, away)),
        ),
        fitted,
    )


def _tells(model: CostModel, execution: Execution) -> bool:
    """Whether the model knows all that the execution costs."""
    for core in execution.cores():
        terms = core_terms(execution, core, model.memory)
        if model.parameters.unknown(terms):
            return False
        if model.parameters.deviation(terms) > DOUBTFUL * model.parameters.value(terms):
            return False
    return True
