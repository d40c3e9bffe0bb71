# SPDX-License-Identifier: Apache-2.0
"""Results that an older Weir wrote are read as if this one had written them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import create_engine, text
from typer.testing import CliRunner

from weir.cli.main import app
from weir.results import upgrades
from weir.results.document import NewerDocumentError
from weir.results.lean import LeanResult
from weir.results.result import Result
from weir.results.upgrades import RESULT_VERSION, UPGRADES, Upgrade
from weir.store.connection import StoreError
from weir.store.store import Store

OLDER = Path(__file__).parent / "result-version-1.json"
"""As Weir wrote it before there were records of other procedures."""


def older() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(OLDER.read_text())
    return found


def test_each_version_has_its_step() -> None:
    assert [step.to for step in UPGRADES] == list(range(2, RESULT_VERSION + 1))


def test_an_older_result_is_read_with_all_that_was_in_it() -> None:
    found = Result.read(OLDER.read_text())
    assert found.version == RESULT_VERSION
    cases = [case for setup in found.setups for case in setup.cases]
    assert cases
    assert all(case.records == {} for case in cases)
    again = json.loads(found.model_dump_json())
    again["version"] = 1
    assert (again["fingerprint"].pop("host"), again["fingerprint"].pop("cpu_quota")) == ("", None)
    assert (again.pop("campaign"), again.pop("files_sha256")) == (None, {})
    for setup in again["setups"]:
        assert setup.pop("failed") is False
        assert setup.pop("outputs") == []
        assert setup.pop("n4") == []
        assert setup.pop("other_hosts") == []
        for case in setup["cases"]:
            del case["records"]
            assert (case.pop("rounds"), case.pop("round")) == ([], None)
            for trial in (*case["trials"], *case["curve"]):
                trial["paces"] = trial.pop("core_speeds")
                assert trial.pop("doubted") == []
                assert (trial.pop("originated"), trial.pop("originated_arrived")) == ([], 0)
                assert {one.pop("host_sending_us") for one in trial["stalls"]} <= {None}
                for stream in trial["streams"]:
                    assert (stream.pop("counted_offered"), stream.pop("counted_lost")) == (None, None)
                    assert (stream.pop("too_late"), stream.pop("from_earlier")) == (0, 0)
                    assert stream.pop("offered_bytes") == 0
            for found in case["throughput"]:
                assert (found.pop("searches"), found.pop("unmeasured")) == (0, False)  # not known then
                assert found.pop("lab_bound") is False
                for one in found["rounds"]:
                    assert (one.pop("tester_bound"), one.pop("lab_bound")) == (None, False)
    assert again == older()


def test_an_older_file_is_reported_as_ever() -> None:
    done = CliRunner().invoke(app, ["report", str(OLDER)])
    assert done.exit_code == 0, done.stderr
    assert "NDR" in done.stdout


def test_what_a_newer_weir_wrote_is_refused_with_that_reason() -> None:
    newer = older() | {"version": RESULT_VERSION + 1}
    with pytest.raises(NewerDocumentError, match="a newer Weir wrote it"):
        Result.read(json.dumps(newer))


def test_a_run_of_a_newer_weir_in_the_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    written = Result.read(OLDER.read_text())
    with Store(path) as store:
        store.begin(written)
    rewrite(path, "weir_run", lambda run: run | {"version": RESULT_VERSION + 1})
    refused = f"store.db: run {written.id}: a newer Weir wrote it"
    with Store(path) as store, pytest.raises(StoreError, match=refused):
        store.load(written.id)


def test_a_newer_file_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(older() | {"version": RESULT_VERSION + 1}))
    done = CliRunner().invoke(app, ["report", str(path)])
    assert done.exit_code == 2
    assert f"{path}: a newer Weir wrote it" in done.stderr


def _no_setups(whole: dict[str, Any]) -> None:
    whole["setups"] = 5


def _area_without_a_name(whole: dict[str, Any]) -> None:
    whole["setups"][0]["cases"][0]["curve"][0]["areas"] = [{"core": 0}]


def _place_that_is_a_number(whole: dict[str, Any]) -> None:
    whole["setups"][0]["cases"][0]["curve"][0]["drops"] = [{"place": 5, "reason": "full", "packets": 1}]


@pytest.mark.parametrize("damage", [_no_setups, _area_without_a_name, _place_that_is_a_number])
def test_an_older_file_of_another_shape_is_refused_by_its_name(
    damage: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    whole = older()
    damage(whole)
    path = tmp_path / "older.json"
    path.write_text(json.dumps(whole))
    done = CliRunner().invoke(app, ["report", str(path)])
    assert done.exit_code == 2, done.exception
    assert f"{path}: no result of version {RESULT_VERSION}: setups" in done.stderr.replace("\n", "")


def test_an_older_run_in_the_store_whose_trial_has_another_shape_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    written = Result.read(OLDER.read_text())
    with Store(path) as store:
        store.begin(written)
        for setup in written.setups:
            store.add_setup(written.id, setup)
    rewrite(path, "weir_run", lambda run: run | {"version": 1})
    rewrite(path, "weir_trial", lambda trial: trial | {"areas": [{"core": 0}]})
    refused = f"store.db: run {written.id} is not as this Weir writes it: areas"
    with Store(path) as store, pytest.raises(StoreError, match=refused):
        store.load(written.id)


@pytest.mark.parametrize("fastpath", [5, "walks", [5]])
def test_an_older_lean_result_whose_fast_path_has_another_shape_is_no_result(fastpath: object) -> None:
    with pytest.raises(ValidationError, match="fastpath"):
        LeanResult.read(json.dumps({"version": 2, "fastpath": fastpath}))


def rewrite(path: Path, table: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Every document of a table as another Weir would have written it."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        for number, kept in connection.execute(text(f"select number, document from {table}")).all():
            connection.execute(
                text(f"update {table} set document = :d where number = :n"),
                {"d": json.dumps(change(json.loads(kept))), "n": number},
            )
    engine.dispose()


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> int:
    """A next version, which calls a trial's `offered` otherwise in older documents."""

    def rename(trial: dict[str, Any]) -> None:
        trial["offered"] = trial.pop("sent") if "sent" in trial else trial["offered"]

    version = RESULT_VERSION + 1
    monkeypatch.setattr(upgrades, "UPGRADES", [*UPGRADES, Upgrade(version, {"trial": rename})])
    monkeypatch.setattr(upgrades, "RESULT_VERSION", version)
    monkeypatch.setattr(Result, "VERSION", version)
    return version


def test_a_step_reaches_every_trial_of_a_whole_result(renamed: int) -> None:
    whole = older()
    trials = [
        trial
        for setup in whole["setups"]
        for case in setup["cases"]
        for trial in (*case["trials"], *case["curve"])
    ]
    assert trials
    for trial in trials:
        trial["sent"] = trial.pop("offered")
    found = Result.read(json.dumps(whole))
    assert found.version == renamed
    read = [trial for setup in found.setups for case in setup.cases for trial in (*case.trials, *case.curve)]
    assert [trial.offered for trial in read] == [trial["sent"] for trial in trials]


def test_a_step_reaches_the_parts_of_a_stored_run(renamed: int, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    written = Result.read(OLDER.read_text())
    with Store(path) as store:
        store.begin(written)
        for setup in written.setups:
            store.add_setup(written.id, setup)
    rewrite(path, "weir_run", lambda run: run | {"version": 1})
    rewrite(path, "weir_trial", lambda trial: {**trial, "sent": trial["offered"], "offered": None})
    with Store(path) as store:
        assert store.load(written.id) == written
    assert written.version == renamed


def test_a_step_reaches_the_intervals_of_a_soak(monkeypatch: pytest.MonkeyPatch) -> None:
    def longer(interval: dict[str, Any]) -> None:
        interval["to_s"] = interval.pop("until_s")

    version = RESULT_VERSION + 1
    monkeypatch.setattr(upgrades, "UPGRADES", [*UPGRADES, Upgrade(version, {"interval": longer})])
    case = {"soak": {"intervals": [{"until_s": 2.0}, {"until_s": 4.0}]}}
    upgrades.upgrade_part(case, "case", RESULT_VERSION)
    assert case["soak"]["intervals"] == [{"to_s": 2.0}, {"to_s": 4.0}]


def test_areas_of_separated_and_speeds_of_cores_have_their_present_names() -> None:
    whole = older()
    whole["machine"] = {"boot_id": "b", "paces_cycles": {"0": 600.0}}
    trial = whole["setups"][0]["cases"][0]["curve"][0]
    trial["paces"] = [{"core": 0, "pieces": 100, "cycles": 60000}]
    trial["areas"] = [
        {"name": name, "core": 0, "kind": kind, "busy_cycles": 1, "idle_cycles": 1}
        for name, kind in (("f1.owner0", "owner"), ("f1.applier1", "applier"))
    ]
    trial["drops"] = [{"place": "area f1.applier1", "reason": "tx_queue_full", "packets": 1}]
    found = Result.read(json.dumps(whole))
    assert found.machine is not None
    assert found.machine.piece_cycles == {0: 600.0}
    read = found.setups[0].cases[0].curve[0]
    assert [(one.name, one.kind) for one in read.areas] == [
        ("f1.state_core0", "state_core"),
        ("f1.rewrite_worker1", "rewrite_worker"),
    ]
    assert [one.place for one in read.drops] == ["area f1.rewrite_worker1"]
    assert read.piece_cycles() == {0: 600.0}
