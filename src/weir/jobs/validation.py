# SPDX-License-Identifier: Apache-2.0
"""`weir validate-model` as a whole: set-ups that a cost model was not made of, predicted, then measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from weir.jobs.cost_model import model_of, slowing_of
from weir.jobs.visits import Say, Visited, setup, visited
from weir.model.capacity import CostModel, predict
from weir.model.quality import errors
from weir.spec import Lab
from weir.store.model import ErrorShares, ModelDocument, ModelValidation, ValidationCase


def validate(labs: Sequence[Lab], document: ModelDocument, say: Say) -> ModelValidation:
    """Every chain of every lab with each of its frame sizes. ValueError names what the model does not know,
    before anything is measured."""
    setups = held_out(labs, document.technology)
    model = model_of(document)
    for one in setups:
        predict(model, one.execution)
    visited(setups, say, slowing_of(document))
    return compared(setups, model, document.created_at)


def held_out(labs: Sequence[Lab], technology: str = "direct") -> list[Visited]:
    """The set-ups, in the order of the labs. PlanError for what the model cannot describe."""
    return [
        setup(lab, chain, str(frame), f"{lab.name} {chain.name} {frame} B", technology)
        for lab in labs
        for chain in lab.chains()
        for frame in lab.traffic.frames
    ]


def compared(setups: Sequence[Visited], model: CostModel, model_created_at: str) -> ModelValidation:
    """Set-ups that were visited, against what the model says of them at the distance that their cores had.

    The errors are of those that were seen on an undisturbed host; of all if none was.
    """
    cases = []
    for one in setups:
        found = one.undisturbed()
        said = predict(model, found.execution)
        cases.append(
            ValidationCase(
                name=one.name,
                measured_pps=found.costs.pps,
                visits_pps=[each.costs.pps for each in one.measurements()],
                predicted_pps=said.pps,
                low_pps=said.low_pps,
                high_pps=said.high_pps,
                naive_pps=said.naive_pps,
                limited_by=said.limited_by,
                notices=list(said.notices),
                disturbed=not one.enough(),
            )
        )
    counted = [case for case in cases if not case.disturbed] or cases
    measured_pps = [case.measured_pps for case in counted]
    return ModelValidation(
        model_created_at=model_created_at,
        technology=setups[0].technology,
        cases=cases,
        error=_shares([case.predicted_pps for case in counted], measured_pps),
        naive_error=_shares([case.naive_pps for case in counted], measured_pps),
        covered=sum(case.low_pps <= case.measured_pps <= case.high_pps for case in counted) / len(counted),
    )


def _shares(predicted_pps: Sequence[float], measured_pps: Sequence[float]) -> ErrorShares:
    return ErrorShares(**dataclasses.asdict(errors(predicted_pps, measured_pps)))
