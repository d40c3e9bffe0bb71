# SPDX-License-Identifier: Apache-2.0
"""`weir ls`, `show`, `tag`, `rm`, `export` and `import`: what is stored, and where it goes."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.unit.procedures.soak.looks import run as soak_run
from weir.cli import exits
from weir.cli.exits import CommandError
from weir.cli.main import app
from weir.cli.selecting import moment_s
from weir.results.campaign import CampaignRecord, LeftOutRounds
from weir.results.result import Case
from weir.store.rows import add_run
from weir.store.store import Store

from .stored import listed, made, refusal, runner, said

OLD, NEW, OTHER = "switching-old", "switching-new", "routed-1"


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


def test_the_list_has_a_line_for_each_run_newest_first(store: str) -> None:
    first, second, third = said("ls", store=store).splitlines()
    assert first.split()[:5] == [OTHER, "routed", "2026-03-02T03:04:05Z", "beta", "quick"]
    assert second.split()[2] == "2026-02-02T02:04:05Z"
    assert second.split()[-2:] == ["v1", "interrupted"]
    assert "baseline,v1" in third


def test_a_case_that_still_grows_is_said_to(tmp_path: Path) -> None:
    location = str(tmp_path / "growing.db")
    growing = made("growing-1", "2026-04-02T03:04:05Z", "switching", "beta", finished_at=None)
    (case, *_) = [one for _, one in growing.cases()]
    setup = growing.setups[0].model_copy(update={"cases": []})
    growing.setups = []
    with Store(location) as database:
        database.begin(growing)
        number = database.add_setup(growing.id, setup)
        database.add_trial(number, "64", 64, case.trials[0])
    assert said("show", growing.id, store=location).splitlines()[-1].endswith("; still measured")


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
    shown = said("show", "soak-1", store=store).splitlines()
    assert shown[0].startswith("soak-1: soak run of switching")
    assert shown[-1].endswith(" 64: 3 intervals")


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
    assert first.endswith("4 points left out")
    assert second.endswith("trials")
    runs = json.loads(said("ls", "--json", "--limit", "3", store=store))
    assert [one["left_out_points"] for one in runs] == [0, 4, 0]
    assert "4 points left out" in said("show", "budget-1", store=store)


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
    done = runner.invoke(app, ["ls", "--lab", "none", "--store", store])
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no run fits these filters\n")
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
    report = said("report", OLD, "--format", "markdown", store=store)
    assert all(rate.split()[0] in report for case in found["cases"] for rate in case["rates"].values())
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
        f"{OLD} is there already\n{NEW} is there already\n0 runs imported, 2 there already\n"
    )
    again = str(tmp_path / "again.weir")
    said("export", "--lab", "switching", "-o", again, store=store)
    assert Path(again).read_bytes() == Path(file).read_bytes()


def test_who_imports_the_whole_of_a_run_that_was_imported_unfinished_is_told_how(tmp_path: Path) -> None:
    whole = made("once-1", "2026-04-02T03:04:05Z", "switching", "beta")
    parts = [whole.model_copy(update={"interrupted": True}), whole.model_copy(update={"finished_at": None})]
    for number, part in enumerate(parts):
        other, file = str(tmp_path / f"other-{number}.db"), tmp_path / "result.json"
        file.write_text(part.model_dump_json())
        assert said("import", str(file), store=other) == "1 run imported\n"
        file.write_text(whole.model_dump_json())
        done = runner.invoke(app, ["import", str(file), "--store", other])
        assert done.exit_code == exits.FAILED
        assert "once-1: not finished in the store, which keeps its own, and whole in" in done.stderr
        assert "`weir rm once-1`, then import again" in done.stderr


def test_a_result_file_is_imported_too(store: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "result.json"), str(tmp_path / "other.db")
    said("report", OLD, "-o", file, store=store)
    assert said("import", file, store=other) == "1 run imported\n"
    with Store(store, reading=True) as ours, Store(other, reading=True) as theirs:
        assert theirs.load(OLD) == ours.load(OLD)


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
