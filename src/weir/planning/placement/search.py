# SPDX-License-Identifier: Apache-2.0
"""`weir plan`: every placement of a chain's functions predicted by the cost model, and ranked.

First come those that carry what is asked, with the fewest cores; of these the largest margin; of these the
simplest way to run the functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weir.base.error import USAGE, WeirError
from weir.lab import Chain, Lab
from weir.lab.execution import Execution
from weir.lab.frames import mean_frame_bytes
from weir.plan.core_pool import MachineCores, apart, crowded
from weir.plan.placements import (
    SPARE_AREAS,
    Placement,
    Pool,
    may_remember,
    placed_lab,
    placements,
    splits,
)
from weir.planning.model.capacity import (
    CostModel,
    Prediction,
    as_slow_as_trials,
    knows_fastpath,
    predict_blind,
    typical,
)
from weir.planning.model.scaling import over_link
from weir.planning.model.terms import core_terms
from weir.planning.placement.prediction import execution_of
from weir.planning.queueing import DelayPrediction, execution_delay
from weir.technology import TECHNOLOGIES

PLACEMENTS_MAX = 2000
"""Predicted at most; each takes some milliseconds."""

ALIKE_DIGITS = 2
"""Rates and margins are compared by whole percents: the model tells no more."""
_OWN_WORK = frozenset(
    {"dispatcher", "forwarder", "state_core", "rewrite_worker", "collector", "take ring", "give ring"}
)
"""Without its cost a prediction is of something else; what comes on top, as between cores, is noticed."""


class NoCoreError(WeirError):
    """There is no core for the functions."""

    exit_code = USAGE


@dataclass(frozen=True)
class Question:
    """What the placement must carry."""

    rate_pps: float | None
    """Of all directions together; None: as much as possible."""
    frames: tuple[str, ...]
    link_bps: float | None
    cores: int
    """At most, with the tester's."""
    latency_us: float | None = None
    """Longest P99 of one-way delay at the rate; None: any."""


@dataclass(frozen=True)
class _Described:
    placement: Placement
    execution: Execution
    unmeasured: frozenset[str]
    """What areas and rings do there that no trial had."""


@dataclass(frozen=True)
class Predicted:
    """One placement, and what it carries of each frame size."""

    placement: Placement
    execution: Execution
    cores: int
    """In use, with the tester's."""
    figures: tuple[Prediction, ...]
    """In the order of the question's frames."""
    delays: tuple[DelayPrediction, ...]
    """Likewise, if a delay was asked for and the rate is carried."""

    @property
    def low_pps(self) -> float:
        """At the lower bound of the interval, of the worst frame."""
        return min(one.low_pps for one in self.figures)

    @property
    def p99_us(self) -> float:
        """Of the worst frame; infinite if it carries the rate at no delay that could be predicted."""
        return max((one.p99_us for one in self.delays), default=math.inf)


@dataclass(frozen=True)
class Ranking:
    """Placements, best first."""

    placements: tuple[Predicted, ...]
    complete: bool
    """None was left out."""
    crowded: bool
    """None carries it on cores of its own, so cores were tried that others use too."""
    unmeasured: tuple[str, ...]
    """What no trial had; placements in which more of it is done than in others were left out."""


@dataclass(frozen=True)
class Search:
    """The question about one chain of a lab."""

    lab: Lab
    chain: Chain
    model: CostModel
    machine: MachineCores
    question: Question
    technology: str = "direct"

    def tester(self) -> tuple[int, ...]:
        """Its CPUs, as the lab has them; `load_lab` chose them where it leaves them open."""
        return tuple(self.lab.cores_for(self.technology).tester or ())

    def switch(self) -> tuple[int, ...]:
        """CPUs that the switch has for itself, likewise."""
        own = TECHNOLOGIES[self.technology].own_core
        return tuple(self.lab.cores_for(self.technology).switch or ()) if own else ()

    def placed(self, placement: Placement) -> Lab:
        """The lab with this chain alone, placed so."""
        return placed_lab(
            self.lab, self.chain, placement, self.tester(), self.technology, switch=self.switch()
        )

    def run(self) -> Ranking:
        """NoCoreError, or UnknownCostError if the model does not know a function."""
        tester = self.tester()
        together = bool(set(tester) & set(self.lab.function_cpus(self.technology)))
        machine = replace(
            self.machine, cpus=tuple(cpu for cpu in self.machine.cpus if cpu not in self.switch())
        )
        found = Ranking((), complete=True, crowded=False, unmeasured=())
        pools = (apart(machine, tester, with_tester=together), crowded(machine, tester))
        for is_crowded, pool in zip((False, True), pools, strict=True):
            listed = list(itertools.islice(self._placements(pool), PLACEMENTS_MAX + 1))
            described = [self._described(one) for one in listed[:PLACEMENTS_MAX]]
            known = min((len(one.unmeasured) for one in described), default=0)
            left_out = {name for one in described if len(one.unmeasured) > known for name in one.unmeasured}
            chosen = [self._predicted(one) for one in described if len(one.unmeasured) == known]
            ranked = sorted(chosen, key=self._place)
            if ranked:
                complete = len(listed) <= PLACEMENTS_MAX
                found = Ranking(tuple(ranked), complete, is_crowded, tuple(sorted(left_out)))
                if self.question.rate_pps is None or self.carries(ranked[0]):
                    break
        if not found.placements:
            alone = len({*tester, *self.switch()})
            who = "tester and switch have" if self.switch() else "the tester alone has"
            raise NoCoreError(
                f"{self.lab.name} {self.chain.name}: {who} {alone} cores in this lab, and "
                f"{self.question.cores} leave none to the functions; expected more --cores, or fewer in "
                "`cores: {tester: …}`"
            )
        return found

    def carries(self, one: Predicted) -> bool:
        """What was asked: the rate with every frame, at the lower bound, within the delay."""
        latency_us = self.question.latency_us
        return self._fast_enough(one.figures) and (latency_us is None or one.p99_us <= latency_us)

    def _fast_enough(self, figures: Sequence[Prediction]) -> bool:
        rate_pps = self.question.rate_pps
        return rate_pps is None or all(one.low_pps >= rate_pps for one in figures)

    def margin(self, low_pps: float) -> float | None:
        """What is left of a lower bound, as a share of the rate; None: no rate was asked for."""
        return None if self.question.rate_pps is None else low_pps / self.question.rate_pps - 1

    def _placements(self, pool: Pool) -> Iterator[Placement]:
        own = min(len(pool.own), self.question.cores - len({*self.tester(), *self.switch()}))
        if own < 0 or not own + len(pool.tester):
            return iter(())
        functions = [self.lab.functions[name] for name in self.chain.functions]
        areas_max = own + len(pool.tester) + SPARE_AREAS
        knows = knows_fastpath(self.model)
        choices = [
            splits(one, areas_max, (False, True) if knows and may_remember(one) else (one.fastpath,))
            for one in functions
        ]
        return placements(functions, choices, pool, own)

    def _described(self, placement: Placement) -> _Described:
        placed = self.placed(placement)
        chain, frame = placed.chains()[0], self.question.frames[0]
        said = execution_of(placed, chain, frame, self.technology)
        costs = (core_terms(said, core, self.model.memory) for core in said.cores())
        unknown = (name for one in costs for name in self.model.parameters.unknown(one))
        return _Described(placement, said, _OWN_WORK.intersection(unknown))

    def _predicted(self, one: _Described) -> Predicted:
        sized = [
            typical(self.model, replace(one.execution, frame_bytes=mean_frame_bytes(frame)))
            for frame in self.question.frames
        ]
        said = [predict_blind(self.model, each) for each in sized]
        figures = tuple(
            over_link(each, self.question.link_bps, execution.frame_bytes, len(self.lab.tester.directions))
            for each, execution in zip(said, sized, strict=True)
        )
        late = self.question.latency_us is not None and self._fast_enough(figures)
        return Predicted(
            placement=one.placement,
            execution=one.execution,
            cores=len({*self.tester(), *self.switch(), *one.placement.cpus()}),
            figures=figures,
            delays=self._delays(sized, said) if late else (),
        )

    def _delays(self, sized: Sequence[Execution], said: Sequence[Prediction]) -> tuple[DelayPrediction, ...]:
        """On cores as slow as the lower bounds of the rates say; none if one is full even so."""
        found = []
        model = as_slow_as_trials(self.model)
        for execution, one in zip(sized, said, strict=True):
            slow = replace(model, hz=model.hz * one.low_pps / one.pps)
            try:
                found.append(
                    execution_delay(slow, execution, self.question.rate_pps or 0.0, self.lab.traffic.arrivals)
                )
            except ValueError:
                return ()
        return tuple(found)

    def _place(self, one: Predicted) -> tuple[float, ...]:
        """Smaller is better."""
        simplicity = one.placement.simplicity()
        rate_pps = self.question.rate_pps
        if rate_pps is not None and self.carries(one):
            return 0, one.cores, -round(one.low_pps / rate_pps, ALIKE_DIGITS), *simplicity
        if one.delays:
            return 1, round(math.log(one.p99_us), ALIKE_DIGITS), one.cores, *simplicity
        return 2, -round(math.log(one.low_pps), ALIKE_DIGITS), one.cores, *simplicity
