# SPDX-License-Identifier: Apache-2.0
"""`weir model validate` as a whole: set-ups that a cost model was not made of, predicted, then measured.

*Blind* is what the calibration alone says, before anything is measured; *conditional* what it says of the
state that the machine turned out to be in: how far from each other the cores were, and how slowed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from weir.lab import Lab
from weir.plan.random_labs import drawn
from weir.planning.calibration.drawing import known_of_model, redrawn, tried
from weir.planning.calibration.set_up import Measurement, Visited, returning, setup, slowing_of
from weir.planning.calibration.visits import Say, visited
from weir.planning.model.capacity import CostModel, Prediction, predict, predict_blind
from weir.planning.model.document import model_of
from weir.planning.model.intervals import held_interval
from weir.planning.model.quality import errors
from weir.results.model import (
    CasePrediction,
    CaseState,
    ErrorShares,
    ModelDocument,
    ModelValidation,
    PredictionErrors,
    RandomDraws,
    Redrawn,
    ValidationCase,
)


def validate_labs(labs: Mapping[Path, Lab], document: ModelDocument, say: Say) -> ModelValidation:
    """Every chain of every lab, by its file, with each of its frame sizes. UnknownCostError names what the
    model does not know, before anything is measured."""
    model = model_of(document)
    setups: list[Visited] = []
    texts: list[str] = []  # as they are now: measuring takes hours
    for path, lab in labs.items():
        its = held_out([lab], document.technology)
        setups += its
        texts += [path.read_text(encoding="utf-8")] * len(its)
    said = [predict_blind(model, one.execution) for one in setups]
    visited(setups, say, slowing_of(document))
    return compared(setups, texts, said, model, document.created_at)


def validate_random(
    document: ModelDocument, cpus: Sequence[int], count: int, seed: int, say: Say
) -> ModelValidation:
    """So many set-ups, drawn at random from what the model knows; the same seed draws the same."""
    model = model_of(document)
    said: dict[int, Prediction] = {}

    def before(one: Visited) -> None:
        one.slowing = slowing_of(document)
        said[id(one)] = predict_blind(model, one.execution)

    found = tried(drawn(known_of_model(document), cpus, seed), document.technology, count, say, before)
    visited(found.setups, say, slowing_of(document))
    predictions = [said[id(one)] for one in found.setups]
    compared_ = compared(found.setups, found.texts, predictions, model, document.created_at)
    again = [Redrawn(why=why, count=times) for why, times in redrawn(found.redrawn)]
    return compared_.model_copy(update={"draws": RandomDraws(seed=seed, redrawn=again)})


def held_out(labs: Iterable[Lab], technology: str = "direct") -> list[Visited]:
    """The set-ups, in the order of the labs. PlanError for what the model cannot describe."""
    return [
        setup(lab, chain, str(frame), f"{lab.name} {chain.name} {frame} B", technology)
        for lab in labs
        for chain in lab.chains()
        for frame in lab.traffic.frames
    ]


def compared(
    setups: Sequence[Visited],
    texts: Sequence[str],
    blind: Sequence[Prediction],
    model: CostModel,
    model_created_at: str,
) -> ModelValidation:
    """Set-ups that were visited, against what the model said of them, and what it says of the state in which
    they were measured. `texts`: of their lab files. NothingReturnedError if no packet came back of any."""
    technology = returning(setups)[0].technology
    cases = [
        _case(one, text, said, model)
        for one, text, said in zip(setups, texts, blind, strict=True)
        if one.returned()
    ]
    undisturbed = [case for case in cases if not case.disturbed] or cases
    return ModelValidation(
        model_created_at=model_created_at,
        technology=technology,
        cases=cases,
        blind=_errors(cases, lambda case: case.blind),
        conditional=_errors(undisturbed, lambda case: case.conditional),
        silent=[one.name for one in setups if not one.returned()],
    )


def _case(one: Visited, text: str, blind: Prediction, model: CostModel) -> ValidationCase:
    found = one.undisturbed()
    said = predict(model, found.execution)
    slowed = found.costs.slowed
    return ValidationCase(
        name=one.name,
        measured_pps=found.costs.received_pps(),
        states_pps=[each.costs.received_pps() for each in one.measurements()],
        state=_state(found),
        blind=_said(blind),
        conditional=_said(said.times(1 / slowed)),
        notices=list(said.notices),
        lab=text,
        disturbed=not one.enough(),
    )


def _state(found: Measurement) -> CaseState:
    several = len(found.execution.cores()) > 1
    return CaseState(
        distance_cycles=found.execution.core_distance_cycles if several else None, slowed=found.costs.slowed
    )


def _said(prediction: Prediction) -> CasePrediction:
    return CasePrediction(
        pps=prediction.pps,
        low_pps=prediction.low_pps,
        high_pps=prediction.high_pps,
        naive_pps=prediction.naive_pps,
        limited_by=prediction.limited_by,
    )


def _errors(
    cases: Sequence[ValidationCase], said: Callable[[ValidationCase], CasePrediction]
) -> PredictionErrors:
    measured_pps = [case.measured_pps for case in cases]
    held = sum(said(case).low_pps <= case.measured_pps <= said(case).high_pps for case in cases)
    low, high = held_interval(held, len(cases))
    return PredictionErrors(
        error=_shares([said(case).pps for case in cases], measured_pps),
        naive=_shares([said(case).naive_pps for case in cases], measured_pps),
        count=len(cases),
        held=held,
        held_low=low,
        held_high=high,
    )


def _shares(predicted_pps: Sequence[float], measured_pps: Sequence[float]) -> ErrorShares:
    return ErrorShares(**dataclasses.asdict(errors(predicted_pps, measured_pps)))
