# SPDX-License-Identifier: Apache-2.0
"""What `weir rfc2544` is asked for: names, frame sizes, and what is refused before anything is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app
from weir.lab import load_lab
from weir.lab.rfc2544 import IMIX, STANDARD_FRAMES, TESTS
from weir.procedures.rfc2544.command import chosen_options

SWITCHING = Path(__file__).parents[4] / "labs" / "switching"
runner = CliRunner()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--test", "latencies"], "unknown --test 'latencies'"),
        (["--frame", "63"], "--frame: is a frame of 63 bytes"),
    ],
)
def test_a_name_that_there_is_not_is_refused(words: list[str], expected: str) -> None:
    done = runner.invoke(app, ["rfc2544", str(SWITCHING), *words])
    assert done.exit_code == exits.USAGE
    assert expected in done.stderr


def test_a_reset_test_of_what_cannot_be_reset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("weir: 1\nname: tiny\nchain: PVP\ntechnology: direct\n")
    done = runner.invoke(app, ["rfc2544", str(tmp_path), "--test", "reset"])
    assert done.exit_code == exits.USAGE
    assert "nothing can be reset" in done.stderr
    assert "linux-bridge" in done.stderr


@pytest.mark.parametrize(
    ("asked", "quick", "sizes"),
    [
        (None, True, ("64", "1518")),
        (["64", "1518", "64"], False, ("64", "1518")),
        (["standard"], True, (*STANDARD_FRAMES, IMIX)),
    ],
)
def test_frames_are_the_labs_unless_others_are_asked_for(
    asked: list[str] | None, quick: bool, sizes: tuple[str, ...]
) -> None:
    lab = load_lab(SWITCHING / "lab.yml", quick=quick, cpus=sorted(os.sched_getaffinity(0)))
    assert chosen_options(lab, None, asked, quick=quick).sizes(lab.traffic.frames) == sizes


def test_tests_come_in_the_order_of_the_rfc_and_all_is_every_one() -> None:
    lab = load_lab(SWITCHING / "lab.yml", quick=False, cpus=sorted(os.sched_getaffinity(0)))
    assert chosen_options(lab, ["reset", "latency"], None, quick=False).tests == ("latency", "reset")
    assert chosen_options(lab, ["all", "latency"], None, quick=False).tests == TESTS


def test_a_dry_run_says_what_would_be_measured_and_about_how_long() -> None:
    words = ["rfc2544", str(SWITCHING), "--dry-run", "--quick", "--test", "throughput", "-t", "direct"]
    done = runner.invoke(app, words)
    assert done.exit_code == exits.OK, done.output
    head, *setups, takes = done.stdout.splitlines()
    assert head == "throughput of each of these, with frames of 64, 1518:"
    assert setups == ["  direct PVP", "  direct PVVP"]
    assert takes.startswith("expected to take about ")
    planned = json.loads(runner.invoke(app, [*words, "--json"]).stdout)
    assert planned["setups"] == ["direct PVP", "direct PVVP"]
    assert (planned["tests"], planned["frames"]) == (["throughput"], ["64", "1518"])
    assert planned["expected_s"] > 0
