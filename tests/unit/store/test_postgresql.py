# SPDX-License-Identifier: Apache-2.0
"""The same store in a PostgreSQL server: what is promised of a file holds there, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.private_postgresql import server
from tests.unit.store.made import case, listed, run, setup, trial
from weir.results.result import Result
from weir.store import database, listing
from weir.store.connection import NoStoreError, StoreError
from weir.store.exchange import Imported, read_import, write_export
from weir.store.selection import Selection
from weir.store.store import Store
from weir.store.tables import SCHEMA_VERSION

VERSION_1 = Path(__file__).parent / "store-version-1.sql"
RUN = Path(__file__).parents[1] / "results" / "result-version-1.json"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server() as where:
        yield where


@pytest.fixture
def place(url: str) -> str:
    """Without any table."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url


@pytest.mark.long
def test_a_run_is_loaded_listed_and_filtered_as_from_a_file(place: str) -> None:
    with Store(place) as store:
        store.begin(run())
        number = store.add_setup("switching-1", setup())
        store.add_trial(number, "64", 64.0, trial(1))
        store.add_case(number, case("64"))
        store.add_case(number, case("512"))
        store.begin(run("other-1", "other"))
    with Store(place, reading=True) as store:
        assert store.load("switching").setups == [
            setup().model_copy(update={"cases": [case("64"), case("512")]})
        ]
        assert listed(store) == ["switching-1", "other-1"]
        wanted = Selection(factors={"technology": "direct", "frame": "512"})
        assert [(one.id, one.cases, one.trials) for one in listing.runs(store, wanted)] == [
            ("switching-1", 2, 6)
        ]
        assert [one.load_pps for one in listing.trials(store, wanted)] == [1e6, 1, 2]


def test_reading_changes_nothing_and_says_that_nothing_is_there(place: str) -> None:
    with pytest.raises(NoStoreError, match="has no tables of a store"):
        Store(place, reading=True)
    Store(place).close()
    with Store(place, reading=True) as store, pytest.raises(StoreError, match="read-only transaction"):
        store.begin(run())


def test_what_was_stored_survives_kill_9(place: str) -> None:
    program = (
        "import time\n"
        "from tests.unit.store.made import run, setup, trial\n"
        "from weir.store.store import Store\n"
        f"store = Store({place!r})\n"
        "store.begin(run())\n"
        "number = store.add_setup('switching-1', setup())\n"
        "store.add_trial(number, '64', 64.0, trial(7))\n"
        "with store.session(writing=True) as session:\n"
        "    store.run_of(session, 'switching-1').document = 'half'\n"
        "    session.flush()\n"
        "    print('stored', flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        os.kill(process.pid, signal.SIGKILL)
    with Store(place) as store:
        assert store.load("switching-1").setups[0].cases[0].trials == [trial(7)]


def test_two_that_begin_and_write_at_once_both_have_all(place: str) -> None:
    def write(name: str) -> None:
        with Store(place) as store:
            store.begin(run(name))
            number = store.add_setup(name, setup())
            for load in range(20):
                store.add_trial(number, "64", 64.0, trial(load))

    both = [threading.Thread(target=write, args=(f"run-{number}",)) for number in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    with Store(place, reading=True) as store:
        assert sorted((one.id, one.trials) for one in listing.runs(store)) == [("run-0", 20), ("run-1", 20)]


def test_two_imports_of_one_file_at_once_both_find_it_there(place: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.weir"
    with Store(tmp_path / "file.db") as store:
        names = [f"run-{number}" for number in range(20)]
        for name in names:
            store.begin(run(name))
        write_export(store, names, [[] for _ in names], file)
    together = threading.Barrier(2)
    done: list[Imported] = []

    def read() -> None:
        with Store(place) as store:
            together.wait()
            done.append(read_import(store, file))

    both = [threading.Thread(target=read) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert sorted(name for each in done for name in each.added) == sorted(names)
    assert sorted(name for each in done for name in each.there) == sorted(names)


def test_an_older_store_is_brought_up_to_date_or_a_newer_one_refused(place: str) -> None:
    engine = create_engine(place)
    with engine.begin() as connection:
        for statement in _in_order(VERSION_1.read_text()):
            connection.exec_driver_sql(statement.replace("%", "%%"))
    with Store(place, reading=True) as store:
        wanted = Result.read(RUN.read_text())
        assert store.load(wanted.id) == wanted
        assert [one.trials for one in listing.runs(store)] == [6]
    with engine.begin() as connection:
        connection.execute(text("UPDATE weir_schema SET version = 9"))
    engine.dispose()
    with pytest.raises(StoreError, match=f"newer Weir .schema 9; this one reads up to {SCHEMA_VERSION}"):
        Store(place)


def _in_order(dump: str) -> list[str]:
    """Of SQLite's dump: tables before what refers to them, rows likewise; truth values as here."""
    order = ("weir_schema", "weir_run", "weir_setup", "weir_case", "weir_trial", "weir_interval")
    found = [one.strip() for one in dump.split(";\n")]
    made = [one for table in order for one in found if one.startswith(f"CREATE TABLE {table} ")]
    rows = [one for table in order for one in found if one.startswith(f'INSERT INTO "{table}"')]
    return (
        [one.replace("BOOLEAN", "INTEGER") for one in made]
        + rows
        + [
            f"ALTER TABLE {table} ALTER {column} TYPE BOOLEAN USING {column} = 1"
            for table, column in (("weir_case", "finished"), ("weir_trial", "in_curve"))
        ]
    )


def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match="is the server there") as refused:
        Store("postgresql+psycopg://weir:secret@/results?host=/nowhere")
    assert "secret" not in str(refused.value)


def test_a_server_that_is_away_for_a_moment_is_waited_for_and_that_is_said_once(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Path(place.rpartition("=")[2])
    there, away = home / ".s.PGSQL.5432", home / "away"
    with Store(place) as store:
        store.begin(run("away-1"))
        number = store.add_setup("away-1", setup())
        with Store(place) as other, other.session() as session:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            session.execute(text(ended))
        there.rename(away)
        threading.Timer(1.0, lambda: away.rename(there)).start()
        store.add_trial(number, "64", 64.0, trial(1))
        assert store.load("away-1").setups[0].cases[0].trials
    assert capsys.readouterr().err == f"weir: {store.name}: away; waiting up to 20 s for it\n"


def test_a_server_that_ends_in_the_middle_of_a_run_ends_it_with_that_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "AWAY_S", 0.5)
    with server() as where:
        pid = int((Path(where.rpartition("=")[2]) / "data" / "postmaster.pid").read_text().split()[0])
        with Store(where) as store:
            store.begin(run())
            number = store.add_setup("switching-1", setup())
            store.add_trial(number, "64", 64.0, trial(1))
            os.kill(pid, signal.SIGQUIT)  # "immediate"
            with pytest.raises(StoreError, match=r"(?i)server|connection"):
                store.add_trial(number, "64", 64.0, trial(2))
