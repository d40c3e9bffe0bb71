# SPDX-License-Identifier: Apache-2.0
"""A cost model and its validation in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.words import counted
from weir.planning.model.document import poor_fit
from weir.report.columns import table
from weir.results.model import (
    CasePrediction,
    ModelDocument,
    ModelQuality,
    ModelValidation,
    PredictionErrors,
    ValidationCase,
)


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
            f"{_predicted(quality)}",
            *(f"– {note}" for note in (*poor_fit(document), *document.notes)),
            f"model: {path}",
        ]
    )


def _predicted(quality: ModelQuality) -> str:
    """What the fit is worth for set-ups that it does not know."""
    count, off = len(quality.predicted), quality.predicted_deviation
    rest = len(quality.left_out) - count
    if off is None:
        return "no rate was predicted without its own trial, since no other trial tells what it costs"
    of_rest = f"; of {rest} more no other trial tells what they cost" if rest else ""
    return f"of {counted(count, 'rate')} left out of the fit: ± {off:.1%}{of_rest}"


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
    rows = [
        ("set-up", "measured", "blind", "error", "95 % interval", "", "in its state", "naive", "limited by")
    ]
    for case in validation.cases:
        said = case.blind
        rows.append(
            (
                case.name,
                f"{case.measured_pps / 1e6:.3f}",
                f"{said.pps / 1e6:.3f}",
                _off(said.pps, case),
                f"{said.low_pps / 1e6:.2f}–{said.high_pps / 1e6:.2f}",
                "" if held(said, case) else "missed",
                "disturbed" if case.disturbed else _off(case.conditional.pps, case),
                _off(said.naive_pps, case),
                said.limited_by,
            )
        )
    notices = sorted({notice for case in validation.cases for notice in case.notices})
    return "\n".join(
        [
            f"Mpps at maximum offered load; model of {validation.model_created_at}",
            "",
            *table(rows),
            "",
            _summary("blind, from the calibration alone", validation.blind),
            _summary("in the state of the machine that each was measured in", validation.conditional),
            *_left_out(validation),
            *(f"not among them: no packet came back of {name}" for name in validation.silent),
            *_draws(validation),
            *(f"– {notice}" for notice in notices),
        ]
    )


def held(said: CasePrediction, case: ValidationCase) -> bool:
    """Whether the interval held what was measured."""
    return said.low_pps <= case.measured_pps <= said.high_pps


def _off(pps: float, case: ValidationCase) -> str:
    return f"{pps / case.measured_pps - 1:+.1%}"


def _summary(what: str, found: PredictionErrors) -> str:
    error, naive = found.error, found.naive
    return (
        f"{what}: mean {error.mean:.1%}, 90th percentile {error.p90:.1%}, worst {error.worst:.1%}, "
        f"bias {error.bias:+.1%}; {found.held} of {found.count} intervals held, so {found.held_low:.0%} to "
        f"{found.held_high:.0%} do; sum of stage costs: mean {naive.mean:.1%}, "
        f"90th percentile {naive.p90:.1%}"
    )


def _left_out(validation: ModelValidation) -> Iterator[str]:
    disturbed = len(validation.cases) - validation.conditional.count
    if disturbed:
        yield (
            f"not in the second line: {disturbed} disturbed, since the host slowed or moved the cores "
            "whenever they were measured"
        )


def _draws(validation: ModelValidation) -> Iterator[str]:
    if validation.draws is not None:
        yield f"drawn at random, seed {validation.draws.seed}"
        for one in validation.draws.redrawn:
            yield f"drawn again, {one.count} times: {one.why}"
