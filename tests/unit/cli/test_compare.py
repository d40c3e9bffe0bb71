# SPDX-License-Identifier: Apache-2.0
"""`weir compare`: the table, JSON, exit codes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.report.disturbed import found
from tests.unit.comparison.test_changes import a_run
from weir.cli.main import app
from weir.results.throughput import Throughput


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    names = []
    for name, pps in (("before", 1e6), ("after", 0.8e6)):
        of = {way: found(pps, rounds=(pps, pps * 1.002, pps * 0.998)) for way in ("direct", "ovs", "xdp")}
        path = tmp_path / f"{name}.json"
        path.write_text(a_run(name, {**of}).model_dump_json())
        names.append(str(path))
    return names[0], names[1]


def weir(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["compare", *words])
    return done.exit_code, done.stdout, done.stderr


def test_the_table_has_both_sides_the_change_its_interval_and_what_it_means(runs: tuple[str, str]) -> None:
    code, said, _ = weir(*runs)
    assert code == 0
    row = next(line for line in said.splitlines() if line.startswith("direct"))
    assert row.split()[:5] == ["direct", "64", "NDR", "1.000", "0.800"]
    assert "PVP, Mpps" in said
    assert "-20.0%" in row
    assert row.split()[-1] == "worse"
    assert "3 numbers: 3 worse." in said
    assert "before  before · quick run of switching" in said


@pytest.fixture
def slow(tmp_path: Path) -> tuple[str, str]:
    """A function of some dozen packets a second beside one of millions."""
    names = []
    for name, times in (("before", 1.0), ("after", 0.8)):
        of = {
            way: found(pps * times, rounds=(pps * times, pps * times * 1.002, pps * times * 0.998))
            for way, pps in (("direct", 2e6), ("ovs", 50.0))
        }
        path = tmp_path / f"{name}.json"
        path.write_text(a_run(name, {**of}).model_dump_json())
        names.append(str(path))
    return names[0], names[1]


@pytest.mark.parametrize("sides", [2, 3])
def test_the_unit_of_a_table_leaves_a_slow_function_three_digits(
    slow: tuple[str, str], sides: int, tmp_path: Path
) -> None:
    third = tmp_path / "third.json"
    third.write_text(Path(slow[1]).read_text().replace('"id":"after"', '"id":"third"'))
    code, said, _ = weir(*slow, *([str(third)] if sides == 3 else []))
    assert code == 0
    assert "PVP, kpps" in said
    words = said.split()
    assert {"2000", "1600", "0.0500", "0.0400"} <= set(words)


def test_with_fail_a_change_for_the_worse_is_exit_code_1_and_named(runs: tuple[str, str]) -> None:
    code, _, complaint = weir(*runs, "--fail")
    assert code == 1
    assert complaint.startswith("weir: 3 of 3 became worse by 3% or more: direct PVP 64 NDR -20.0%, ovs")
    assert weir(*runs, "--fail", "--threshold", "30%")[0] == 0
    assert weir(*runs[::-1], "--fail")[0] == 0


def test_with_fail_a_rate_that_is_gone_is_exit_code_4_and_named(tmp_path: Path) -> None:
    good = found(1e6, rounds=(1e6, 1.002e6))
    lost = Throughput(goal="NDR", goal_loss_ratio=0.0, status="irregular", why="no valid trial")
    paths = [tmp_path / name for name in ("before.json", "after.json")]
    paths[0].write_text(a_run("before", {"direct": good, "ovs": good, "xdp": good}).model_dump_json())
    paths[1].write_text(a_run("after", {"direct": good, "ovs": lost}).model_dump_json())
    code, _, complaint = weir(*map(str, paths), "--fail")
    assert code == 4
    assert complaint == (
        "weir: 2 of 3 had a number before and have none now: ovs PVP 64 NDR, xdp PVP 64 NDR\n"
    )
    assert weir(*map(str, paths))[0] == 0


def test_with_fail_runs_of_which_nothing_can_be_judged_are_no_success(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("before.json", "after.json")]
    for path in paths:
        path.write_text(a_run(path.stem, {"direct": found(1e6)}).model_dump_json())
    code, _, complaint = weir(*map(str, paths), "--fail")
    assert code == 4
    assert complaint == "weir: the only number could not be judged: the remarks say why\n"
    assert "\n1 number: 1 not shown." in weir(*map(str, paths))[1]


def test_a_change_that_rounds_to_nothing_has_no_sign(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("before.json", "after.json")]
    for path, first in zip(paths, (1.0001e6, 1e6), strict=True):
        rounds = (first, first * 1.00001, first * 0.99999)
        path.write_text(a_run(path.stem, {"direct": found(first, rounds=rounds)}).model_dump_json())
    said = weir(*map(str, paths))[1]
    assert "0.0% 0.0% to 0.0%" in " ".join(said.split())
    assert "-0.0%" not in said
    assert "+0.0%" not in said


def test_json_is_the_comparison_and_nothing_else(runs: tuple[str, str]) -> None:
    code, said, _ = weir(*runs, "--json")
    assert code == 0
    document = json.loads(said)
    assert [change["outcome"] for change in document["changes"]] == ["worse"] * 3
    assert document["smallest"] == 0.03


@pytest.fixture
def four(runs: tuple[str, str], tmp_path: Path) -> tuple[str, ...]:
    """Those two, one as the first on another kernel, and one without `xdp` and with another way."""
    rounds = (1e6, 1.001e6, 0.999e6)
    like = a_run("like", {way: found(1e6, rounds=rounds) for way in ("direct", "ovs", "xdp")})
    like.fingerprint = like.fingerprint.model_copy(update={"kernel": "6.9.9"})
    other = a_run("other", {way: found(1e6, rounds=rounds) for way in ("direct", "ovs", "vpp")})
    other.fingerprint = like.fingerprint
    for one in (like, other):
        (tmp_path / f"{one.id}.json").write_text(one.model_dump_json())
    return (*runs, str(tmp_path / "like.json"), str(tmp_path / "other.json"))


def test_of_several_sides_the_table_goes_factor_by_factor_with_a_line_for_each(four: tuple[str, ...]) -> None:
    code, said, _ = weir(*four)
    assert code == 0
    lines = [line.split() for line in said.splitlines()]
    at = lines.index(["direct", "64", "NDR", "A", "1.000", "–", "–", "3"])
    first, second, third = lines[at + 1 : at + 4]
    assert first[:3] == ["B", "0.800", "-20.0%"]
    assert first[-2:] == ["3", "worse"]
    assert (second[0], second[-1], third[0], third[-1]) == ("C", "same", "D", "same")
    assert next(line for line in lines if line[:1] == ["A"])[:5] == ["A", "before", "·", "quick", "run"]
    assert "B against A: 3 numbers: 3 worse." in said
    assert "D against A: 4 numbers: 2 the same, 2 not compared." in said
    assert "C, D: The kernel differs: 6.1.0-0-synthetic and 6.9.9." in " ".join(said.split())
    assert "D: not in the runs after: xdp PVP 64 (NDR)" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 100


def test_json_of_several_sides_has_a_comparison_for_each_of_the_others(four: tuple[str, ...]) -> None:
    code, said, _ = weir(*four, "--json")
    assert code == 0
    document = json.loads(said)["comparisons"]
    assert [[run["id"] for run in one["after"]] for one in document] == [["after"], ["like"], ["other"]]
    assert {run["id"] for one in document for run in one["before"]} == {"before"}
    assert [change["outcome"] for change in document[1]["changes"]] == ["same"] * 3


def test_with_fail_whichever_side_became_worse_is_named(four: tuple[str, ...]) -> None:
    code, _, complaint = weir(four[0], four[2], four[1], "--fail")
    assert code == 1
    assert complaint.startswith(
        "weir: 3 of 6 became worse by 3% or more: C: direct PVP 64 NDR -20.0%, C: ovs"
    )
    code, _, complaint = weir(four[0], four[2], four[3], "--fail")
    assert code == 4
    assert complaint == "weir: 1 of 7 had a number before and have none now: C: xdp PVP 64 NDR\n"
    assert weir(four[0], four[2], "--fail")[0] == 0


def test_more_sides_than_letters_are_refused() -> None:
    code, said, complained = weir(*(f"{number}.json" for number in range(27)))
    assert (code, said) == (2, "")
    assert "27 sides: expected 26 at most" in complained


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("{0}", "{0}"), "before is on both sides: a run does not compare with itself"),
        (("{0}", "{1}", "{0}"), "before is on several sides: a run does not compare with itself"),
        (("{0},{0}", "{1}"), "before is named twice on one side: it would count twice"),
        (("{0}", "{1},{1}"), "after is named twice on one side: it would count twice"),
        (("{0},,{1}", "{1}"), "expected runs with commas between, such as 1a2b,3c4d"),
        (("{0}", "{1}", "--threshold", "much"), "--threshold much: expected a share such as 3% or 0.03"),
        (("{0}", "{1}", "--threshold", "100%"), "--threshold 100%: expected a share such as 3% or 0.03"),
        (("{0}", "nowhere.json"), "nowhere.json: No such file or directory; expected a result.json"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: tuple[str, ...], complaint: str, runs: tuple[str, str]
) -> None:
    code, said, complained = weir(*(word.format(*runs) for word in words))
    assert code == 2
    assert not said
    assert complaint in complained


def of_labs(folder: Path, *labs: str) -> list[str]:
    """Files of runs of those labs, otherwise alike."""
    paths = []
    for number, lab in enumerate(labs):
        run = a_run(f"run-{number}", {"direct": found(1e6, rounds=(1e6, 1.001e6))})
        run.lab, run.quick = lab, number < 1
        paths.append(folder / f"{number}.json")
        paths[-1].write_text(run.model_dump_json())
    return [str(path) for path in paths]


@pytest.mark.parametrize("labs", [("one", "two"), ("one", "one", "two")], ids=["two sides", "three"])
def test_that_runs_are_of_different_labs_is_said_before_any_number(
    labs: tuple[str, ...], tmp_path: Path
) -> None:
    _, said, _ = weir(*of_labs(tmp_path, *labs))
    words = " ".join(said.split())
    assert words.index("The labs differ: one and two.") < words.index("1 number:")
    assert said.index("The labs differ") < said.index("One is a quick run") or len(labs) > 2


def test_that_runs_are_of_different_labs_is_the_first_warning_and_before_the_changes_in_json(
    tmp_path: Path,
) -> None:
    one, likewise, other = of_labs(tmp_path, "one", "one", "two")
    _, said, _ = weir(one, f"{likewise},{other}", "--json")
    document = json.loads(said)
    assert document["warnings"][0].startswith("The labs differ: one and two. What has the same name")
    keys = list(document)
    assert keys.index("warnings") < keys.index("changes")
