# SPDX-License-Identifier: Apache-2.0
"""`weir plan`, by a model whose costs are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from tests.unit.planning.sample_model import sample_model
from weir.cli.main import app
from weir.results.model import ModelCoreSpeed, ModelDocument
from weir.store.model_file import write_model

ROOT = Path(__file__).parents[4]
LAB = """\
weir: 1
name: asked
chain: [[edge], [pair, edge]]
technology: direct
functions:
  edge:                                   # what customers see
    chain:
      - {nf: acl, options: {default: permit, rules: some.rules}}
      - {nf: nat, options: {external: 192.0.2.0/24}}
      - {nf: l3fwd}
  pair: {nf: l3fwd}
technologies: {direct: {wire: memory}}
tester: {direction: left-to-right}
traffic: {frames: [64], flows: {count: 1000}}
"""


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.cli.labfile.machine_cpus", lambda: (0, 1))
    monkeypatch.setattr("weir.planning.placement.command.machine_cpus", lambda: (0, 1))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_model(sample_model(), tmp_path / "model.json")
    monkeypatch.setenv("WEIR_MODEL", str(tmp_path / "model.json"))
    (tmp_path / "some.rules").write_text("deny udp 10.0.0.0/16 any\n")
    path = tmp_path / "lab.yml"
    path.write_text(LAB)
    monkeypatch.chdir(tmp_path)
    return path


def weir(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    return done.exit_code, done.output


def planned(lab: Path, *arguments: str) -> dict[str, Any]:
    code, said = weir("plan", lab, "--output", lab.parent / "out.yml", "--force", "--json", *arguments)
    document: dict[str, Any] = json.loads(said)
    carried = document["asked"]["rate_pps"] is None or document["best"]["carries"]
    assert code == (0 if carried else 1)
    return document


def test_the_answer_is_what_the_schema_says(lab: Path) -> None:
    schema = json.loads((ROOT / "schema/lab-plan.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(planned(lab, "--rate", "2Mpps", "--frame", "64,512"), schema)


def test_the_fewest_cores_that_carry_the_rate_at_the_lower_bound_are_taken(lab: Path) -> None:
    low, high = (planned(lab, "--rate", rate, "--cores", "4") for rate in ("4Mpps", "9Mpps"))
    assert low["best"]["cores"] < high["best"]["cores"]
    for one in (low, high):
        assert one["best"]["carries"]
        assert one["best"]["margin"] == pytest.approx(
            one["best"]["figures"][0]["low_pps"] / one["asked"]["rate_pps"] - 1
        )
        better = [other for other in one["runners_up"] if other["carries"]]
        assert all(other["cores"] >= one["best"]["cores"] for other in better)
    assert "No placement on fewer cores carries it" in high["why"][0]


def test_every_frame_must_be_carried(lab: Path) -> None:
    one = planned(lab, "--rate", "4Mpps", "--frame", "64,1518")
    assert [figures["frame"] for figures in one["best"]["figures"]] == ["64", "1518"]
    assert one["best"]["margin"] == min(figures["margin"] for figures in one["best"]["figures"])


def test_what_nothing_carries_ends_with_1_and_the_best_there_is(lab: Path) -> None:
    one = planned(lab, "--rate", "90Mpps")
    assert one["carrying"] == 0
    assert "Nothing carries it" in one["why"][0]
    assert one["best"]["margin"] < 0


def test_without_a_rate_it_is_as_much_as_possible(lab: Path) -> None:
    one = planned(lab, "--cores", "4")
    rates = [
        one["best"]["figures"][0]["low_pps"],
        *(two["figures"][0]["low_pps"] for two in one["runners_up"]),
    ]
    assert rates[0] > 0.99 * max(rates)


@pytest.mark.long
def test_the_written_lab_is_valid_and_its_prediction_is_that_of_the_plan(lab: Path) -> None:
    for chain in ("edge", "pair-edge"):
        one = planned(lab, "--rate", "3Mpps", "--chain", chain, "--flows", "2000", "--frame", "128,64")
        assert weir("validate", one["written"])[0] == 0
        code, said = weir("model", "predict", one["written"], "--json")
        assert code == 0
        again = json.loads(said)
        assert [entry["flows"] for entry in again] == [2000, 2000]
        for entry, figures in zip(again, one["best"]["figures"], strict=True):
            assert (entry["frame"], entry["pps"]) == (figures["frame"], pytest.approx(figures["pps"]))
            assert entry["limited_by"] == figures["limited_by"]


def test_the_written_lab_says_what_it_is_for_and_keeps_comments(lab: Path) -> None:
    text = Path(planned(lab, "--rate", "3Mpps")["written"]).read_text(encoding="utf-8")
    assert text.startswith(
        "# Made by weir plan: asked edge: 3.000 Mpps of 64 B, 1,000 flows: 2 cores carry it, "
    )
    assert "# Model: library, 2026-01-01" in text
    assert "# what customers see" in text


def test_a_file_that_is_there_is_kept(lab: Path) -> None:
    target = lab.parent / "mine.yml"
    target.write_text("mine")
    code, said = weir("plan", lab, "--rate", "1Mpps", "--output", target)
    assert (code, target.read_text()) == (2, "mine")
    assert "is there already; --force writes over it" in said


def test_without_a_name_the_lab_goes_to_the_results(lab: Path) -> None:
    code, said = weir("plan", lab, "--rate", "1Mpps")
    (written,) = (lab.parent / "results").iterdir()
    assert code == 0
    assert f"written: results/{written.name}" in said


def test_more_cores_than_trials_had_are_said_to_extrapolate(lab: Path) -> None:
    one = planned(lab, "--rate", "9Mpps", "--cores", "4")
    notices = [*one["best"]["notices"], *one["notices"]]
    assert any("cores, measured on 2" in text for text in notices)


def test_what_no_trial_measured_is_left_out_where_something_else_is_known(lab: Path) -> None:
    write_model(sample_model("dispatcher", "forwarder"), lab.parent / "model.json")
    one = planned(lab, "--cores", "4")
    ways = {
        function["architecture"] for two in (one["best"], *one["runners_up"]) for function in two["functions"]
    }
    assert ways == {"run-to-completion", "pipeline"}
    assert "Left out, as no trial measured what they cost" in one["why"][-1]


def test_the_link_limits(lab: Path) -> None:
    one = planned(lab, "--rate", "3Mpps", "--link", "1G")
    assert one["best"]["figures"][0]["limited_by"] == "link"
    assert "The link carries no more." in one["why"]


def test_a_tester_with_cores_of_its_own_keeps_them_unless_nothing_else_carries_it(lab: Path) -> None:
    assert planned(lab, "--rate", "1Mpps")["best"]["shares"] == []
    crowded = planned(lab, "--rate", "90Mpps")
    assert any("cores that others use" in text or "others use too" in text for text in crowded["why"])


@pytest.mark.long
def test_the_delay_must_hold_too(lab: Path) -> None:
    rate = ("--rate", "3Mpps", "--frame", "64,512")
    loose = planned(lab, *rate, "--latency-us", "50")
    delays = [figures["delay"] for figures in loose["best"]["figures"]]
    assert all(0 < one["p50_us"] <= one["p90_us"] <= one["p99_us"] <= 50 for one in delays)
    tight = planned(lab, *rate, "--latency-us", "0.001")
    assert not tight["best"]["carries"]
    assert "not within the delay" in tight["why"][0]
    assert tight["best"]["margin"] > 0
    shortest = max(figures["delay"]["p99_us"] for figures in tight["best"]["figures"])
    others = [two["figures"] for two in tight["runners_up"] if two["figures"][0]["delay"]]
    assert all(max(one["delay"]["p99_us"] for one in figures) >= 0.98 * shortest for figures in others)


@pytest.mark.long
def test_delays_are_of_cores_as_slow_as_they_were_in_the_trials(lab: Path) -> None:
    """A machine twice as fast, slowed to a half, is as fast as the other."""
    plain = sample_model()
    speed = ModelCoreSpeed(best_cycles=600.0, slope=1.0, slowed=2.0)
    slowed = plain.model_copy(update={"counter_hz": 2 * plain.counter_hz, "core_speed": speed})

    def delay_us(model: ModelDocument) -> float:
        write_model(model, lab.parent / "model.json")
        one = planned(lab, "--rate", "3Mpps", "--latency-us", "50")
        p99_us: float = one["best"]["figures"][0]["delay"]["p99_us"]
        return p99_us

    assert delay_us(slowed) == pytest.approx(delay_us(plain))


def test_a_delay_is_shown_where_one_was_asked_for(lab: Path) -> None:
    assert "P99, µs" in weir("plan", lab, "--rate", "3Mpps", "--latency-us", "50")[1]
    assert "P99, µs" not in weir("plan", lab, "--rate", "3Mpps")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--latency-us", "9"), "--latency-us needs --rate"),
        (("--rate", "fast"), "--rate fast: expected a number with one of the units"),
        (("--rate", "1Mpps", "--frame", "9"), "--frame"),
        (("--rate", "1Mpps", "--frame", "64,64"), "names 64 twice"),
        (("--rate", "1Mpps", "--chain", "edg"), "did you mean edge?"),
        (("--rate", "1Mpps", "--output", "nowhere/x.yml"), "there is no directory nowhere"),
        (("--rate", "1Mpps", "--config", "2+1"), "No such option"),
        (("--rate", "1Mpps", "--seed", "1"), "No such option: --seed"),
    ],
)
def test_what_cannot_be_planned_is_said(lab: Path, arguments: tuple[str, ...], said: str) -> None:
    code, output = weir("plan", lab, *arguments)
    assert code == 2
    assert said in output


def test_a_lab_with_a_tester_on_every_core_has_none_for_functions(lab: Path) -> None:
    lab.write_text(LAB + "cores: {tester: [0, 1], functions: [1]}\n")
    code, said = weir("plan", lab, "--rate", "1Mpps", "--cores", "1")
    assert code == 2
    assert "core" in said


def test_a_lab_under_another_technology_than_the_model_is_refused(lab: Path) -> None:
    lab.write_text(LAB.replace("technology: direct", "technology: linux-bridge"))
    code, said = weir("plan", lab, "--rate", "1Mpps")
    assert code == 2
    assert "has technology: linux-bridge, and the model of library is of direct; expected" in said


@pytest.mark.long
def test_a_lab_under_a_switch_is_placed_beside_it(lab: Path) -> None:
    lab.write_text(LAB.replace("technology: direct", "technology: ovs-dpdk"))
    switch = {"pmd hop": 500.0, "take virtio-user": 60.0, "give virtio-user": 40.0, "bytes virtio-user": 4.0}
    model = sample_model(more=switch).model_copy(update={"technology": "ovs-dpdk"})
    write_model(model, lab.parent / "model.json")
    one = planned(lab, "--cores", "2")
    assert one["best"]["figures"][0]["limited_by"] == "core 1: pmd.1"
    assert {cpu for function in one["best"]["functions"] for cpu in function["cores"]} == {0}
    assert weir("validate", one["written"])[0] == 0
    (again,) = json.loads(weir("model", "predict", one["written"], "--json")[1])
    assert again["pps"] == pytest.approx(one["best"]["figures"][0]["pps"])
    code, said = weir("plan", lab, "--rate", "1Mpps", "--latency-us", "9")
    assert (code, "what waits in the switch of ovs-dpdk is not in the model" in said) == (2, True)
