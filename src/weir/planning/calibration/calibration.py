# SPDX-License-Identifier: Apache-2.0
"""`weir model calibrate` as a whole: trials planned and measured, and the cost model that they make."""

from __future__ import annotations

import math
import secrets
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from weir import __version__, fabric, plan
from weir.fabric import lean as process
from weir.fabric.built import built
from weir.lab import Lab
from weir.lab.execution import Execution
from weir.lab.function import ARCHITECTURES
from weir.lab.variant import TechnologyName
from weir.measure.windows import limiting
from weir.plan.random_labs import drawn
from weir.plan.trials import (
    PlannedTrial,
    bundled,
    candidates,
    library,
    switched_candidates,
    trial_chain,
    trial_lab,
)
from weir.planning.calibration.drawing import LOST_MAX, known_of_lab, tried
from weir.planning.calibration.rows import idle_shares, row_terms, rows, testers
from weir.planning.calibration.set_up import Visited, core_speed_of, returning, setup
from weir.planning.calibration.visits import Say, visited
from weir.planning.model.capacity import predict
from weir.planning.model.document import parameters_of
from weir.planning.model.fit import chosen
from weir.planning.model.quality import Measured, calibrated, errors, undisturbed
from weir.planning.model.terms import MemoryCurve, area_terms
from weir.planning.placement.prediction import execution_of
from weir.procedures.driver import take_down_leftovers
from weir.results.model import (
    MemoryPoint,
    ModelDocument,
    ModelLeftOut,
    ModelQuality,
    ModelRange,
    ModelSpread,
    ModelTrial,
)
from weir.technology import TECHNOLOGIES

MOST_TRIALS = 24
RANDOM_TRIALS = 30
"""An interval that holds 95 % of rates is read from the errors of so many."""
SEED_BITS = 63
MEMORY_BYTES = tuple(16 << 10 << step for step in range(16))  # 16 KiB to 512 MiB
DISTURBED_NOISE = 5.0
"""Costs of a trial that was never seen on a quiet host, never settled, or lost packets in functions."""


def planned(
    lab: Lab,
    cpus: Sequence[int],
    memory: MemoryCurve,
    most: int = MOST_TRIALS,
    technology: TechnologyName = "direct",
) -> list[PlannedTrial]:
    """The trials to run, those first that tell most. PlanError if none tells anything."""
    switched = technology != "direct"
    options = switched_candidates(lab, technology, cpus) if switched else candidates(lab, cpus)
    if not options:
        raise plan.PlanError(
            f"lab {lab.name} has no function that returns packets, or no core for it under {technology}: "
            "nothing to calibrate"
        )
    bundles = bundled(options) if switched else [[one] for one in options]
    executions = [[_execution_of(lab, one) for one in bundle] for bundle in bundles]
    terms = [[row for one in some for row in row_terms(one, memory)] for some in executions]
    aims = [
        area_terms(area, one, memory)
        for some in executions
        for one in some
        for area in one.areas
        if area.share()
    ]
    largest = max(map(len, bundles))
    turns = _turns([bundle[0] for bundle in bundles], switched=switched)
    found = chosen(terms, aims, max(1, most // largest), turns)
    return [one for index in found for one in bundles[index]][:most]


def _turns(options: Sequence[PlannedTrial], *, switched: bool) -> list[list[int]]:
    """Run to completion on one core, by how many networks or flows there are, and on two; each other
    architecture, and fast paths of each room."""
    first, pipeline, *shared = ARCHITECTURES
    plain: dict[str, list[int]] = {name: [] for name in ARCHITECTURES}
    quick: dict[int, list[int]] = {}
    for index, one in enumerate(options):
        group = quick.setdefault(one.fastpath_flows, []) if one.fastpath_flows else plain[one.architecture]
        group.append(index)
    alone: dict[tuple[int, int], list[int]] = {}
    for index in plain[first]:
        if options[index].alone():
            flows = 0 if switched else options[index].flows
            alone.setdefault((options[index].parts(), flows), []).append(index)
    turns = [
        *(alone[kind] for kind in sorted(alone)),
        plain[pipeline],
        [index for index in plain[first] if not options[index].alone()],
        *(plain[name] for name in shared),
        *quick.values(),
    ]
    return [turn for turn in turns if turn]


def _execution_of(lab: Lab, trial: PlannedTrial) -> Execution:
    its = trial_lab(lab, trial)
    return execution_of(its, trial_chain(its), trial.frame, trial.technology)


def memory_curve() -> MemoryCurve:
    """Of this machine. FabricError without weir-lean."""
    lines = process.measure_machine(built("weir-lean"), list(MEMORY_BYTES), process.separate_cpus())
    points = [(float(line["bytes"]), min(line["cycles"])) for line in lines if "bytes" in line]
    rising = [
        (size, max(cycles for _, cycles in points[: index + 1])) for index, (size, _) in enumerate(points)
    ]
    return MemoryCurve(tuple(rising))


@dataclass(frozen=True)
class Calibration:
    """The trials of one lab, to be run; then the model that they make."""

    lab: Lab
    memory: MemoryCurve
    trials: tuple[PlannedTrial, ...]
    technology: TechnologyName
    drawn: int
    """Set-ups to be drawn at random from the lab's functions: they tell what chosen trials are not like, and
    how far off rates are of what nobody chose."""
    cpus: tuple[int, ...]

    def run(self, say: Say) -> ModelDocument:
        """Measures all trials. FabricError or DataPlaneError when one cannot be built."""
        setups = self.measured(say)
        return document(self.lab, setups, self.memory, self.technology)

    def measured(self, say: Say) -> list[Visited]:
        """All set-ups, visited."""
        setups = []
        for trial in self.trials:
            its = trial_lab(self.lab, trial)
            setups.append(setup(its, trial_chain(its), trial.frame, trial.text(), self.technology))
        if self.drawn:
            take_down_leftovers(say)
            draws = drawn(known_of_lab(self.lab, self.technology), self.cpus, secrets.randbits(SEED_BITS))
            setups += tried(draws, self.technology, self.drawn, say).setups
        # Delays, for which short bursts matter, are not predicted behind a switch.
        visited(setups, say, light=self.technology == "direct")
        return setups


def calibration(
    lab: Lab,
    cpus: Sequence[int],
    most: int = MOST_TRIALS,
    technology: TechnologyName = "direct",
    random: int | None = None,
) -> Calibration:
    """Measures the machine's memory and plans the trials; takes some seconds. `random`: so many more
    are drawn; None: as many as tell how far off rates are, none behind a switch, where building is slow."""
    memory = memory_curve()
    trials = planned(lab, cpus, memory, most, technology)
    if random is None:
        random = RANDOM_TRIALS if technology == "direct" else 0
    return Calibration(lab, memory, tuple(trials), technology, random, tuple(cpus))


def measured(setups: Sequence[Visited], memory: MemoryCurve) -> list[Measured]:
    """Every measurement of every set-up, as the mathematics take it."""
    found: list[Measured] = []
    for group, one in enumerate(setups):
        for each in one.measurements():
            calm = one.enough() and one.settled and each.costs.lost_in_functions <= LOST_MAX
            noise = 1.0 if calm else DISTURBED_NOISE
            idle, tester = idle_shares(each.execution, each.costs), testers(each.execution)
            full = limiting(idle, tester)
            found.append(
                Measured(
                    each.execution,
                    each.costs.pps,
                    tuple(rows(each.as_found(), each.costs, len(found), memory, noise)),
                    group,
                    utilisation=1 - min(idle[core] for core in full),
                    fed=not full & tester,
                    slowed=each.costs.slowed,
                    drawn=one.drawn,
                )
            )
        last = len(found) - 1
        for each in one.light_measurements():
            short = rows(each.as_found(), each.costs, last, memory, light=True)
            found[last] = replace(found[last], light=(*found[last].light, *short))
    return found


def document(
    lab: Lab, setups: Sequence[Visited], memory: MemoryCurve, technology: TechnologyName = "direct"
) -> ModelDocument:
    """The model that the set-ups, all visited, make. NothingReturnedError if no packet came back of any."""
    silent = [one.name for one in setups if not one.returned()]
    setups = returning(setups)
    hello = setups[0].hello
    assert hello is not None
    trials = measured(setups, memory)
    model, fitted, left_out = calibrated(trials, memory, float(hello.tsc_hz))
    best = undisturbed(trials)
    said = [predict(model, trial.execution).pps for trial in best]
    summary = errors(said, [trial.pps for trial in best])
    distances = [
        length
        for one in setups
        for group in one.usable()
        for window in group
        if (length := window.distance_cycles()) is not None
    ]
    factors = [
        min(fitted.factors.get(number, 1.0) for number, trial in enumerate(trials) if trial.group == group)
        for group in range(len(setups))
    ]
    return ModelDocument(
        weir=__version__,
        lab=lab.name,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        technology=technology,
        wire=wire(lab, technology),
        counter_hz=model.hz,
        utilisation=model.utilisation,
        fed_utilisation=model.fed_utilisation,
        core_speed=core_speed_of(setups[0].slowing, model.slowed),
        state_distances_cycles=list(model.distances_cycles),
        core_distances_cycles=[min(distances), statistics.median(distances), max(distances)]
        if distances
        else [],
        memory=[MemoryPoint(size_bytes=int(size), cycles=cycles) for size, cycles in memory.points],
        parameters=parameters_of(model.parameters),
        covariance=model.parameters.covariance.tolist(),
        ranges=[
            ModelRange(name=name, low=covered.low, high=covered.high)
            for name, covered in sorted(model.ranges.items())
        ],
        options={one.nf: dict(one.options) for one in reversed(library(lab))},
        quality=ModelQuality(
            mean_error=summary.mean,
            worst_error=summary.worst,
            left_out_deviation=_root_mean_square([one.conditional.error for one in left_out]),
            conditional=ModelSpread(scatter=model.conditional.scatter, times=model.conditional.times),
            blind=ModelSpread(scatter=model.blind.scatter, times=model.blind.times),
            left_out=[
                ModelLeftOut(
                    text=setups[one.group].name,
                    conditional_error=one.conditional.error,
                    blind_error=one.blind.error,
                    fitted=one.fitted,
                )
                for one in left_out
            ],
            row_deviation=float(fitted.residuals.std()),
        ),
        trials=[
            ModelTrial(
                text=one.name,
                measured_pps=trial.pps,
                visits_pps=[each.costs.pps for each in one.measurements()],
                fitted_pps=pps,
                host_factor=factor,
                lost_in_functions=max(each.costs.lost_in_functions for each in one.measurements()),
                settled=one.settled,
            )
            for one, trial, pps, factor in zip(setups, best, said, factors, strict=True)
        ],
        notes=list(_notes(setups, silent)),
        fingerprint=fabric.fingerprint(hello.tsc_hz, hello.memory, {"dpdk": hello.dpdk}),
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(statistics.fmean(value**2 for value in values)) if values else 0.0


def wire(lab: Lab, technology: TechnologyName) -> str:
    """What joins the functions, or the functions to the switch: a kind of port of weir-dp."""
    kind, _ = TECHNOLOGIES[technology].ends(lab.options(technology))
    return kind


def _notes(setups: Sequence[Visited], silent: Sequence[str]) -> Iterator[str]:
    if silent:
        yield f"No packet came back, so they are not in it: {'; '.join(silent)}."
    unsettled = [one.name for one in setups if not one.settled]
    if unsettled:
        yield f"Rates did not stand still before the measurement: {'; '.join(unsettled)}."
    lossy = [
        one.name
        for one in setups
        if max(each.costs.lost_in_functions for each in one.measurements()) > LOST_MAX
    ]
    if lossy:
        yield f"Functions dropped packets, which cost less than forwarded ones: {'; '.join(lossy)}."
    disturbed = [one.name for one in setups if not one.enough()]
    if disturbed:
        yield f"The host slowed or moved the cores all the time: {'; '.join(disturbed)}."
