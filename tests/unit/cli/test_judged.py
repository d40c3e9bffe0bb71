# SPDX-License-Identifier: Apache-2.0
"""How a command ends by its service level: met, missed, or not judged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import typer

from tests.report.synthetic import result
from weir.cli import exits
from weir.lab import load_lab
from weir.results.result import Verdict
from weir.results.rounds import UNFINISHED


def verdict(found: float | None, why: str | None = None) -> Verdict:
    met = found is not None and found <= 1
    return Verdict(criterion="jitter", limit=1, found=found, unit="us", share=found, met=met, why=why)


@pytest.mark.parametrize(
    ("verdicts", "code", "said"),
    [
        ([verdict(2), verdict(None), verdict(0.5)], 1, "the service level was missed: 1 of 3 limits"),
        (
            [verdict(None, "Too noisy."), verdict(0.5)],
            4,
            "1 of 2 limits of the service level could not be judged: Too noisy.",
        ),
    ],
)
def test_what_is_missed_or_unknown_has_its_own_exit_code_and_its_reason(
    verdicts: Sequence[Verdict], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        exits.judged(verdicts)
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == f"weir: {said}\n"


def test_a_level_that_is_met_ends_nothing() -> None:
    exits.judged([verdict(0.5), verdict(1)])
    exits.judged([])


def test_a_run_of_which_a_case_was_given_up_fails_with_its_reason_whatever_else_was_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, lab = result(), load_lab("l3fwd")
    exits.judged_runs(lab, [run])
    cases = [case for _, case in run.cases()]
    cases[0].problem = UNFINISHED  # it is measured anew
    exits.judged_runs(lab, [run])
    cases[1].problem = "weir-dp has ended."
    with pytest.raises(typer.Exit) as failed:
        exits.judged_runs(lab, [run])
    assert failed.value.exit_code == exits.FAILED
    assert capsys.readouterr().err == f"weir: 1 of {len(cases)} cases was given up: weir-dp has ended.\n"
