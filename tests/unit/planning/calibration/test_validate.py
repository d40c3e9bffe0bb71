# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.planning.calibration.test_picture import case, said
from tests.unit.planning.calibration.test_visits import under, window
from tests.unit.planning.sample_model import sample_model
from weir.cli.main import app
from weir.lab import load_lab
from weir.planning.calibration.drawing import known_of_lab, known_of_model
from weir.planning.calibration.set_up import Visited
from weir.planning.calibration.table import render_validation
from weir.planning.calibration.validation import _errors, validate_labs
from weir.results.model import ModelRange, ModelValidation, RandomDraws, Redrawn, ValidationCase

LABS = Path(__file__).parents[4] / "labs"
runner = CliRunner()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), "expected lab files, or --random N"),
        (("lab.yml", "--random", "3"), "expected lab files, or --random N"),
        (("lab.yml", "--seed", "3"), "they need --random N"),
    ],
)
def test_labs_are_named_or_drawn(arguments: tuple[str, ...], wanted: str) -> None:
    done = runner.invoke(app, ["model", "validate", *arguments])
    assert done.exit_code == 2
    assert wanted in " ".join(done.output.split())


def moved(measured_pps: float, blind_pps: float, given_pps: float) -> ValidationCase:
    found = case(measured_pps, blind_pps, 0.5e6)
    return found.model_copy(update={"conditional": said(given_pps, 0.5e6)})


def test_blind_errors_stand_apart_from_those_of_the_state_that_was_found() -> None:
    cases = [moved(10e6, 12e6, 10.2e6), moved(8e6, 8.4e6, 8.4e6)]
    found = ModelValidation(
        model_created_at="2026-01-01",
        cases=cases,
        blind=_errors(cases, lambda one: one.blind),
        conditional=_errors(cases, lambda one: one.conditional),
        draws=RandomDraws(seed=7, redrawn=[Redrawn(why="functions drop packets of it", count=2)]),
    )
    assert found.blind.error.mean == pytest.approx(0.125)
    assert found.conditional.error.mean == pytest.approx(0.035)
    assert (found.blind.held, found.conditional.held) == (1, 2)
    text = render_validation(found)
    assert "blind, from the calibration alone: mean 12.5%" in text
    assert "1 of 2 intervals held" in text
    assert "drawn at random, seed 7" in text
    assert "drawn again, 2 times: functions drop packets of it" in text


def test_what_is_drawn_is_what_the_lab_has_and_its_longest_lists() -> None:
    known = known_of_lab(load_lab(LABS / "predict", cpus=(0, 1)), "direct")
    assert set(known.functions) == {"nat", "l3fwd", "acl", "dpi", "lb"}
    assert (known.entries_max["acl"], known.entries_max["l3fwd"], known.entries_max["lb"]) == (400, 200, 64)
    assert known.fastpath
    assert known.technologies == {"wire": "memory"}


def test_what_a_model_never_measured_is_not_drawn() -> None:
    document = sample_model().model_copy(update={"ranges": [ModelRange(name="rules acl", low=3, high=100)]})
    known = known_of_model(document)
    assert known.entries_max == {"acl": 100}
    assert not known.fastpath
    assert "lb" not in known.functions


def test_a_lab_file_that_goes_while_its_set_ups_are_measured_is_kept_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.yml"
    path.write_text("the lab")
    (one,) = under("direct", ("64", 64))

    def measure(setups: list[Visited], *_: object) -> None:
        path.unlink()
        for each in setups:
            each.windows += [window(100)] * 9

    monkeypatch.setattr("weir.planning.calibration.validation.visited", measure)
    (found,) = validate_labs({path: one.lab}, sample_model(), lambda _: None).cases
    assert found.lab == "the lab"
