# SPDX-License-Identifier: Apache-2.0
"""The answer of `weir plan`: the best placement, why it is, and the best of each other mode."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from weir.base.packet_rate import said as rate_text
from weir.base.words import counted
from weir.lab.execution import TESTER_KINDS
from weir.plan.core_pool import sharing
from weir.plan.trials import CORES_MAX
from weir.planning.model.capacity import CoreLoad, Prediction
from weir.planning.model.scaling import LINK
from weir.planning.placement.search import Predicted, Ranking, Search
from weir.planning.queueing import DelayPrediction
from weir.results.lab_plan import (
    AreaLoad,
    Asked,
    Delay,
    FrameFigures,
    LabPlan,
    PlanModel,
    PlannedCore,
    PlannedFunction,
    PlannedPlacement,
)
from weir.results.model import ModelDocument

_MORE_CORES = (
    f"Extrapolates: {{}} cores, measured on {CORES_MAX}; what more of them cost each other was not measured."
)
_NO_STALLS = "Delays are without what the host takes away: a stall of a core is on top of them."
_SIBLINGS = "Never measured, and taken as nothing: what two threads of one physical core cost each other."


def answer(search: Search, found: Ranking, document: ModelDocument, notices: Sequence[str]) -> LabPlan:
    """The document. `notices`: of all placements."""
    question = search.question
    planned = [_placement(search, one) for one in _different(found.placements)]
    common = [text for text in planned[0].notices if all(text in one.notices for one in planned)]
    best, *others = (
        one.model_copy(update={"notices": tuple(text for text in one.notices if text not in common)})
        for one in planned
    )
    return LabPlan(
        lab=search.lab.name,
        chain=search.chain.name,
        asked=Asked(
            rate_pps=question.rate_pps,
            frames=question.frames,
            flows=search.lab.traffic.flows.count,
            latency_us=question.latency_us,
            link_bps=question.link_bps,
            cores=question.cores,
        ),
        model=PlanModel(
            lab=document.lab,
            created_at=document.created_at,
            cpu=document.fingerprint.cpu,
            ghz=search.model.hz / 1e9,
        ),
        placements=len(found.placements),
        complete=found.complete,
        carrying=0 if question.rate_pps is None else sum(search.carries(one) for one in found.placements),
        why=tuple(_why(search, found)),
        best=best,
        runners_up=tuple(others),
        notices=(*common, *notices),
    )


def _different(ranked: Sequence[Predicted]) -> list[Predicted]:
    """The best of each way to run the functions, on each number of cores."""
    best: dict[object, Predicted] = {}
    for one in ranked:
        best.setdefault((one.placement.splits, one.cores), one)
    return list(best.values())


def _placement(search: Search, one: Predicted) -> PlannedPlacement:
    notices = dict.fromkeys(text for said in (*one.figures,) for text in said.notices)
    notices |= dict.fromkeys(text for said in one.delays for text in said.limits)
    if one.delays:
        notices[_NO_STALLS] = None
    shares = tuple(sharing(search.machine, search.tester(), one.placement.cpus()))
    if one.cores > CORES_MAX:
        notices[_MORE_CORES.format(one.cores)] = None
    if len({search.machine.threads(core) for core in one.execution.cores()}) < one.cores:
        notices[_SIBLINGS] = None
    return PlannedPlacement(
        functions=_functions(search, one),
        tester=search.tester(),
        cores=one.cores,
        shares=shares,
        carries=search.question.rate_pps is not None and search.carries(one),
        margin=search.margin(one.low_pps),
        figures=tuple(
            _figures(search, frame, said, delay)
            for frame, said, delay in itertools.zip_longest(search.question.frames, one.figures, one.delays)
        ),
        notices=tuple(notices),
    )


def _functions(search: Search, one: Predicted) -> tuple[PlannedFunction, ...]:
    return tuple(
        PlannedFunction(
            function=name,
            architecture=mode.architecture,
            workers=mode.workers or None,
            state_cores=mode.state_cores or None,
            fastpath=mode.fastpath,
            cores=cores,
        )
        for name, mode, cores in zip(
            search.chain.functions, one.placement.splits, one.placement.cores, strict=True
        )
    )


def _figures(search: Search, frame: str, said: Prediction, delay: DelayPrediction | None) -> FrameFigures:
    share = min(1.0, (search.question.rate_pps or said.pps) / said.pps)
    return FrameFigures(
        frame=frame,
        pps=said.pps,
        low_pps=said.low_pps,
        high_pps=said.high_pps,
        margin=search.margin(said.low_pps),
        limited_by=said.limited_by,
        delay=None
        if delay is None
        else Delay(mean_us=delay.mean_us, p50_us=delay.p50_us, p90_us=delay.p90_us, p99_us=delay.p99_us),
        cores=tuple(_core(load, share) for load in said.cores),
    )


def _core(load: CoreLoad, share: float) -> PlannedCore:
    areas = tuple(AreaLoad(area=name, cycles_per_packet=cycles) for name, cycles in load.areas)
    return PlannedCore(core=load.core, utilisation=load.utilisation * share, areas=areas)


def _why(search: Search, found: Ranking) -> Iterator[str]:
    best, rate_pps = found.placements[0], search.question.rate_pps
    if rate_pps is None:
        yield (
            "None is predicted to carry a percent more, or as much on fewer cores, or on as many in a "
            "simpler mode."
        )
    elif search.carries(best):
        yield from _chosen(search, found, best)
    elif best.delays:
        yield f"The rate is carried, but not within the delay: the shortest P99 is {best.p99_us:.3g} µs."
    else:
        yield (
            f"Nothing carries it: the best has {rate_text(best.low_pps)} at the lower bound, "
            f"{best.low_pps / rate_pps:.0%} of what is asked."
        )
        yield from _missing(search, best)
    if found.crowded:
        yield "Cores of its own were not enough: those that others use too were tried."
    if found.unmeasured:
        yield f"Left out, as no trial measured what they cost: placements with {', '.join(found.unmeasured)}."


def _chosen(search: Search, found: Ranking, best: Predicted) -> Iterator[str]:
    fewer = [one for one in found.placements if one.cores < best.cores]
    if fewer:
        nearest = max(fewer, key=lambda one: one.low_pps)
        yield (
            f"No placement on fewer cores carries it: {_how(search, nearest)} on {nearest.cores} has "
            f"{rate_text(nearest.low_pps)} at the lower bound."
        )
    elif best.cores > 1:
        yield f"Fewer than {best.cores} cores are impossible here."
    alike = [one for one in found.placements[1:] if one.cores == best.cores and search.carries(one)]
    if alike:
        yield (
            f"Of {len(alike) + 1} on {counted(best.cores, 'core')} that carry it, it has the largest margin; "
            "of those with as much it is the simplest."
        )


def _missing(search: Search, best: Predicted) -> Iterator[str]:
    worst = min(best.figures, key=lambda one: one.low_pps)
    testers = {area.core for area in best.execution.areas if area.kind in TESTER_KINDS}
    functions = {area.core for area in best.execution.areas if area.kind not in TESTER_KINDS}
    full = max(worst.cores, key=lambda one: one.cycles).core
    if worst.limited_by == LINK:
        yield "The link carries no more."
    elif full in testers - functions:
        yield (
            "The tester's core is full before any of the functions': they may carry more than the tester can "
            "show. A second core for it, as in `cores: {tester: [0, 1]}`, moves that limit."
        )
    elif best.cores == search.question.cores:
        yield "All cores are in use: it takes more of them, a faster clock, or less to do."


def _how(search: Search, one: Predicted) -> str:
    return "; ".join(function.text() for function in _functions(search, one))
