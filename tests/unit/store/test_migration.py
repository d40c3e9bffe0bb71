# SPDX-License-Identifier: Apache-2.0
"""Stores of older Weirs are brought up to date, all or nothing."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

import weir.store.rebuild
from tests.weir_command import WEIR
from weir.results.result import Result
from weir.store import database, listing
from weir.store.connection import StoreError
from weir.store.store import Store
from weir.store.tables import SCHEMA_VERSION, Base
from weir.web.reading import Reading

VERSION_1 = Path(__file__).parent / "store-version-1.sql"
"""As the last Weir of that version left it, with the run of result-version-1.json."""
RUN = Path(__file__).parents[1] / "results" / "result-version-1.json"


def older(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.executescript(VERSION_1.read_text())
    connection.close()
    return path


def version_of(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        found: int = connection.execute("SELECT version FROM weir_schema").fetchone()[0]
    connection.close()
    return found


def test_an_older_store_is_brought_up_to_date_when_it_is_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = older(tmp_path / "100% mine.db")
    wanted = Result.read(RUN.read_text())
    with Store(path) as store:
        assert store.load(wanted.id) == wanted
        (run,) = listing.runs(store)
        assert (run.id, run.lab, run.cases, run.trials) == (wanted.id, wanted.lab, 2, 6)
        assert {one.purpose for one in listing.trials(store)} == {"search", "curve"}
    assert version_of(path) == SCHEMA_VERSION
    assert capsys.readouterr().err == f"weir: {path}: is being brought up to date for this Weir, once\n"
    with Store(path):
        assert capsys.readouterr().err == ""


def test_a_migrated_store_has_the_tables_of_a_new_one(tmp_path: Path) -> None:
    path = older(tmp_path / "results.db")
    Store(path).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "version_table": "weir_revision"}
        )
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_the_newest_revision_is_the_version_of_the_tables() -> None:
    scripts = ScriptDirectory(str(Path(database.__file__).parent / "migrations"))
    assert scripts.get_heads() == [str(SCHEMA_VERSION)]


def test_reading_brings_a_store_up_to_date_that_the_reader_may_write(tmp_path: Path) -> None:
    path = older(tmp_path / "results.db")
    with Store(path, reading=True) as store:
        assert len(listing.runs(store)) == 1
    assert version_of(path) == SCHEMA_VERSION
    assert list(tmp_path.iterdir()) == [path]


def test_who_only_shows_an_older_store_leaves_it_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = older(tmp_path / "results.db")
    before = path.read_bytes()
    reading = Reading(str(path))
    with reading.store() as store:
        assert len(listing.runs(store)) == 1
    reading.close()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    assert capsys.readouterr().err.endswith("for this Weir, in memory: the file stays as it is\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system: run as root")
def test_an_older_store_on_a_full_disk_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    script = f"""
mount -t tmpfs -o size=1m tmpfs {place}
cp {older(tmp_path / "results.db")} {place}
head -c 2M /dev/zero > {place}/rest 2>/dev/null
sha256sum {place}/results.db > {tmp_path}/before
{shlex.join(WEIR)} ls --store {place}/results.db
sha256sum --quiet -c {tmp_path}/before
"""
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-uc", script]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1), done.stderr
    assert "in memory: the file stays as it is" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_who_may_only_read_an_older_store_reads_it_and_leaves_it_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        path = older(Path(folder) / "results.db")
        before = path.read_bytes()
        os.seteuid(65534)
        try:
            with Store(path, reading=True) as store:
                (run,) = listing.runs(store)
                assert store.load(run.id) == Result.read(RUN.read_text())
                with pytest.raises(StoreError, match="readonly"):
                    store.begin(Result.read(RUN.read_text()).model_copy(update={"id": "other"}))
            monkeypatch.setattr(database, "COPIED_BYTES_MAX", 1)
            with pytest.raises(StoreError, match="let its owner do it"):
                Store(path, reading=True)
        finally:
            os.seteuid(0)
        assert path.read_bytes() == before
        assert list(Path(folder).iterdir()) == [path]


def test_a_migration_that_fails_leaves_the_older_store_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = older(tmp_path / "results.db")

    def full(_connection: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weir.store.rebuild, "rebuild", full)
    with pytest.raises(OSError, match="No space left"):
        Store(path)
    monkeypatch.undo()
    assert version_of(path) == 1
    with Store(path) as store:
        assert store.load(Result.read(RUN.read_text()).id).lab


def test_a_document_that_cannot_be_read_stays_where_it_is(tmp_path: Path) -> None:
    path = older(tmp_path / "results.db")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE weir_trial SET document = 'no'")
        connection.execute("UPDATE weir_case SET document = '{}' WHERE number = 1")
    connection.close()
    with Store(path) as store:
        assert [run.trials for run in listing.runs(store)] == [0]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT DISTINCT document FROM weir_trial").fetchall() == [("no",)]
    connection.close()
