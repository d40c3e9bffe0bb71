# SPDX-License-Identifier: Apache-2.0
"""The rate of a set-up from the costs of its areas: the least that one of its cores can carry.

What is predicted is the forwarding rate at maximum offered load (RFC 2285, 3.6.2): the tester, which is a
part of the set-up, sends as fast as its core can.

`predict` is of a state of the machine that is known, `predict_blind` of the one that the calibration found it
in: a hypervisor moves cores, near and far, and slows them. What state a set-up will meet is not known, so the
rate is that of the calibration's median state, and how much rates differ from one of its states to another is
a part of the interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weir.base.error import USAGE, WeirError
from weir.lab.execution import SWITCH_KINDS, TESTER_KINDS, AreaPath, Execution
from weir.planning.model.fit import Parameters
from weir.planning.model.intervals import Spread
from weir.planning.model.terms import FASTPATH, HOP, MemoryCurve, area_terms, core_terms, smallest_hop

DOUBTFUL = 0.1
"""A cost whose standard deviation is above this share of it is not known."""
CLOSE = 0.1
"""Two cores within this share of each other both limit."""
STATES_MAX = 7
"""Distances of the cores that rates are predicted at; of more, so many quantiles."""


class UnknownCostError(WeirError):
    """The model never saw something that is asked about."""

    exit_code = USAGE

    def __init__(self, what: str) -> None:
        super().__init__(f"the model has no cost {what}; calibrate a lab that has them")


@dataclass(frozen=True)
class Range:
    """What the trials covered."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value lies in it, within a tenth."""
        return self.low * 0.9 <= value <= self.high * 1.1


@dataclass(frozen=True)
class CostModel:
    """Everything that a prediction needs."""

    parameters: Parameters
    memory: MemoryCurve
    hz: float
    """Cycles a second of the counter in which costs are."""
    utilisation: float
    """Share of a full core's time that its areas had, where the tester is one of them."""
    fed_utilisation: float
    """The same of a core that another one feeds: it finds nothing now and then."""
    conditional: Spread
    """How far off a rate may be in a state of the machine that is known."""
    blind: Spread
    """The same in a state that is not."""
    ranges: Mapping[str, Range]
    """Of `frame_bytes`, `flows`, `rules NF`, `functions`."""
    distances_cycles: tuple[float, ...] = ()
    """Of the cores in the calibration's best measurements; none on one core."""
    slowed: float = 1.0
    """How many times as much the trials would have carried, in the median, on cores that nobody slows."""


@dataclass(frozen=True)
class CoreLoad:
    """One core."""

    core: int
    cycles: float
    """Of all its areas, for each packet that the tester sends."""
    utilisation: float
    """Share of its time that it is busy at the predicted rate."""
    areas: tuple[tuple[str, float], ...]
    """Its areas and their cycles, dearest first."""


@dataclass(frozen=True)
class Prediction:
    """A rate, its interval, and what it rests on."""

    pps: float
    low_pps: float
    high_pps: float
    functions_pps: float
    """What the functions' areas could carry if the tester took no time on their cores."""
    limited_by: str
    """The core, and its dearest area."""
    cores: tuple[CoreLoad, ...]
    naive_pps: float
    """The same from the sum of stage costs, each as alone in an area: no interference, no hand-over."""
    notices: tuple[str, ...]
    """Where it extrapolates, and what it does not know."""

    def times(self, factor: float) -> Prediction:
        """The same with all rates so many times as high."""
        return replace(
            self,
            pps=self.pps * factor,
            low_pps=self.low_pps * factor,
            high_pps=self.high_pps * factor,
            functions_pps=self.functions_pps * factor,
            naive_pps=self.naive_pps * factor,
        )


def predict(model: CostModel, execution: Execution) -> Prediction:
    """The rate of `execution`, its cores as far from each other as it says, and not slowed. ValueError names
    the functions, and the switch, that were never measured."""
    _require_known(model, execution)
    asked, execution = execution, without_unknown_fastpath(model, execution)
    loads = [_core(model, execution, core) for core in execution.cores()]
    rates = {load.core: _rate(model, execution, load.core, load.cycles) for load in loads}
    full = min(loads, key=lambda load: rates[load.core])
    pps = rates[full.core]
    low_pps, high_pps = model.conditional.bounds(pps, _deviation(model, execution, full.core))
    close = [load for load in loads if rates[load.core] * (1 - CLOSE) < pps]
    return Prediction(
        pps=pps,
        low_pps=low_pps,
        high_pps=high_pps,
        functions_pps=min(
            _rate(model, execution, core, _function_cycles(model, execution, core))
            for core in execution.cores()
        ),
        limited_by=f"core {full.core}" + (f": {full.areas[0][0]}" if full.areas else ""),
        cores=tuple(replace(load, utilisation=pps / rates[load.core]) for load in loads),
        naive_pps=min(
            _rate(model, execution, core, naive_cycles(model, execution, core)) for core in execution.cores()
        ),
        notices=(*notices(model, asked), *_close(close)),
    )


def deviation(model: CostModel, execution: Execution) -> float:
    """Of the rate, as a share of it: how well the trials tell the cost of the core that is full."""
    execution = without_unknown_fastpath(model, execution)
    return _deviation(model, execution, _full(model, execution)[0])


def rate_pps(model: CostModel, execution: Execution) -> float:
    """As `predict` says, alone."""
    return _full(model, without_unknown_fastpath(model, execution))[1]


def _full(model: CostModel, execution: Execution) -> tuple[int, float]:
    """The core that is full first, and the rate."""
    rates = {
        core: _rate(model, execution, core, model.parameters.value(core_terms(execution, core, model.memory)))
        for core in execution.cores()
    }
    core = min(rates, key=rates.__getitem__)
    return core, rates[core]


def budget_hz(model: CostModel, execution: Execution, core: int) -> float:
    """Cycles a second that the areas of a core can have."""
    tests = any(area.kind in TESTER_KINDS for area in execution.on(core))
    return model.hz * (model.utilisation if tests else model.fed_utilisation)


def _rate(model: CostModel, execution: Execution, core: int, cycles: float) -> float:
    return budget_hz(model, execution, core) / cycles if cycles else math.inf


def knows_fastpath(model: CostModel) -> bool:
    """Whether some trial had one."""
    return FASTPATH in model.parameters.names


def without_unknown_fastpath(model: CostModel, execution: Execution) -> Execution:
    """The execution as far as the model can tell its cost: without fast paths if none was measured."""
    if not execution.fastpath or knows_fastpath(model):
        return execution
    areas = tuple(
        replace(area, paths=tuple(_forgetful(path) for path in area.paths)) for area in execution.areas
    )
    return replace(execution, areas=areas)


def _forgetful(path: AreaPath) -> AreaPath:
    return replace(path, remembers=False, remembered=0.0) if path.remembers else path


def _require_known(model: CostModel, execution: Execution) -> None:
    measured = {name.removeprefix("nf ") for name in model.parameters.names if name.count(" ") == 1}
    asked = {stage.nf for area in execution.areas for path in area.paths for stage in path.stages}
    missing = sorted(asked - measured)
    if missing:
        known = sorted(name.removeprefix("nf ") for name in model.parameters.names if name.startswith("nf "))
        listed = ", ".join(name for name in known if " " not in name)
        raise UnknownCostError(f"of {', '.join(missing)}; it has {listed}")
    hops = {f"{path.hop}{HOP}" for area in execution.areas for path in area.paths if path.hop and path.share}
    unknown = sorted(hops.difference(model.parameters.names))
    if unknown:
        raise UnknownCostError(f"of a {unknown[0]}: it is of another switch, or of none")


def _core(model: CostModel, execution: Execution, core: int) -> CoreLoad:
    areas = [
        (area.name, model.parameters.value(area_terms(area, execution, model.memory)))
        for area in execution.on(core)
        if area.share()
    ]
    cycles = model.parameters.value(core_terms(execution, core, model.memory))
    return CoreLoad(core, cycles, 0.0, tuple(sorted(areas, key=lambda one: -one[1])))


def _deviation(model: CostModel, execution: Execution, core: int) -> float:
    """Of a rate, as a share of it: how well this core's cost is known."""
    terms = core_terms(execution, core, model.memory)
    return model.parameters.deviation(terms) / max(model.parameters.value(terms), 1e-9)


def _function_cycles(model: CostModel, execution: Execution, core: int) -> float:
    return sum(
        model.parameters.value(area_terms(area, execution, model.memory))
        for area in execution.on(core)
        if area.kind not in TESTER_KINDS and area.share()
    )


def naive_cycles(model: CostModel, execution: Execution, core: int) -> float:
    """Of one core: each stage as it costs alone in an area of its own with few flows, the tester, and each
    network between the ports as with small frames and few flows."""
    parameters = model.parameters
    total = 0.0
    for area in execution.on(core):
        if area.kind in TESTER_KINDS and area.share():
            total += parameters.value(area_terms(area, execution, model.memory))
        for path in area.paths:
            for stage in path.stages:
                alone = {
                    f"nf {stage.nf}": 1.0,
                    "headers": float(stage.decides),
                    "headers from another core": 1.0,
                }
                total += path.share * parameters.value(alone)
            if area.kind in SWITCH_KINDS:
                total += path.share * parameters.value(smallest_hop(path, execution))
    return total


def notices(model: CostModel, execution: Execution) -> list[str]:
    """Sentences about what lies outside of what was measured."""
    found = []
    execution = without_unknown_fastpath(model, execution)
    longest = max((len(path.stages) for area in execution.areas for path in area.paths), default=0)
    values = {"frame_bytes": execution.frame_bytes, "flows": float(execution.flows), "functions": longest}
    for area in execution.areas:
        for path in area.paths:
            values |= {f"rules {stage.nf}": float(stage.rules) for stage in path.stages if stage.rules}
    for name, value in values.items():
        covered = model.ranges.get(name)
        if covered is not None and not covered.holds(value):
            what = f"{name.replace('_', ' ')} {value:.10g}"
            found.append(f"Extrapolates: {what}, measured {covered.low:.10g} to {covered.high:.10g}.")
    terms = {name for core in execution.cores() for name in core_terms(execution, core, model.memory)}
    unknown = sorted(name for name in terms if name not in model.parameters.names)
    if unknown:
        found.append(f"Never measured, and taken as nothing: {', '.join(unknown)}.")
    for core in execution.cores():
        needed = core_terms(execution, core, model.memory)
        deviation, value = model.parameters.deviation(needed), model.parameters.value(needed)
        if value and deviation > DOUBTFUL * value:
            found.append(
                f"The trials hardly tell the cost of core {core}: {value:.0f} ± {deviation:.0f} cycles."
            )
    if execution.fastpath and not knows_fastpath(model):
        found.append("The fast path was not measured: what it saves is not in the prediction.")
    return found


def _close(loads: Sequence[CoreLoad]) -> list[str]:
    if len(loads) < 2:
        return []
    named = " and ".join(str(load.core) for load in loads)
    return [
        f"Cores {named} are nearly as full as each other: both limit, and the rate may lie a little lower."
    ]


def typical(model: CostModel, execution: Execution) -> Execution:
    """The execution with its cores as far from each other as they were in the median; as it is where no
    distance was measured."""
    if not model.distances_cycles:
        return execution
    return replace(execution, core_distance_cycles=statistics.median(model.distances_cycles))


def as_slow_as_trials(model: CostModel) -> CostModel:
    """The model on cores that are slowed as much as those of the trials were in the median."""
    return replace(model, hz=model.hz / model.slowed, slowed=1.0)


def predict_blind(model: CostModel, execution: Execution) -> Prediction:
    """The rate of `execution` by the calibration alone. ValueError names what was never measured."""
    execution = typical(model, execution)
    found = predict(as_slow_as_trials(model), execution)
    off = math.hypot(deviation(model, execution), state_deviation(model, execution))
    low_pps, high_pps = model.blind.bounds(found.pps, off)
    return replace(found, low_pps=low_pps, high_pps=high_pps)


def state_deviation(model: CostModel, execution: Execution) -> float:
    """Standard deviation of the rate over the calibration's states, as a share of it."""
    if len(execution.cores()) < 2 or len(model.distances_cycles) < 2:
        return 0.0
    found = np.array(model.distances_cycles)
    if len(found) > STATES_MAX:
        found = np.quantile(found, (np.arange(STATES_MAX) + 0.5) / STATES_MAX)
    rates = [rate_pps(model, replace(execution, core_distance_cycles=float(distance))) for distance in found]
    return float(np.std(np.log(rates)))
