# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from tests.unit.planning.costly import HZ, MEMORY, chain, measured
from tests.unit.planning.sample_model import QUALITY, TRIAL
from weir import fabric
from weir.cli.main import app
from weir.planning.calibration.table import render
from weir.planning.model.document import parameters_of, poor_fit
from weir.planning.model.quality import calibrated
from weir.results.model import MemoryPoint, ModelCoreSpeed, ModelDocument, ModelRange
from weir.store.model_file import write_model

LAB = """
weir: 1
name: told
chain: [[known], [unknown]]
technology: direct
functions:
  known: {chain: [{nf: nat, options: {external: 192.0.2.0/24}}, {nf: l3fwd}]}
  unknown: {nf: lb, options: {services: "198.19.0.1:80/tcp 198.19.1.1:80"}}
technologies: {direct: {wire: memory}}
cores: {tester: [0], functions: [0]}
"""
runner = CliRunner()


def document(cpu: str | None = None) -> ModelDocument:
    draw = Random(1)
    names = (("nat", "acl", "l3fwd"), ("l3fwd", "nat"), ("dpi", "nat", "l3fwd"), ("acl", "l3fwd"))
    trials = [measured(chain(one), number, draw, 0.0) for number, one in enumerate(names)]
    model = calibrated(trials, MEMORY, HZ)[0]
    here = fabric.fingerprint(0, "unknown", {})
    return ModelDocument(
        weir="0",
        lab="library",
        created_at="2026-01-01T00:00:00+00:00",
        technology="direct",
        wire="memory",
        counter_hz=HZ,
        utilisation=model.utilisation,
        core_distances_cycles=[],
        memory=[MemoryPoint(size_bytes=int(size), cycles=cycles) for size, cycles in MEMORY.points],
        parameters=parameters_of(model.parameters),
        covariance=model.parameters.covariance.tolist(),
        ranges=[ModelRange(name=name, low=one.low, high=one.high) for name, one in model.ranges.items()],
        options={},
        quality=QUALITY,
        trials=[TRIAL],
        fingerprint=here.model_copy(update={"cpu": cpu} if cpu else {}),
    )


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    path = tmp_path / "lab.yml"
    path.write_text(LAB)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    write_model(document(), path)
    return path


def predicted(*arguments: str) -> tuple[int, str]:
    done = runner.invoke(app, ["model", "predict", *arguments])
    return done.exit_code, done.output


def test_a_chain_of_known_functions_has_a_rate_and_its_interval(lab: Path, model: Path) -> None:
    code, said = predicted(str(lab), "--chain", "known", "--model", str(model), "--json")
    (answer,) = json.loads(said)
    assert code == 0
    assert answer["low_pps"] < answer["pps"] < answer["high_pps"]
    assert answer["limited_by"] == "core 0: f1"


def test_every_frame_and_number_of_flows_has_its_line(lab: Path, model: Path) -> None:
    given = ("--frame", "64,512", "--flows", "10,900000", "--chain", "known", "--model", str(model))
    code, said = predicted(str(lab), *given)
    assert code == 0
    assert said.count("known  ") == 4
    assert "known: Extrapolates: flows 1800000, measured 64 to 64." in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--chain", "unknown"), "the model has no cost of lb; it has acl, dpi, l3fwd, nat"),
        (("--chain", "nowhere"), "the lab has no chain 'nowhere'"),
        (("--chain", "known", "--frame", "9"), "--frame"),
        (("--chain", "known", "--flows", "none"), "--flows none"),
        (("--chain", "known", "--link", "fast"), "--link fast: expected a rate"),
        (("--chain", "known", "--scale-factor", "2", "--cores", "1"), "need 2, and there are 1"),
        (
            ("--chain", "known", "--scale-factor", "3", "--cores", "3", "--flows", "1"),
            "expected a flow or more",
        ),
        (("--chain", "known", "--rate", "much"), "--rate much: "),
        (("--config", "2+1"), "No such option: --config"),
    ],
)
def test_what_cannot_be_predicted_is_said(
    lab: Path, model: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, output = predicted(str(lab), "--model", str(model), *arguments)
    assert code == 2
    assert said in output


def test_a_lab_under_another_technology_is_told_which_the_model_is_of(lab: Path, model: Path) -> None:
    lab.write_text(LAB.replace("technology: direct", "technology: [linux-bridge, ovs]"))
    code, said = predicted(str(lab), "--model", str(model))
    assert code == 2
    assert "told has technology: linux-bridge, ovs, and the model of library is of direct" in said
    assert "`weir model calibrate --technology linux-bridge`" in said


def test_a_switch_without_a_cost_is_no_switch_without_cost(lab: Path, tmp_path: Path) -> None:
    lab.write_text(LAB.replace("technology: direct", "technology: linux-bridge"))
    path = tmp_path / "model.json"
    write_model(document().model_copy(update={"technology": "linux-bridge"}), path)
    code, said = predicted(str(lab), "--chain", "known", "--model", str(path))
    assert (code, "the model has no cost of a bridge hop" in said) == (2, True)


def test_without_a_model_it_says_how_to_get_one(lab: Path, tmp_path: Path) -> None:
    code, said = predicted(str(lab), "--model", str(tmp_path / "none.json"))
    assert code == 3
    assert "`weir model calibrate LAB` measures one" in said


def test_a_model_of_another_machine_is_refused_unless_its_clock_is_named(lab: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    write_model(document(cpu="Another CPU"), path)
    code, said = predicted(str(lab), "--chain", "known", "--model", str(path))
    assert (code, "is the model of another machine: The CPU differs" in said) == (3, True)
    assert predicted(str(lab), "--chain", "known", "--model", str(path), "--cpu-ghz", "3.0")[0] == 0


def test_a_lab_for_more_cores_than_there_are_here_is_told_how_to_say_so(lab: Path, model: Path) -> None:
    lab.write_text(LAB.replace("[0]", "[4095]"))
    code, said = predicted(str(lab), "--chain", "known", "--model", str(model))
    assert code == 2
    assert "this machine has no core 4095 to give" in said
    assert "the lab is for more cores than this machine has: see --cores" in said
    assert predicted(str(lab), "--chain", "known", "--model", str(model), "--cores", "4096")[0] == 0
    lab.write_text("weir: 2")
    assert "see --cores" not in predicted(str(lab), "--model", str(model))[1]


def test_what_is_no_model_is_said(lab: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{}")
    code, said = predicted(str(lab), "--model", str(path))
    assert code == 3
    assert "no model of version 3: weir: Field required" in said


def test_sets_side_by_side_carry_as_much_each_until_the_link_is_full(lab: Path, model: Path) -> None:
    given = (str(lab), "--chain", "known", "--model", str(model), "--json", "--flows", "64", "--cores", "4")
    (one,), (four,), (linked,) = (
        json.loads(predicted(*given, *more)[1])
        for more in ((), ("--scale-factor", "4"), ("--scale-factor", "4", "--link", "1G"))
    )
    assert (four["f"], four["pps"]) == (4, pytest.approx(4 * one["pps"], rel=0.01))
    assert any("4 sets side by side" in text for text in four["notices"])
    assert (linked["limited_by"], linked["pps"]) == ("link", pytest.approx(2 * 1e9 / (84 * 8)))


def test_delays_at_a_load_grow_with_it_and_there_is_none_at_more_than_is_carried(
    lab: Path, model: Path
) -> None:
    given = (str(lab), "--chain", "known", "--model", str(model), "--flows", "64")
    (rate,) = json.loads(predicted(*given, "--json")[1])
    (low,), (high,) = (
        json.loads(predicted(*given, "--json", "--rate", f"{share * rate['pps']:.0f}pps")[1])
        for share in (0.3, 0.9)
    )
    assert low["delay"]["p99_us"] < high["delay"]["p99_us"]
    code, said = predicted(*given, "--rate", f"{0.5 * rate['pps']:.0f}pps")
    assert code == 0
    assert "P99 µs" in said
    code, said = predicted(*given, "--rate", f"{2 * rate['pps']:.0f}pps")
    assert code == 0
    assert "known: No delay at" in said
    assert "P99 µs" not in said


def test_a_delay_is_of_cores_as_slow_as_those_that_the_rate_is_of(lab: Path, model: Path) -> None:
    """A machine twice as fast, slowed to a half, is as fast as the other."""
    given = (
        str(lab),
        "--chain",
        "known",
        "--model",
        str(model),
        "--flows",
        "64",
        "--rate",
        "3Mpps",
        "--json",
    )
    (plain,) = json.loads(predicted(*given)[1])
    speed = ModelCoreSpeed(best_cycles=600.0, slope=1.0, slowed=2.0)
    write_model(document().model_copy(update={"counter_hz": 2 * HZ, "core_speed": speed}), model)
    (slowed,) = json.loads(predicted(*given)[1])
    assert slowed["pps"] == pytest.approx(plain["pps"])
    assert slowed["delay"]["p99_us"] == pytest.approx(plain["delay"]["p99_us"])


def test_other_options_than_the_model_was_measured_with_are_said(lab: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    measured_with = {"nat": {"external": "203.0.113.0/24", "udp_timeout_s": 7}, "l3fwd": {}}
    write_model(document().model_copy(update={"options": measured_with}), path)
    code, said = predicted(str(lab), "--chain", "known", "--model", str(path))
    assert code == 0
    assert "nat has other options than it was measured with (udp_timeout_s 300, not 7): " in said
    assert "l3fwd has other options" not in said


def test_what_is_to_be_said_of_all_chains_is_said_once(lab: Path, model: Path) -> None:
    both = LAB.replace("[[known], [unknown]]", "[[known], [known, other]]")
    lab.write_text(both.replace("  unknown:", "  other: {chain: [{nf: l3fwd}]}\n  unknown:"))
    _, said = predicted(str(lab), "--model", str(model), "--rate", "1Mpps")
    notices = [line for line in said.splitlines() if "Delays at 1 Mpps" in line]
    assert len(notices) == 1
    assert notices[0].startswith("– Delays")


def test_a_poor_model_is_said_to_be_one_by_whatever_asks_it(lab: Path, model: Path) -> None:
    """It was measured while others had the cores, and its intervals alone would have to be read for that."""
    poor = document()
    poor.quality = QUALITY.model_copy(update={"left_out_deviation": 1.22})
    write_model(poor, model)
    code, said = predicted(str(lab), "--chain", "known", "--model", str(model))
    assert code == 0
    assert "This model is poor: its rates are off by ± 122%." in said
    assert poor_fit(document()) == []
    assert "This model is poor" in render(poor, "model.json")


def test_an_interval_so_wide_that_it_says_nothing_is_called_that(lab: Path, tmp_path: Path) -> None:
    model = tmp_path / "wide.json"
    unsure = document()
    wide = [[1e4 * one for one in row] for row in unsure.covariance]
    write_model(unsure.model_copy(update={"covariance": wide}), model)
    code, said = predicted(str(lab), "-c", "known", "--model", str(model), "--json")
    assert code == 0
    (one,) = json.loads(said)
    assert one["high_pps"] > 4 * one["low_pps"]
    assert one["notices"][0].startswith("The model does not tell: its interval is from ")
