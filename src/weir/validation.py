# SPDX-License-Identifier: Apache-2.0
"""`weir validate-model` as a whole: set-ups that a cost model was not made of, predicted, then measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from weir.cost_model import model_of
from weir.model.capacity import Prediction, predict
from weir.model.quality import errors
from weir.spec import Lab
from weir.store.model import ErrorShares, ModelDocument, ModelValidation, ValidationCase
from weir.visits import Say, Visited, setup, visited


def validate(labs: Sequence[Lab], document: ModelDocument, say: Say) -> ModelValidation:
    """Every chain of every lab with each of its frame sizes. ValueError names what the model does not know,
    before anything is measured."""
    setups = held_out(labs)
    model = model_of(document)
    predictions = [predict(model, one.execution) for one in setups]
    visited(setups, say, document.core_distance_cycles)
    return compared(setups, predictions, document)


def held_out(labs: Sequence[Lab]) -> list[Visited]:
    """The set-ups, in the order of the labs. PlanError for what the model cannot describe."""
    return [
        setup(lab, chain, str(frame), f"{lab.name} {chain.name} {frame} B")
        for lab in labs
        for chain in lab.chains()
        for frame in lab.traffic.frames
    ]


def compared(
    setups: Sequence[Visited], predictions: Sequence[Prediction], document: ModelDocument
) -> ModelValidation:
    """Set-ups that were visited, against what was said of them."""
    rates_pps = [one.costs(document.core_distance_cycles).pps for one in setups]
    found = list(zip(setups, predictions, rates_pps, strict=True))
    measured_pps = [pps for _, _, pps in found]
    return ModelValidation(
        model_created_at=document.created_at,
        cases=[
            ValidationCase(
                name=one.name,
                measured_pps=pps,
                predicted_pps=said.pps,
                low_pps=said.low_pps,
                high_pps=said.high_pps,
                naive_pps=said.naive_pps,
                limited_by=said.limited_by,
                notices=[*said.notices, *_moved(one, document)],
            )
            for one, said, pps in found
        ],
        error=_shares([said.pps for _, said, _ in found], measured_pps),
        naive_error=_shares([said.naive_pps for _, said, _ in found], measured_pps),
        covered=sum(said.low_pps <= pps <= said.high_pps for _, said, pps in found) / len(found),
    )


def _moved(one: Visited, document: ModelDocument) -> list[str]:
    if one.usable(document.core_distance_cycles):
        return []
    return ["Measured while the cores were at another distance than when the model was made."]


def _shares(predicted_pps: Sequence[float], measured_pps: Sequence[float]) -> ErrorShares:
    return ErrorShares(**dataclasses.asdict(errors(predicted_pps, measured_pps)))
