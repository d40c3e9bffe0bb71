# SPDX-License-Identifier: Apache-2.0
"""What is no soak is refused before anything is touched."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app
from weir.lab import load_lab
from weir.store.open_case import OpenCaseStore

from .test_stored import result

LAB = str(Path(__file__).parents[4] / "labs" / "switching")
STEPS = str(Path(__file__).parents[4] / "labs" / "upf-steps")
runner = CliRunner()


def test_a_run_that_ended_before_anything_was_built_has_no_soak_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.fabric.require_to_measure", lambda: None)
    lab = load_lab(Path(LAB) / "lab.yml", cpus=(0, 1))
    with OpenCaseStore(tmp_path / "results.db") as store:
        store.begin(result().model_copy(update={"spec": lab.model_dump(mode="json")}))
    done = runner.invoke(app, ["soak", "--resume", "soaked", "--store", str(tmp_path / "results.db")])
    assert done.exit_code == exits.FAILED, done.stderr
    assert "run soaked is no soak, or was ended before its load began" in done.stderr


def test_one_that_is_stopped_before_its_load_begins_says_that_nothing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weir.fabric.require_to_measure", lambda: None)
    stopped = result().model_copy(update={"interrupted": True})
    monkeypatch.setattr("weir.procedures.soak.run.SoakCampaign.run", lambda _self, _settings: stopped)
    monkeypatch.setattr("weir.fabric.claimed", lambda *_: nullcontext())
    words = [
        "soak",
        LAB,
        "--quick",
        "-t",
        "direct",
        "-c",
        "PVP",
        "--frame",
        "64",
        "--rate",
        "1kpps",
    ]
    done = runner.invoke(app, [*words, "--store", str(tmp_path / "r.db"), "-o", str(tmp_path / "report")])
    assert done.exit_code == exits.INTERRUPTED, done.stderr
    assert "its load had not begun: begin a new one" in done.stdout
    assert "--resume" not in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([LAB, "--duration", "soon"], "expected a number"),
        (
            [LAB, "--duration", "1min", "--interval", "1h"],
            "expected 3h (three intervals) to 168h",
        ),
        ([LAB, "--rate", "1Mpps", "--load", "50% PDR"], "give one of them"),
        ([LAB, "--rate", "50% PDR"], "a share of a goal is a --load"),
        ([LAB, "--load", "50% XDR"], "no goal XDR; it has NDR, PDR"),
        ([LAB, "--frame", "65"], "no frame '65'; it has 64"),
        ([LAB, "--variant", "fast"], "the lab has no variants, and so no 'fast'"),
        ([STEPS, "--variant", "indx"], "the lab has no variant 'indx'; it has plain, index"),
        (["--resume", "latest", "--duration", "1s"], "leave --duration out"),
        (["--resume", "latest", "--variant", "index"], "leave --variant out"),
        ([], "expected a LAB, or --resume RUN"),
    ],
)
def test_what_makes_no_soak_is_refused(words: list[str], expected: str, tmp_path: Path) -> None:
    done = runner.invoke(app, ["soak", *words, "--store", str(tmp_path / "results.db")])
    assert done.exit_code == exits.USAGE
    assert expected in done.stderr
