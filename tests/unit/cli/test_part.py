# SPDX-License-Identifier: Apache-2.0
"""What the command line leaves of a lab: technologies, variants, chains and frames by name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.store.made import case
from tests.unit.store.made import setup as made_setup
from weir.cli.exits import USAGE, CommandError
from weir.cli.labfile import Part, compared_here
from weir.cli.main import app
from weir.lab import Lab, load_lab
from weir.lab.ways import Way, ways
from weir.procedures.order import Asked
from weir.procedures.stored_result import new_result
from weir.procedures.throughput.expected_command import expected, range_s
from weir.procedures.throughput.planned import Planned
from weir.procedures.throughput.planned_command import json_planned
from weir.store.rows import add_run
from weir.store.store import Store

LAB = "labs/switching"
runner = CliRunner()


def lab(**more: object) -> Lab:
    return Lab.model_validate(
        {
            "weir": 1,
            "name": "part",
            "chain": ["PVP", "PVVP", ["f", "f"]],
            "functions": {"f": {"nf": "l2fwd"}, "default": {"nf": "l2fwd"}},
            "technology": ["direct", "linux-bridge", "ovs"],
            "baseline": "linux-bridge",
            "traffic": {"frames": [64, 512, 1518]},
        }
        | more
    )


def narrowed(whole: Lab, part: Part) -> tuple[Lab, tuple[Way, ...]]:
    return part.of(whole, ways(whole))


def test_all_of_a_lab_is_left_where_nothing_is_named() -> None:
    whole = lab()
    assert narrowed(whole, Part()) == (whole, ways(whole))


def test_what_is_named_is_left_in_the_labs_order() -> None:
    left, compared = narrowed(lab(), Part(["ovs", "linux-bridge"], None, ["f-f", "PVP"], ["1518", "64"]))
    assert left.technology == ("linux-bridge", "ovs")
    assert [chain.name for chain in left.chains()] == ["PVP", "f-f"]
    assert left.traffic.frames == ("64", "1518")
    assert left.baseline == "linux-bridge"
    assert [way.name for way in compared] == ["linux-bridge", "ovs"]
    assert all(way.lab.chains() == left.chains() for way in compared)
    assert all(way.lab.traffic.frames == ("64", "1518") for way in compared)


def test_steps_are_those_variants_that_are_left() -> None:
    whole = lab(variants={"a": {}, "b": {}, "c": {}}, steps=["a", "b", "c"], baseline=None)
    left, _ = narrowed(whole, Part(["direct"], ["c", "a"]))
    assert left.steps == ("a", "c")


def test_ratios_refer_to_the_first_that_is_left_without_the_labs_baseline() -> None:
    left, _ = narrowed(lab(), Part(["ovs", "direct"]))
    assert left.baseline == "direct"


def test_variants_are_left_by_name_and_by_technology() -> None:
    variants = {"plain": {"technology": "ovs"}, "both": {}, "bridged": {"technology": "linux-bridge"}}
    whole = lab(technology=["ovs", "linux-bridge"], variants=variants, baseline="plain")
    left, compared = narrowed(whole, Part(variants=["bridged", "both"]))
    assert [way.name for way in compared] == ["both ovs", "both linux-bridge", "bridged"]
    assert list(left.variants) == ["both", "bridged"]
    left, compared = narrowed(whole, Part(["ovs"]))
    assert [way.name for way in compared] == ["plain", "both ovs"]
    assert list(left.variants) == ["plain", "both"]
    with pytest.raises(CommandError, match="no variant of the lab runs under linux-bridge") as error:
        narrowed(whole, Part(["linux-bridge"], ["plain"]))
    assert error.value.exit_code == USAGE


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("-t", "ovs-dpkd", "did you mean ovs-dpdk?"),
        ("-c", "PVP2", "did you mean PVP?"),
        ("--frame", "9000", "the lab has no frame '9000'; it has 64, 1518"),
        ("--variant", "fast", "the lab has no variants, and so no 'fast'"),
    ],
)
def test_what_the_lab_has_not_is_refused_before_anything_is_built(option: str, value: str, said: str) -> None:
    done = runner.invoke(app, ["run", LAB, "--quick", option, value])
    assert done.exit_code == USAGE
    assert said in done.stderr


def test_a_dry_run_says_what_would_be_measured_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.fabric.host.isolated.measuring_cpus", lambda: (0, 1))
    words = ["run", LAB, "--quick", "-t", "direct", "-t", "linux-bridge", "-c", "PVP", "--frame", "64"]
    done = runner.invoke(app, [*words, "--dry-run"])
    assert done.exit_code == 0
    first, *setups, last = done.stdout.splitlines()
    assert first.endswith("would measure each of these, with frames of 64:")
    assert [line.split("  refused")[0] for line in setups] == ["  direct PVP", "  linux-bridge PVP"]
    assert re.search(r"expected to take \d+ s to|expected to take \d+ to \d+ (s|min)", last)
    planned = json.loads(runner.invoke(app, [*words, "--dry-run", "--json"]).stdout)
    assert [one["name"] for one in planned["setups"]] == ["direct", "linux-bridge"]
    assert planned["baseline"] == "linux-bridge"
    assert planned["frames"] == ["64"]
    shortest_s, longest_s = planned["expected_range_s"]
    assert 0 < shortest_s < longest_s


def test_a_dry_run_says_for_whom_it_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weir.fabric.host.isolated.measuring_cpus", lambda: (0, 1))
    words = ["run", str(Path(LAB).parents[0] / "upf-n4"), "--dry-run"]
    said = runner.invoke(app, words).stdout.splitlines()
    assert "  upf waits for 10,000 sessions by N4 first, 120 s at most" in said


@pytest.mark.parametrize(
    ("whys", "said"),
    [
        (["no root", "no root"], ["  direct PVP", "  linux-bridge PVP", "all are left out here: no root"]),
        (["no root", None], ["  direct PVP  left out here: no root", "  linux-bridge PVP"]),
        ([None, None], ["  direct PVP", "  linux-bridge PVP"]),
    ],
)
def test_a_dry_run_says_once_why_nothing_can_be_measured(
    monkeypatch: pytest.MonkeyPatch, whys: list[str | None], said: list[str]
) -> None:
    monkeypatch.setattr("weir.fabric.host.isolated.measuring_cpus", lambda: (0, 1))
    left = iter(whys)
    monkeypatch.setattr("weir.procedures.driver.refused", lambda _way, _chain: next(left))
    words = ["run", LAB, "--quick", "-t", "direct", "-t", "linux-bridge", "-c", "PVP", "--dry-run"]
    assert runner.invoke(app, words).stdout.splitlines()[1:-1] == said


def test_the_time_expected_is_that_of_earlier_runs_of_the_same_lab_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("weir.fabric.host.isolated.measuring_cpus", lambda: (0, 1))
    known, _ = Part(["direct"], None, ["PVP"], ["64"]).of(*compared_here(Path(LAB), quick=True))
    words = ["run", LAB, "--quick", "-t", "direct", "-c", "PVP", "--frame", "64"]
    words += ["--store", str(tmp_path / "s.db")]
    with Store(tmp_path / "s.db") as store, store.session(writing=True) as session:
        for seconds, interrupted, seed in ((100, False, 0), (120, False, 0), (3, True, 0), (900, False, 7)):
            measure = known.measure.model_copy(update={"seed": seed or known.measure.seed})
            other = known.model_copy(update={"measure": measure})
            ended: dict[str, object] = {
                "seconds": seconds,
                "interrupted": interrupted,
                "finished_at": "2026-11-23T08:00:00Z",
            }
            ended["setups"] = [made_setup().model_copy(update={"cases": [case()]})]
            add_run(session, new_result(other, quick=True, baseline="direct").model_copy(update=ended), [])
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 9.0, 9.0))
    last = runner.invoke(app, [*words, "--dry-run"]).stdout.splitlines()[-1]
    assert last.endswith("expected to take 1 to 3 min, by the last 2 runs of this lab here")
    monkeypatch.setattr("os.getloadavg", lambda: (1.24, 0.0, 0.0))
    for cpus, how in ((2, "several times as long"), (8, "longer")):
        with monkeypatch.context() as machine:
            machine.setattr("os.sched_getaffinity", lambda _, cpus=cpus: set(range(cpus)))
            last = runner.invoke(app, [*words, "--dry-run"]).stdout.splitlines()[-1]
        assert last.endswith(
            f"; {how} beside the programs that run here now (load 1.2 on {cpus} CPUs; "
            "`weir doctor` names them)"
        )
    planned = json.loads(runner.invoke(app, [*words, "--dry-run", "--json"]).stdout)
    assert planned["expected_range_s"] == [round(100 / 1.3), round(120 * 1.3)]


def test_a_load_of_an_hour_is_expected_to_take_no_less_and_is_not_sent_again_in_five_minutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("weir.fabric.host.isolated.measuring_cpus", lambda: (0, 1))
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 9.0, 9.0))
    words = ["run", LAB, "-t", "direct", "-c", "PVP", "--frame", "64", "--rate", "1Mpps", "--duration", "1h"]
    words += ["--store", str(tmp_path / "s.db"), "--dry-run"]
    shortest_s, longest_s = json.loads(runner.invoke(app, [*words, "--json"]).stdout)["expected_range_s"]
    assert 3600 < shortest_s <= longest_s < 3660
    last = runner.invoke(app, words).stdout.splitlines()[-1]
    assert re.fullmatch(r"1 case: expected to take about (60 min|1 h 0 min) \(until .*\)", last)


def test_a_replay_is_expected_to_take_as_long_as_the_capture_which_nobody_has_read_yet() -> None:
    capture = {"left": {"file": "up.pcap"}, "right": {"file": "down.pcap"}, "rate": "2x"}
    whole = lab(traffic={"capture": capture}, measure={"repeats": 5})
    said = expected(Planned(whole, ways(whole), Asked()), ())
    assert "5 replays each, which take as long as the captured frames do, at 2x" in said
    assert "min" not in said
    assert json.loads(json_planned(Planned(whole, ways(whole), Asked()), ()))["expected_s"] is None


def test_searches_for_connections_may_wait_for_what_never_completes(tmp_path: Path) -> None:
    """As in every second trial of a firewall whose table is full."""
    both = []
    for drain_s in (0, 4):
        (tmp_path / "lab.yml").write_text(
            "weir: 1\nname: c\nchain: PVP\ntechnology: direct\n"
            f"traffic: {{connections: {{drain_s: {drain_s}, trial_s: 2}}}}\nmeasure: {{repeats: 3}}\n"
        )
        lab = load_lab(tmp_path, cpus=[0, 1])
        both.append(range_s(lab, ways(lab), []))
    (quick, none_waits), (same, all_wait) = both
    assert quick == same < none_waits < all_wait
    assert all_wait - none_waits == pytest.approx(3 * 31 * 2)
