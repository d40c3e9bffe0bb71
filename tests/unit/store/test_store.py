# SPDX-License-Identifier: Apache-2.0
"""Results survive, whatever ends the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateTable

from weir.store import listing
from weir.store.connection import StoreError, default_location
from weir.store.store import Store
from weir.store.tables import SCHEMA_VERSION, Base

from .made import case, listed, run, setup, trial


def test_a_run_is_loaded_as_it_was_stored(path: Path) -> None:
    result = run()
    with Store(path) as store:
        store.begin(result)
        number = store.add_setup(result.id, setup())
        store.add_case(number, case("64"))
        store.add_case(number, case("512"))
        store.update(result.model_copy(update={"finished_at": "2026-11-21T06:05:00Z", "seconds": 300.0}))
    with Store(path) as store:
        loaded = store.load("switching-1")
    assert loaded.seconds == 300
    assert loaded.setups == [setup().model_copy(update={"cases": [case("64"), case("512")]})]


def test_trials_of_an_unfinished_case_are_there_and_say_so(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_trial(number, "64", 64.0, trial(1))
        store.add_trial(number, "64", 64.0, trial(2))
        unfinished = store.load("switching-1").setups[0].cases[0]
        assert [one.intended_load_pps for one in unfinished.trials] == [1, 2]
        assert unfinished.problem == "The run ended before this case was finished."
        store.add_case(number, case("64"))
        assert store.load("switching-1").setups[0].cases == [case("64")]


def test_a_case_whose_next_round_is_measured_is_one_case_as_the_rounds_before_found_it(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_case(number, case("64"))
        store.add_trial(number, "64", 64.0, trial(1))
        assert store.load("switching-1").setups[0].cases == [case("64")]
        assert [one.cases for one in listing.runs(store)] == [1]
        store.add_trial(number, "512", 512.0, trial(2))
        assert [one.frame for one in store.load("switching-1").setups[0].cases] == ["64", "512"]
        assert [one.cases for one in listing.runs(store)] == [2]


def test_what_was_stored_survives_kill_9(path: Path) -> None:
    program = (
        "import sys, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from made import Store, run, setup, trial\n"
        f"store = Store({str(path)!r})\n"
        "store.begin(run())\n"
        "number = store.add_setup('switching-1', setup())\n"
        "store.add_trial(number, '64', 64.0, trial(7))\n"
        "print('stored', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        os.kill(process.pid, signal.SIGKILL)
    with Store(path) as store:
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(7)]


@pytest.mark.long
def test_weirs_that_begin_at_once_make_one_store(path: Path) -> None:
    stores = [path.with_name(f"{number}.db") for number in range(20)]
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        for each in stores:
            assert pool.map(opened, [each] * 6, chunksize=1) == [str(each)] * 6


def opened(path: Path) -> str:
    with Store(path) as store:
        return store.name


def test_the_latest_run_is_found_and_all_are_listed(path: Path) -> None:
    with Store(path) as store:
        assert store.latest() is None
        for one in (run("a-1", "a"), run("b-1", "b"), run("a-2", "a")):
            store.begin(one)
        assert store.latest() == run("a-2", "a")
        assert listed(store) == ["a-1", "b-1", "a-2"]


def test_a_run_is_found_by_the_beginning_of_its_id_if_only_one_has_it(path: Path) -> None:
    with Store(path) as store:
        store.begin(run("switching-1a"))
        store.begin(run("switching-1b"))
        assert store.load("switching-1b").id == "switching-1b"
        with pytest.raises(StoreError, match="2 runs begin with 'switching'"):
            store.load("switching")
        with pytest.raises(StoreError, match="no run 'other'; expected one of switching-1b, switching-1a"):
            store.load("other")
        with pytest.raises(StoreError, match="no run was named; expected its id, or how that begins"):
            store.load("")


def test_an_id_is_used_once(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        with pytest.raises(StoreError, match="has a run switching-1 already"):
            store.begin(run())


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    path.write_text("these are notes, not a database\n" * 100)
    with pytest.raises(StoreError, match="move it away"):
        Store(path)
    assert path.read_text().startswith("these are notes")


def test_a_damaged_database_is_refused(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"results\.db"), Store(path) as store:
        store.load("switching-1")


def test_a_database_whose_tables_have_damaged_names_is_refused_too(path: Path) -> None:
    Store(path).close()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE weir_run", b"CREATE \xd6ABLE weir_run", 1))
    with pytest.raises(StoreError, match="the file is damaged or no Weir store"):
        Store(path)


def test_a_database_of_a_newer_weir_is_refused(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE weir_schema SET version = 9")
    connection.close()
    with pytest.raises(StoreError, match=f"schema 9; this one reads up to {SCHEMA_VERSION}"):
        Store(path)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another place with --store"):
        Store(tmp_path / "file" / "results.db")


def test_an_unknown_kind_of_database_is_refused() -> None:
    for scheme in ("nosuch", "mysql"):
        with pytest.raises(StoreError, match="a file or in PostgreSQL; expected a path, or a database URL"):
            Store(f"{scheme}://host/database")


def test_the_tables_can_be_made_in_postgresql() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    for table in Base.metadata.sorted_tables:
        assert "CREATE TABLE weir_" in str(CreateTable(table).compile(dialect=dialect))


def test_the_default_place_is_the_user_s_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEIR_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_location() == "/data/weir/results.db"
    monkeypatch.setenv("WEIR_STORE", "/elsewhere.db")
    assert default_location() == "/elsewhere.db"


def test_a_full_disk_is_a_clear_error_and_leaves_the_store_sound(path: Path) -> None:
    with Store(path) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_trial(number, "64", 64.0, trial(1))
        with store.session() as session:  # of the pool's one connection: SQLite says it as it does of a disk
            pages = session.connection().exec_driver_sql("PRAGMA page_count").scalar()
            session.connection().exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            session.commit()
        big = trial(2).model_copy(update={"invalid_because": ["x" * 100_000]})
        with pytest.raises(StoreError, match="full; make room on the disk"):
            store.add_trial(number, "64", 64.0, big)
        with pytest.raises(StoreError, match="full; make room on the disk"):
            store.add_case(number, case("64").model_copy(update={"trials": [trial(1), big]}))
    with Store(path) as store:
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(1)]
        store.add_trial(number, "64", 64.0, big)
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(1), big]
        with store.session() as session:
            assert session.connection().exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_two_that_write_at_once_both_have_all(path: Path) -> None:
    def write(name: str) -> None:
        with Store(path) as store:
            store.begin(run(name))
            number = store.add_setup(name, setup())
            for load in range(20):
                store.add_trial(number, "64", 64.0, trial(load))

    both = [threading.Thread(target=write, args=(f"run-{number}",)) for number in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    with Store(path, reading=True) as store:
        assert sorted((one.id, one.trials) for one in listing.runs(store)) == [("run-0", 20), ("run-1", 20)]
