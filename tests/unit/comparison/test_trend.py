# SPDX-License-Identifier: Apache-2.0
"""Steps are told from noise, and a trend says since which run and revision each level is there."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.store.made import fingerprint, run, setup
from weir.cli.main import app
from weir.comparison.levels import levels
from weir.results.result import Case, Throughput
from weir.results.trend import Trend
from weir.store.rows import add_run
from weir.store.store import Store

runner = CliRunner()
NOISE = 0.01


def history(seed: int, *steps: tuple[int, float], runs: int = 60) -> list[float]:
    """Around 1e6 with tails heavier than normal; from each index on times its factor."""
    dice = random.Random(seed)
    values = [1e6 * (1 + NOISE * dice.gauss(0, 1) * dice.choice((0.7, 0.7, 1.6))) for _ in range(runs)]
    for index, factor in steps:
        values[index:] = [value * factor for value in values[index:]]
    return values


def test_noise_alone_has_one_level() -> None:
    for seed in range(8):
        found = levels(history(seed), 0.01)
        assert found.steps == ()
        assert found.middles == pytest.approx([1e6], rel=0.005)
        assert found.noise == pytest.approx(NOISE, rel=0.6)
        assert 0.005 < found.smallest_seen < 0.03


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_step_of_three_percent_is_found_where_it_is(factor: float) -> None:
    for seed in range(4):
        (step,) = levels(history(seed, (35, factor)), 0.01).steps
        assert abs(step.index - 35) <= 5
        assert step.p_value < 0.01 / 60


def test_there_and_back_are_two_steps_and_one_bad_night_is_none() -> None:
    there_and_back = levels(history(1, (20, 0.9), (40, 1 / 0.9)), 0.01)
    assert [step.index for step in there_and_back.steps] == [20, 40]
    values = history(2)
    values[30] *= 0.5
    assert levels(values, 0.01).steps == ()


def test_a_step_that_does_not_matter_is_none() -> None:
    values = [1e6] * 20 + [0.98e6] * 20
    assert levels(values, 0.03).steps == ()
    assert len(levels(values, 0.01).steps) == 1
    with pytest.raises(ValueError, match="a step needs 6"):
        levels([1.0] * 5, 0.01)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Forty nights on one host: `direct` loses 10 % from the thirtieth on, `ovs` gains them, `bridge` stays;
    on another host only three."""
    location = tmp_path_factory.mktemp("trend") / "results.db"
    ways = {"ovs": history(1, (30, 1.1)), "bridge": history(2), "direct": history(3, (30, 0.9))}
    with Store(location) as store, store.session(writing=True) as session:
        for night in range(40):
            for host in ("alpha", "beta") if night < 3 else ("alpha",):
                one = run(f"{host}-{night:02}").model_copy(deep=True)
                one.started_at = f"2026-{1 + night // 28:02}-{1 + night % 28:02}T01:00:00Z"
                one.finished_at, one.quick = one.started_at, False
                one.fingerprint = fingerprint(
                    host=host, versions={"weir": f"0.1+g{'new' if night >= 30 else 'old'}"}
                )
                one.setups = [setup().model_copy(update={"technology": way, "cases": []}) for way in ways]
                for at, values in zip(one.setups, ways.values(), strict=True):
                    at.cases = [_case(values[night], worse=way_is_slow(night))]
                add_run(session, one, [])
            killed = run(f"killed-{night:02}").model_copy(update={"started_at": "2026-01-01T00:00:00Z"})
            add_run(session, killed, [])
    return str(location)


def way_is_slow(night: int) -> bool:
    return night == 12


def _case(rate: float, *, worse: bool) -> Case:
    found = Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found",
        load_pps=rate / 3 if worse else rate,
        slower_times=3.0 if worse else None,
    )
    return Case(frame="64", mean_frame_bytes=64, throughput=[found])


def said(*words: str, store: str, code: int = 0) -> str:
    done = runner.invoke(app, ["trend", *words, "--store", store])
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def test_a_trend_of_a_lab_file_is_that_of_its_name(store: str, tmp_path: Path) -> None:
    lab = tmp_path / "nightly.yml"
    lab.write_text("weir: 1\nname: switching\nchain: [PVP]\ntechnology: [direct]\n")
    assert said(str(lab), "--json", store=store) == said("switching", "--json", store=store)
    assert "nowhere.yml" in said("nowhere.yml", store=store, code=2)


@pytest.mark.long
def test_a_trend_says_since_when_regressions_first(store: str) -> None:
    found = Trend.read(said("switching", "--json", store=store))
    assert [(one.way, one.host) for one in found.series[:2]] == [("direct", "alpha"), ("ovs", "alpha")]
    worse, better = found.series[:2]
    assert worse.regressed
    assert [(one.run, one.weir, one.weir_before) for one in worse.changes] == [
        ("alpha-30", "0.1+gnew", "0.1+gold")
    ]
    assert worse.changes[0].change == pytest.approx(-0.1, abs=0.01)
    assert (worse.runs, worse.left_out) == (40, 1)
    assert not better.regressed
    steady = [one for one in found.series if not one.changes]
    assert {(one.way, one.host) for one in steady} == {
        ("bridge", "alpha"),
        *((way, "beta") for way in ("ovs", "bridge", "direct")),
    }
    assert {one.noise for one in steady if one.host == "beta"} == {None}


def test_it_is_told_in_words_as_junit_and_as_annotations(store: str, tmp_path: Path) -> None:
    text = said("switching", store=store)
    assert text.startswith(
        "switching: 43 runs, 6 figures: 1 on a worse level than before, 1 changed otherwise."
    )
    assert "\nWORSE  direct PVP 64 NDR on alpha: " in text
    assert "worse, since alpha-30 of 2026-02-03, Weir 0.1+gnew (before: 0.1+gold)" in text
    assert "1 run left out" in text
    file = tmp_path / "trend.xml"
    said("switching", "-f", "junit", "-o", str(file), store=store)
    suite = ET.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "1", "3")
    (failure,) = suite.iter("failure")
    assert "alpha-30" in str(failure.text)
    error, notice = said("switching", "-f", "github", store=store).splitlines()
    assert error.startswith("::error title=switching%3A direct PVP 64 NDR on alpha::-")
    assert "%25 (" in error
    assert notice.startswith("::notice ")


def test_exit_codes_are_for_ci(store: str) -> None:
    assert "1 of 6 are on a worse level than before: direct PVP 64 NDR" in said(
        "switching", "--fail", store=store, code=1
    )
    said("switching", "--fail", "--factor", "technology=ovs", store=store)
    said("switching", "--fail", "--threshold", "20%", store=store)
    said("switching", "--fail", "--until", "2026-01-28", store=store)
    assert "has no finished run of nosuch" in said("nosuch", store=store, code=2)
    assert "contradict each other" in said("switching", "--json", "-f", "junit", store=store, code=2)


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve runs; with the eighth the lab's flows become many and rates fall by 30 %. A frame more, and a
    key that only the newer Weir knows, come with the fourth and change nothing."""
    location = tmp_path_factory.mktemp("edited") / "results.db"
    values = history(5, (8, 0.7), runs=12)
    with Store(location) as store, store.session(writing=True) as session:
        for number in range(12):
            one = run(f"edited-{number:02}").model_copy(deep=True)
            one.started_at = one.finished_at = f"2026-01-{1 + number:02}T01:00:00Z"
            one.fingerprint = fingerprint(
                host="alpha", versions={"weir": "0.2" if number >= 4 else "0.1", "dpdk": "22.11"}
            )
            traffic: dict[str, object] = {"frames": ["64"], "flows": {"count": 1 if number < 8 else 1000}}
            one.spec = {"name": "switching", "traffic": traffic, "variants": {"a": {"cores": None}, "b": {}}}
            if number >= 4:
                traffic["frames"] = ["64", "128"]
                one.spec["measure"] = {"new_in_weir_0.2": 3}
            one.spec_sha256 = f"{number // 4:064}"
            one.setups = [setup().model_copy(update={"variant": way, "cases": []}) for way in ("a", "b")]
            for at in one.setups:
                at.cases = [_case(values[number], worse=False)]
            add_run(session, one, [])
    return str(location)


def test_a_step_where_keys_of_the_lab_changed_is_no_regression_and_says_which(edited: str) -> None:
    found = Trend.read(said("switching", "--json", store=edited))
    assert [(one.run, one.keys, one.host) for one in found.lab_changes] == [
        ("edited-08", ["traffic.flows.count"], "alpha")
    ]
    for one in found.series:
        (change,) = one.changes
        assert (change.run, change.outcome, change.lab_keys) == (
            "edited-08",
            "lab changed",
            ["traffic.flows.count"],
        )
        assert not one.regressed
    text = said("switching", "--fail", store=edited)
    assert "Keys of the lab changed with edited-08 of 2026-01-09 on alpha: traffic.flows.count." in text
    assert "lab changed, since edited-08 of 2026-01-09, Weir 0.2 (before: 0.2): traffic.flows.count" in text
    assert "WORSE" not in text
    assert ET.fromstring(said("switching", "-f", "junit", store=edited)).get("failures") == "0"
    assert all(
        line.startswith("::notice")
        for line in said("switching", "-f", "github", store=edited).split("\n")[:-1]
    )


def test_nights_that_carry_all_that_the_lab_allows_are_a_level_of_bounds_and_one_that_does_not_is_seen(
    tmp_path: Path,
) -> None:
    place = tmp_path / "results.db"

    def measured(night: int, load_pps: float) -> None:
        one = run(f"night-{night:02}").model_copy(deep=True)
        one.started_at = one.finished_at = f"2026-11-{1 + night:02}T06:00:00Z"
        one.setups = [setup()]
        one.setups[0].cases = [_case(load_pps, worse=False)]
        one.setups[0].cases[0].throughput[0].lab_bound = load_pps == 10e6
        with Store(place) as store, store.session(writing=True) as session:
            add_run(session, one, [])

    for night in range(8):
        measured(night, 10e6)
    assert "NDR (quick): ≥10.00 Mpps (noise band" in said("switching", store=str(place))
    for night in range(8, 14):
        measured(night, 8e6)
    text = said("switching", store=str(place))
    assert "WORSE" in text
    assert "NDR (quick): 8.00" in text


def test_a_level_of_bounds_alone_says_that_it_is_one(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        one = run("bound").model_copy(deep=True)
        one.finished_at = one.started_at
        one.setups = [setup()]
        rate = Throughput(goal="NDR", goal_loss_ratio=0, status="found", load_pps=9e6, tester_bound=True)
        one.setups[0].cases = [Case(frame="64", mean_frame_bytes=64, throughput=[rate])]
        with store.session(writing=True) as session:
            add_run(session, one, [])
        assert "NDR (quick): ≥9.000 Mpps (too few runs to tell its noise), 1 run" in said(
            "switching", store=str(tmp_path / "results.db")
        )
        one = run("known").model_copy(deep=True)
        one.started_at = one.finished_at = "2026-11-20T06:00:00Z"
        one.setups = [setup()]
        one.setups[0].cases = [_case(6e6, worse=False)]
        with store.session(writing=True) as session:
            add_run(session, one, [])
    text = said("switching", store=str(tmp_path / "results.db"))
    assert (
        "NDR (quick): ≥9.000 Mpps (the newest; too few runs to tell its noise), 2 runs" in text
    )  # more than 6
    one.id, one.started_at = "larger", "2026-11-20T07:00:00Z"
    one.setups[0].cases = [_case(12e6, worse=False)]
    with Store(tmp_path / "results.db") as store, store.session(writing=True) as session:
        add_run(session, one, [])
    text = said("switching", store=str(tmp_path / "results.db"))
    assert "NDR (quick): 12.00 Mpps (the newest that counts; too few runs to tell its noise), 3 runs" in text
    assert "1 run left out: in a worse state of the machine, or bounds; the newest is, at ≥9.000 Mpps" in text
    assert "switching: 3 runs, 1 figure: 0 on a worse level than before, 0 changed otherwise.\n" in text
    one.id, one.started_at = "late", "2026-11-20T08:00:00Z"
    (late,) = one.setups[0].cases[0].throughput
    late.status, late.load_pps, late.load_min_pps, late.load_max_pps, late.rounds = (
        "irregular",
        None,
        None,
        None,
        [],
    )
    with Store(tmp_path / "results.db") as store, store.session(writing=True) as session:
        add_run(session, one, [])
    text = said("switching", store=str(tmp_path / "results.db"))
    assert (
        "changed otherwise. Of 1 run besides there is none: of another kind, irregular, or out of time.\n"
        in text
    )


def test_no_more_runs_are_looked_at_than_asked_for(store: str) -> None:
    found = json.loads(said("switching", "--json", "--last", "8", "--host", "alpha", store=store))
    assert {one["runs"] for one in found["series"]} == {8}
    assert all(not one["changes"] for one in found["series"])
