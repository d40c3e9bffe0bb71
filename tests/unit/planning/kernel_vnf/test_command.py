# SPDX-License-Identifier: Apache-2.0
"""`weir model kernel-vnf`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from weir.cli import exits
from weir.cli.main import app
from weir.planning.kernel_vnf.configuration import published
from weir.planning.kernel_vnf.ranking import Case, predict

HOST = ["--cpu-ghz", "3.7", "--cores", "8", "--link", "10G"]
LARGE = ["--frame", "1500", "--flows", "100"]
SMALL = ["--frame", "64", "--flows", "4"]
runner = CliRunner()


def weir(*arguments: str) -> Result:
    return runner.invoke(app, ["model", "kernel-vnf", *arguments])


def entries(*arguments: str) -> list[dict[str, Any]]:
    done = weir(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_predict_has_an_entry_for_each_flow_count_and_frame_size_in_their_order() -> None:
    found = entries(
        "predict", *HOST, "--frame", "64,512,1500", "--flows", "1,2,4,100", "--config", "2+1/ic125"
    )
    assert [one["frame_bytes"] for one in found] == 4 * [64, 512, 1500]
    assert [one["f"] for one in found] == 3 * [1] + 9 * [2]
    assert {one["config"] for one in found} == {"2+1/ic125"}
    model = published("table-2")["2+1/ic125"]
    expected = predict(model, Case(3.7e9, 8, 10e9, 100, 512)).throughput
    assert found[-2]["mpps"] == pytest.approx(expected.pps / 1e6)
    assert found[-2]["gbps"] == pytest.approx(expected.l1_bps / 1e9)
    assert (found[-2]["limited_by"], found[-1]["limited_by"]) == ("cpu", "link")
    assert found[-1]["gbps"] == pytest.approx(10)


def test_predict_without_a_configuration_takes_the_best_that_rank_finds() -> None:
    assert entries("predict", *HOST, *SMALL) == entries("rank", *HOST, *SMALL)[:1]


def test_rank_has_every_configuration_that_fits_best_first() -> None:
    found = entries("rank", *HOST, *SMALL)
    assert {one["config"] for one in found} == set(published("table-2"))
    assert [one["mpps"] for one in found] == sorted((one["mpps"] for one in found), reverse=True)


def test_rank_for_a_rate_puts_the_smallest_that_carries_it_first() -> None:
    found = entries("rank", *HOST, *SMALL, "--rate", "1Mpps")
    assert [one["config"] for one in found[:2]] == ["4+1", "2+1/ic125"]
    assert found[0]["mpps"] >= 1


def test_a_rate_that_nothing_carries_ends_with_1_and_the_answer_is_printed() -> None:
    done = weir("rank", *HOST, *SMALL, "--rate", "2Mpps", "--json")
    assert done.exit_code == exits.FAILED
    assert json.loads(done.stdout)[0]["config"] == "3+1"


def test_parameters_are_chosen_by_their_source(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(
        "config,f,frame_bytes,cycles\n1+1,1,64,2000\n1+1,1,1024,3000\n1+1,2,64,5000\n1+1,2,1024,7000\n"
    )
    best = {
        source: entries("rank", *HOST, *SMALL, "--parameters", source)[0]
        for source in ("table-1", "table-2", str(own))
    }
    assert [one["config"] for one in best.values()] == ["5+2", "3+1", "1+1"]
    assert best["table-2"] == entries("rank", *HOST, *SMALL)[0]


def test_a_mix_counts_with_its_mean_size() -> None:
    (one,) = entries("predict", *HOST, "--frame", "imix:ad", "--flows", "1", "--config", "3+1")
    assert one["frame_bytes"] == 288
    (fixed,) = entries("predict", *HOST, "--frame", "288", "--flows", "1", "--config", "3+1")
    assert one["mpps"] == fixed["mpps"]


def test_tables_for_people_fit_80_columns_and_end_with_the_reasons() -> None:
    shown = weir("rank", *HOST, "--frame", "64,imix:aaaaaaaddddg", "--flows", "4,100").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("is best: ") == 4
    assert "with --parameters table-1, 5+2 comes first" in " ".join(shown.split())
    shown = weir("predict", *HOST, *LARGE, "--config", "5+2").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "The link is full." in shown


def test_rank_says_which_configurations_have_too_few_cores() -> None:
    shown = weir("rank", *HOST, *SMALL, "--cores", "5").stdout
    assert "Too few cores for 4+2 (6), 5+2 (7)." in shown


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--cpu-ghz", "-3.7"], "--cpu-ghz"),
        (["--cpu-ghz", "nan"], "--cpu-ghz"),
        (["--cores", "0"], "--cores"),
        (["--cores", "1"], "no configuration fits on --cores 1; expected 2 or more"),
        (["--cores", "6", "--config", "5+2"], "5+2 needs 7 cores"),
        (["--config", "2+1/ic12"], "4+2, 5+2 (did you mean 2+1/ic125?)"),
        (["--rate", "1Mpps"], "No such option: --rate"),
        (["--frame", "63"], "--frame 63: expected 64 to 9216 bytes"),
        (["--frame", "9217"], "--frame 9217: expected 64 to 9216 bytes"),
        (["--frame", "64,"], "--frame 64,: expected 64 to 9216 bytes"),
        (["--frame", "imix:q"], "unknown IMIX letter 'q'"),
        (["--flows", "0"], "--flows 0: expected numbers of flows from 1 to 1000000"),
        (["--flows", "many"], "--flows many: expected"),
        (["--link", "10"], "--link 10: expected a rate from 10M to 1.6T"),
        (["--link", "fast"], "--link fast: expected a rate"),
        (["--parameters", "table-3"], "expected table-2 or table-1, or a CSV file"),
        (["--parameters", __file__], "expected a first line with config,f,frame_bytes"),
    ],
)
def test_bad_input_ends_with_2_and_says_what_was_expected(changed: list[str], said: str) -> None:
    done = weir("predict", *HOST, *SMALL, *changed)
    assert done.exit_code == exits.USAGE
    assert done.stdout == ""
    assert said in done.stderr


@pytest.mark.parametrize("rate", ["0", "-1Mpps", "2Mpp"])
def test_a_rate_that_is_none_is_refused(rate: str) -> None:
    done = weir("rank", *HOST, *SMALL, "--rate", rate)
    assert done.exit_code == exits.USAGE
    assert f"--rate {rate}: expected" in done.stderr


def test_missing_options_are_named_all_at_once() -> None:
    done = weir("rank", "--cores", "8")
    assert done.exit_code == exits.USAGE
    assert "needs --cpu-ghz, --link, --frame, --flows too" in done.stderr
