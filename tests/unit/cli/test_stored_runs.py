# SPDX-License-Identifier: Apache-2.0
"""`weir ls`, `show`, `tag`, `rm`, `export` and `import`: what is stored, and where it goes."""

from __future__ import annotations

import functools
import gzip
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.report.synthetic import result
from tests.unit.procedures.soak.looks import run as soak_run
from weir.cli import exits
from weir.cli.exits import CommandError
from weir.cli.main import app
from weir.cli.selecting import moment_s
from weir.results.campaign import CampaignRecord, LeftOutRounds
from weir.results.result import Case, Result
from weir.store.connection import StoreError
from weir.store.exchange import ImportFileError, read_import
from weir.store.rows import add_run
from weir.store.store import Store

OLD, NEW, OTHER = "switching-old", "switching-new", "routed-1"
runner = CliRunner()


def made(run_id: str, started_at: str, lab: str, host: str, **changes: Any) -> Result:
    found = result(id=run_id, started_at=started_at, lab=lab, **changes)
    found.setups = [one for one in found.setups if one.chain == "PVP" and one.technology != "ovs"]
    for setup in found.setups:
        setup.cases = setup.cases[:1]
    found.fingerprint.host = host
    found.spec = {"measure": {"repeats": 3, "goals": ["NDR", "PDR"]}, "quick": True}
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    location = str(tmp_path_factory.mktemp("filled") / "results.db")
    with Store(location) as database, database.session(writing=True) as session:
        add_run(session, made(OLD, "2026-01-02T03:04:05Z", "switching", "alpha"), ["baseline", "v1"])
        add_run(
            session, made(NEW, "2026-02-02T03:04:05+01:00", "switching", "beta", interrupted=True), ["v1"]
        )
        other = made(OTHER, "2026-03-02T03:04:05Z", "routed", "beta")
        other.setups = [one for one in other.setups if one.technology == "direct"]
        other.spec["measure"]["repeats"] = 5
        add_run(session, other, [])
    return location


@pytest.fixture
def store(filled: str, tmp_path: Path) -> str:
    return str(shutil.copy(filled, tmp_path))


def said(*words: str, store: str) -> str:
    done = runner.invoke(app, [*words, "--store", store])
    assert done.exit_code == 0, done.output
    return done.stdout


def refusal(*words: str, store: str) -> str:
    done = runner.invoke(app, [*words, "--store", store])
    assert done.exit_code == exits.USAGE, done.output
    return done.stderr


def listed(*words: str, store: str) -> list[str]:
    return [one["id"] for one in json.loads(said("ls", "--json", *words, store=store))]


def test_the_list_has_a_line_for_each_run_newest_first(store: str) -> None:
    first, second, third = said("ls", store=store).splitlines()
    assert first.split()[:5] == [OTHER, "routed", "2026-03-02T03:04:05Z", "beta", "quick"]
    assert second.split()[2] == "2026-02-02T02:04:05Z"
    assert second.split()[-2:] == ["v1", "interrupted"]
    assert "baseline,v1" in third


def test_a_soak_is_listed_as_one_with_its_intervals(store: str) -> None:
    seen = soak_run()
    for _ in range(3):
        seen.pass_by(delay_us=10)
    soaked = made("soak-1", "2026-04-02T03:04:05Z", "switching", "beta")
    del soaked.setups[1:]
    soaked.setups[0].cases[0] = Case(frame="64", mean_frame_bytes=64, soak=seen.recorder.soak)
    with Store(store) as database, database.session(writing=True) as session:
        add_run(session, soaked, [])
    newest, *_ = said("ls", store=store).splitlines()
    assert newest.split()[4:8] == ["soak", "1", "case,", "3"]
    assert "intervals" in newest
    runs = json.loads(said("ls", "--json", "--limit", "2", store=store))
    assert [(one["intervals"], one["trials"] > 0) for one in runs] == [(3, False), (0, True)]


def test_a_run_that_its_budget_ended_is_marked_by_how_much_it_left_out(store: str) -> None:
    left = [
        LeftOutRounds(name="ovs", chain="PVP", frame=frame, measured=1, left_out=2)
        for frame in ("64", "1518")
    ]
    ended = made("budget-1", "2026-04-02T03:04:05Z", "switching", "beta")
    ended.campaign = CampaignRecord(rounds=3, points=24, budget_s=600, left_out=left)
    whole = made("budget-2", "2026-04-03T03:04:05Z", "switching", "beta")
    whole.campaign = CampaignRecord(rounds=3, points=24, budget_s=600)
    with Store(store) as database, database.session(writing=True) as session:
        add_run(session, ended, [])
        add_run(session, whole, [])
    second, first = said("ls", "--limit", "2", store=store).splitlines()
    assert first.endswith("ended with its budget: 4 points left out")
    assert second.endswith("trials")
    runs = json.loads(said("ls", "--json", "--limit", "3", store=store))
    assert [one["left_out_points"] for one in runs] == [0, 4, 0]
    assert "ended with its budget: 4 points left out" in said("show", "budget-1", store=store)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], [OTHER, NEW, OLD]),
        (["--limit", "1"], [OTHER]),
        (["--lab", "switching"], [NEW, OLD]),
        (["--lab", "switching", "--lab", "routed"], [OTHER, NEW, OLD]),
        (["--host", "beta"], [OTHER, NEW]),
        (["--host", "beta", "--lab", "switching"], [NEW]),
        (["--tag", "v1"], [NEW, OLD]),
        (["--tag", "v1", "--tag", "baseline"], [OLD]),
        (["--since", "2026-02-01"], [OTHER, NEW]),
        (["--since", "2026-02-02T02:04:05Z", "--until", "2026-03-02T03:04:05Z"], [NEW]),
        (["--factor", "technology=linux-bridge"], [NEW, OLD]),
        (["--factor", "technology=linux-bridge", "--factor", "frame=64"], [NEW, OLD]),
        (["--factor", "technology=linux-bridge", "--factor", "frame=1518"], []),
        (["--factor", "measure.repeats=5"], [OTHER]),
        (["--factor", "measure.goals=PDR", "--factor", "chain=PVP", "--limit", "2"], [OTHER, NEW]),
        (["--factor", "quick=true", "--lab", "routed"], [OTHER]),
        (["--factor", "measure.nothing=5"], []),
        (["--lab", "' OR 1=1 --"], []),
    ],
)
def test_filters_hold_together(words: list[str], found: list[str], store: str) -> None:
    assert listed(*words, store=store) == found


def test_a_factor_that_no_case_and_no_lab_can_have_is_refused(store: str) -> None:
    complaint = refusal("ls", "--factor", "tecnology=direct", store=store)
    assert "no case and no lab has tecnology" in complaint
    assert "(did you mean technology?)" in complaint


def test_trials_are_listed_of_cases_that_have_the_factors(store: str) -> None:
    words = ["ls", "--trials", "--json", "--factor", "technology=direct", "--factor", "measure.repeats=5"]
    trials = json.loads(said(*words, store=store))
    with Store(store, reading=True) as database:
        (case,) = database.load(OTHER).setups[0].cases
    assert {(one["run"], one["technology"]) for one in trials} == {(OTHER, "direct")}
    assert sorted(one["load_pps"] for one in trials) == sorted(
        one.intended_load_pps for one in (*case.trials, *case.curve)
    )
    assert said(*words[:2], store=store).split()[:3] == [OTHER, "PVP", "direct"]


def test_nothing_that_fits_is_said_and_is_no_error(store: str) -> None:
    assert said("ls", "--lab", "none", store=store) == "no run fits these filters\n"
    assert said("ls", "--lab", "none", "--json", store=store) == "[]\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["ls", "--since", "yesterday"], "--since yesterday: expected a date such as 2026-11-01"),
        (["ls", "--factor", "direct"], "--factor direct: expected KEY=VALUE"),
        (["tag", "a b", OLD], "tag 'a b': expected letters"),
        (["tag", "fine"], "which runs? Name some, or give a filter"),
        (["rm"], "which runs? Name some, or give a filter"),
        (["rm", OLD], "nobody is there to ask; --yes removes without"),
        (["rm", "nosuch", "--yes"], "has no run 'nosuch'"),
        (["tag", "x", OLD, "--lab", "routed"], "has no such run; `weir ls` shows"),
        (["export", OLD], "expected either --output FILE or --parquet FOLDER"),
        (["show", "nosuch"], "has no run 'nosuch'"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(words: list[str], hint: str, store: str) -> None:
    assert hint in refusal(*words, store=store)
    assert listed(store=store) == [OTHER, NEW, OLD]


def test_times_are_of_utc_or_so_long_ago() -> None:
    now = datetime(2026, 1, 8, tzinfo=UTC)
    assert moment_s("2026-01-01", "--since") == moment_s("7d", "--since", now) == moment_s("1w", "", now)
    assert moment_s("2026-01-01T01:00:00+01:00", "--since") == moment_s("2026-01-01", "--since")
    with pytest.raises(CommandError):
        moment_s("999999w", "--since", now)


def test_a_run_is_shown_with_machine_tags_and_cases(store: str) -> None:
    shown = said("show", "switching-o", store=store)
    assert f"{OLD}: quick run of switching" in shown
    assert "alpha: 2 cores of" in shown
    assert "tags      baseline, v1" in shown
    assert "PVP linux-bridge 64: NDR 0." in shown
    assert "PVP sr-iov: refused: no network card" in shown
    found = json.loads(said("show", OLD, "--json", store=store))
    assert [case["technology"] for case in found["cases"]] == ["direct", "linux-bridge", "ovs-dpdk"]
    assert said("show", store=store).startswith(OTHER)


def test_tags_are_given_and_taken_away(store: str) -> None:
    assert said("tag", "nightly,v1", "latest", store=store) == "1 run has nightly, v1\n"
    said("tag", "nightly", "--lab", "switching", store=store)
    said("tag", "nightly", OLD, store=store)
    assert listed("--tag", "nightly", store=store) == [OTHER, NEW, OLD]
    assert "1 tag taken away" in said("tag", "--remove", "nightly", NEW, store=store)
    assert listed("--tag", "nightly", store=store) == [OTHER, OLD]


def test_a_removed_run_is_gone_with_all_its_parts(store: str) -> None:
    assert OLD in said("rm", "--lab", "switching", "--dry-run", store=store)
    assert "interrupted" in said("rm", NEW, "--dry-run", store=store)
    assert said("rm", "--lab", "switching", "--yes", store=store).endswith("2 runs removed\n")
    assert listed(store=store) == [OTHER]
    assert "1 run removed" in said("rm", OTHER, "-y", store=store)
    with Store(store, reading=True) as database, database.session() as session:
        for table in ("setup", "case", "trial", "trial_fact", "figure", "tag"):
            count = session.connection().exec_driver_sql(f"SELECT count(*) FROM weir_{table}").scalar()
            assert count == 0, table


def test_an_export_is_imported_as_it_was(store: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "runs.weir"), str(tmp_path / "other.db")
    assert said("export", "--lab", "switching", "-o", file, store=store) == f"wrote 2 runs to {file}\n"
    assert said("import", file, "--tag", "from-alpha", store=other) == "2 runs imported\n"
    with Store(store, reading=True) as ours, Store(other, reading=True) as theirs:
        for run in (OLD, NEW):
            assert theirs.load(run) == ours.load(run)
    assert listed("--tag", "from-alpha", "--tag", "baseline", store=other) == [OLD]
    assert said("import", file, store=other) == (
        f"{OLD} is there already\n{NEW} is there already\n0 runs imported\n"
    )
    again = str(tmp_path / "again.weir")
    said("export", "--lab", "switching", "-o", again, store=store)
    assert Path(again).read_bytes() == Path(file).read_bytes()


def test_a_result_file_is_imported_too(store: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "result.json"), str(tmp_path / "other.db")
    said("report", OLD, "-o", file, store=store)
    assert said("import", file, store=other) == "1 run imported\n"
    with Store(store, reading=True) as ours, Store(other, reading=True) as theirs:
        assert theirs.load(OLD) == ours.load(OLD)


HEADER = {"weir_export": 1, "runs": 1}


def packed(*lines: object) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@functools.cache
def fine() -> dict[str, object]:
    whole = made("fine", "2026-01-02T03:04:05Z", "switching", "alpha")
    whole.setups = []
    return whole.model_dump(mode="json")


def hostile(**changes: object) -> dict[str, object]:
    return {"tags": [], "result": fine() | changes}


def hostile_setup(change: Callable[[Any], object]) -> dict[str, object]:
    whole = made("fine", "2026-01-02T03:04:05Z", "switching", "alpha").model_dump(mode="json")
    change(whole["setups"][0])
    return {"tags": [], "result": whole}


def trial_seconds_as_text(setup: Any) -> None:
    setup["cases"][0]["trials"][0]["duration_s"] = "nan"


def port_of_another_name(setup: Any) -> None:
    setup["topology"]["ports"][0]["name"] = "x"


def port_of_no_node(setup: Any) -> None:
    setup["topology"]["ports"][0]["node"] = "nobody"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (
            lambda: packed(HEADER, hostile_setup(trial_seconds_as_text)),
            "duration_s: Input should be a valid number",
        ),
        (lambda: packed(HEADER, hostile_setup(port_of_another_name)), "ends at .*, which is no port"),
        (lambda: packed(HEADER, hostile_setup(port_of_no_node)), "is of nobody, which is no node"),
        (lambda: b"", "it is no JSON from line 1, column 1 on"),
        (lambda: b"{}", "Field required"),
        (lambda: b"[" * 100_000, "nested too deeply"),
        (lambda: b'{"a":' * 100_000, "nested too deeply"),
        (packed, "no result of Weir"),
        (lambda: packed([]), "no export of Weir"),
        (lambda: packed({"weir_export": 2, "runs": 1}), "a newer Weir wrote it"),
        (lambda: packed(HEADER), "has 0 of 1 runs: it was cut off"),
        (lambda: packed(HEADER, hostile(), hostile()), "has 2 of 1 runs"),
        (lambda: packed(HEADER, hostile())[:-200], "it was cut off"),
        (lambda: packed(HEADER, hostile()) + b"more", "something follows its end"),
        (lambda: packed(HEADER, hostile(id="../../../etc/cron.d/x")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(lab="a/b")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(id="x\x1b[2J")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(started_at="<script>")), "expected a time in RFC 3339"),
        (
            lambda: packed(HEADER, hostile(started_at="0001-01-01T00:00:00+23:59")),
            "expected a time in RFC 3339",
        ),
        (lambda: packed(HEADER, hostile(finished_at="9999-12-31T23:59:59-23:59")), "finished_at '9999"),
        (lambda: packed(HEADER, hostile(finished_at="banana")), "finished_at 'banana': expected a time"),
        (lambda: packed(HEADER, hostile(version=99)), "a newer Weir wrote it"),
        (lambda: packed(HEADER, hostile(setups=3)), "no result of Weir"),
        (lambda: packed(HEADER, hostile(duration_s=float("nan"))), "NaN is no number of a result"),
        (lambda: json.dumps(fine() | {"duration_s": float("-inf")}).encode(), "-Infinity is no number of"),
        (lambda: json.dumps(fine()).encode()[:-1] + b', "more": 1e999}', "1e999 is no number of"),
        (lambda: packed(HEADER, hostile(version=1, setups=[{"topology": 7}])), "no result of Weir"),
        (lambda: packed(HEADER, {"tags": [], "result": None}), "no result of Weir"),
        (lambda: packed(HEADER, {"tags": "baseline", "result": {}}), "expected tags and a result"),
        (lambda: packed(HEADER, hostile() | {"tags": ["a b"]}), "tag 'a b'"),
        (lambda: gzip.compress(b"[" * 200_000 + b"\n"), "nested too deeply"),
        (lambda: b"\x1f\x8b" + b"\x00" * 100, "damaged"),
    ],
)
def test_a_file_that_is_no_export_is_refused_and_nothing_is_stored(
    content: Callable[[], bytes], hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "runs.weir"
    file.write_bytes(content())
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(StoreError, match=hint) as refused:
            read_import(store, file)
        assert refused.value.exit_code == exits.USAGE
    assert listed(store=str(tmp_path / "results.db")) == []


def test_a_file_that_is_damaged_behind_good_runs_is_refused_whole(tmp_path: Path) -> None:
    file = tmp_path / "runs.weir"
    file.write_bytes(packed({"weir_export": 1, "runs": 2}, hostile(), hostile(id="b", seed="no")))
    with Store(tmp_path / "results.db") as store, pytest.raises(ImportFileError, match="run 2: no result"):
        read_import(store, file)
    assert listed(store=str(tmp_path / "results.db")) == []


def test_what_was_made_to_grow_is_refused_before_it_has(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.weir"
    bomb.write_bytes(gzip.compress(json.dumps(HEADER).encode() + b"\n" + b" " * (40 << 20)))
    assert bomb.stat().st_size < 1 << 20
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(ImportFileError, match="no export of Weir grows so far"):
            read_import(store, bomb)
        large = tmp_path / "large.weir"
        large.write_bytes(packed(HEADER, hostile(title="x" * (2 << 20))))
        with pytest.raises(ImportFileError, match=r"more than 1 MiB as JSON; .* --max-mib"):
            read_import(store, large, run_bytes_max=1 << 20)
        plain = tmp_path / "result.json"
        plain.write_bytes(b" " * (2 << 20))
        with pytest.raises(ImportFileError, match="more than 1 MiB as JSON"):
            read_import(store, plain, run_bytes_max=1 << 20)
        assert read_import(store, large).added == ["fine"]


def test_a_file_that_is_not_there_is_said(store: str) -> None:
    assert "/nonexistent: No such file or directory; expected a file of `weir export`" in refusal(
        "import", "/nonexistent", store=store
    )


def test_commands_that_need_a_run_make_no_store(tmp_path: Path) -> None:
    place = tmp_path / "results.db"
    for words in (
        ["rm", "nope", "--yes"],
        ["tag", "v1", "nope"],
        ["show", "nope"],
        ["export", "nope", "-o", "x"],
    ):
        assert "there is no store at" in refusal(*words, store=str(place))
    assert not place.exists()
    Store(place).close()
    assert "has no run 'nope', nor any other yet; `weir run LAB` makes one" in refusal(
        "show", "nope", store=str(place)
    )


def test_a_run_that_may_be_measured_elsewhere_is_removed_only_where_that_is_asked_for(store: str) -> None:
    with Store(store) as database, database.session(writing=True) as session:
        row = database.run_of(session, OLD)
        row.finished_s, row.interrupted, row.writer = None, False, None
    complaint = runner.invoke(app, ["rm", OLD, "--yes", "--store", store])
    assert complaint.exit_code == exits.FAILED
    assert (
        "stays: it is not finished, and may be measured elsewhere; --unfinished removes it"
        in complaint.stdout
    )
    assert complaint.stderr.endswith("nothing was removed: end what measures first, or say --unfinished\n")
    file = Path(store).with_name("runs.weir")
    assert said("export", OLD, "-o", str(file), store=store).endswith(
        "1 run of that not finished: what is stored of it up to now was written\n"
    )
    assert said("rm", OLD, "--yes", "--unfinished", store=store).endswith("1 run removed\n")
