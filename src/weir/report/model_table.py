# SPDX-License-Identifier: Apache-2.0
"""A cost model and its validation as text; the schema of the model's document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weir.report.lean_table import table
from weir.spec.document_schema import as_text, document_schema
from weir.store.model import MODEL_VERSION, ModelDocument, ModelValidation


def render(document: ModelDocument, path: str) -> str:
    """What a user wants to know of a fresh model."""
    quality = document.quality
    return "\n".join(
        [
            f"{document.lab}: {len(document.trials)} trials on {document.fingerprint.cpu}, "
            f"cycles of {document.counter_hz / 1e9:.2f} GHz",
            "",
            *table(list(_parameters(document))),
            "",
            *table(list(_trials(document))),
            "",
            f"error of the trials' rates: mean {quality.mean_error:.1%}, worst {quality.worst_error:.1%}; "
            f"of rates left out of the fit: ± {quality.left_out_deviation:.1%}",
            *(f"– {note}" for note in document.notes),
            f"model: {path}",
        ]
    )


def _parameters(document: ModelDocument) -> Iterator[tuple[str, ...]]:
    yield "cost", "cycles", "±"
    for one in document.parameters:
        yield one.name, f"{one.cycles:.2f}", f"{one.deviation_cycles:.2f}"


def _trials(document: ModelDocument) -> Iterator[tuple[str, ...]]:
    yield "trial", "Mpps", "fitted", "error"
    for one in document.trials:
        error = one.fitted_pps / one.measured_pps - 1
        yield one.text, f"{one.measured_pps / 1e6:.3f}", f"{one.fitted_pps / 1e6:.3f}", f"{error:+.1%}"


def render_validation(validation: ModelValidation) -> str:
    """One line for each set-up, then the summary."""
    rows = [("set-up", "measured", "predicted", "error", "95 % interval", "", "naive", "limited by")]
    for case in validation.cases:
        held = case.low_pps <= case.measured_pps <= case.high_pps
        rows.append(
            (
                case.name,
                f"{case.measured_pps / 1e6:.3f}",
                f"{case.predicted_pps / 1e6:.3f}",
                f"{case.predicted_pps / case.measured_pps - 1:+.1%}",
                f"{case.low_pps / 1e6:.2f}–{case.high_pps / 1e6:.2f}",
                "disturbed" if case.disturbed else "" if held else "missed",
                f"{case.naive_pps / case.measured_pps - 1:+.1%}",
                case.limited_by,
            )
        )
    error, naive = validation.error, validation.naive_error
    counted = [case for case in validation.cases if not case.disturbed] or validation.cases
    notices = sorted({notice for case in validation.cases for notice in case.notices})
    return "\n".join(
        [
            f"Mpps at maximum offered load; model of {validation.model_created_at}",
            "",
            *table(rows),
            "",
            f"error: mean {error.mean:.1%}, 90th percentile {error.p90:.1%}, worst {error.worst:.1%}, "
            f"bias {error.bias:+.1%}; {validation.covered:.0%} of {len(counted)} intervals held",
            f"sum of stage costs: mean {naive.mean:.1%}, 90th percentile {naive.p90:.1%}, "
            f"worst {naive.worst:.1%}",
            *_left_out(len(validation.cases) - len(counted)),
            *(f"– {notice}" for notice in notices),
        ]
    )


def _left_out(disturbed: int) -> Iterator[str]:
    if disturbed:
        yield (
            f"not in these errors: {disturbed} disturbed, since the host slowed or moved the cores whenever "
            "they were measured"
        )


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the model's document."""
    return document_schema(ModelDocument, f"Weir cost model, version {MODEL_VERSION}")


def schema_text() -> str:
    """The schema as it is committed."""
    return as_text(schema())
