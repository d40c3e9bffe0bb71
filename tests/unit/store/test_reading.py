# SPDX-License-Identifier: Apache-2.0
"""Who only reads a store: it is left as it was, and says why it cannot be read."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from weir.store import connection, editing, history, listing
from weir.store.connection import NoStoreError, StoreError
from weir.store.database import Database
from weir.store.store import Store

from .made import listed, run, setup, trial


def test_reading_finds_no_store_and_makes_none(tmp_path: Path) -> None:
    for place in (tmp_path / "results.db", tmp_path / "no" / "such" / "results.db"):
        with pytest.raises(
            NoStoreError, match=r"there is no store at .*; `weir run LAB` makes one"
        ) as refused:
            Store(place, reading=True)
        assert refused.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_our_tables_is_no_store_to_read(tmp_path: Path) -> None:
    (tmp_path / "results.db").write_bytes(b"")
    with pytest.raises(NoStoreError, match="has no tables of a store"):
        Store(tmp_path / "results.db", reading=True)
    assert (tmp_path / "results.db").read_bytes() == b""


def test_reading_leaves_nothing_beside_the_store(tmp_path: Path) -> None:
    path = tmp_path / "a store?#%.db"
    with Store(path) as store:
        store.begin(run())
    with Store(path, reading=True) as store:
        assert listed(store) == ["switching-1"]
        with pytest.raises(StoreError, match="readonly"):
            store.begin(run("switching-2"))
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_now_is_read_now(path: Path) -> None:
    with Store(path) as store:
        store.begin(run("a-1", "a"))
        with Store(path, reading=True) as reader:
            store.begin(run("b-1", "b"))
            assert listed(reader) == ["a-1", "b-1"]


def grown(store: Store, *numbers: int) -> None:
    """By these runs with a trial each, all of it in the file itself, no longer in its log."""
    for number in numbers:
        ended = run(f"run-{number}").model_copy(update={"finished_at": "2026-11-21T06:05:00Z"})
        store.begin(ended)
        store.add_trial(store.add_setup(ended.id, setup()), "64", 64.0, trial(1))
    with store.session() as session:
        session.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))


def test_who_reads_for_long_reads_rightly_while_others_write(path: Path) -> None:
    with Store(path) as writer:
        grown(writer, *range(40))
    with Store(path, reading=True) as reader:
        for number in range(0, 40, 2):
            with Store(path) as writer:
                grown(writer, 100 + number)
                assert editing.remove(writer, [f"run-{number}"]).removed
            assert len(reader.load(f"run-{number + 1}").setups) == 1
            assert reader.load(f"run-{100 + number}").setups[0].cases[0].trials == [trial(1)]
        assert len(listed(reader)) == 40
    assert list(path.parent.iterdir()) == [path]


def test_who_may_not_lock_the_store_is_told_that_it_was_written_to_and_not_that_it_is_damaged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as writer:
        grown(writer, *range(40))
    monkeypatch.setattr(connection, "may_change", lambda _: False)
    with Store(path, reading=True) as reader:
        assert len(listed(reader)) == 40
        with Store(path) as writer:
            grown(writer, *range(40, 80))
        with pytest.raises(StoreError, match="somebody has written to it meanwhile: read it again"):
            listed(reader)
    with Store(path, reading=True) as reader:
        assert len(listed(reader)) == 80


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_no_store(made: Callable[[Path], None], tmp_path: Path) -> None:
    made(tmp_path / "results.db")
    with pytest.raises(StoreError, match="is no file; expected a store"):
        Store(tmp_path / "results.db", reading=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system: run as root")
def test_a_store_on_a_full_disk_can_be_read(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "from pathlib import Path\n"
        "from tests.unit.store.made import Store, listed, run\n"
        "place = Path(sys.argv[1])\n"
        "subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', place], check=True)\n"
        "with Store(place / 'results.db') as store: store.begin(run())\n"
        "try: (place / 'fill').write_bytes(bytes(1 << 20))\n"
        "except OSError: pass\n"
        "with Store(place / 'results.db', reading=True) as store: print(listed(store))\n"
    )
    alone = ["unshare", "--mount", "--propagation", "private"]
    done = subprocess.run(
        [*alone, sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("['switching-1']\n", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_a_user_who_may_only_read_can_read() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "results.db"
        with Store(path) as store:
            store.begin(run())
            assert listed_by_nobody(path) == ["switching-1"]
        assert listed_by_nobody(path) == ["switching-1"]
        assert list(Path(folder).iterdir()) == [path]


def listed_by_nobody(path: Path) -> list[str]:
    os.seteuid(65534)
    try:
        with Store(path, reading=True) as store:
            return listed(store)
    finally:
        os.seteuid(0)


def test_a_run_that_cannot_be_read_does_not_hide_the_others(path: Path) -> None:
    with Store(path) as store:
        for one in (run("a-1", "a"), run("b-1", "b"), run("c-1", "c")):
            store.begin(one)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE weir_run SET version = 99 WHERE id = 'b-1'")
        connection.execute("UPDATE weir_run SET document = 'no' WHERE id = 'c-1'")
    connection.close()
    with Store(path, reading=True) as store:
        damaged, newer, first = listing.runs(store)
        with pytest.raises(StoreError, match="run c-1 is not as this Weir writes it"):
            store.load("c-1")
    assert (first.id, first.unreadable) == ("a-1", None)
    assert (newer.id, newer.lab) == ("b-1", "b")
    assert newer.unreadable == "a newer Weir wrote it: version 99; this one reads up to 3"
    assert damaged.lab == "c"


def test_times_that_nobody_can_write_down_hide_no_run(path: Path) -> None:
    with Store(path) as store:
        for one in (run("a-1"), run("b-1")):
            store.begin(one)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE weir_run SET started_s = 253402387139.0, finished_s = 1e300 WHERE id = 'b-1'"
        )
    connection.close()
    with Store(path, reading=True) as store:
        assert set(listed(store)) == {"a-1", "b-1"}


def test_histories_change_with_a_run_that_takes_the_place_of_another(path: Path) -> None:
    """It has the number that the removed one had."""
    with Store(path) as store:
        grown(store, 1)
        before = history.state(store)
        editing.remove(store, ["run-1"])
        later = run("run-2").model_copy(
            update={"started_at": "2026-11-21T05:00:00Z", "finished_at": "2026-11-21T06:05:00Z"}
        )
        store.begin(later)
        assert history.state(store)[:3] == before[:3]
        assert history.state(store) != before


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
@pytest.mark.parametrize(("reading", "what"), [(True, "read"), (False, "written to")])
def test_a_store_of_another_user_says_whose_it_is_and_what_to_do(reading: bool, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        Store(path).close()
        path.chmod(0o600)
        Path(folder).chmod(0o755)
        os.seteuid(65534)
        try:
            with pytest.raises(StoreError) as caught:
                Store(path, reading=reading)
        finally:
            os.seteuid(0)
    said = str(caught.value)
    assert said.startswith(f"{path}: cannot be {what} by ")
    assert "it belongs to root (mode 600)" in said
    assert "sudo -u root" in said
    assert "--store or $WEIR_STORE" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user: run as root")
def test_a_store_in_a_closed_folder_says_so() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        Store(path).close()
        os.seteuid(65534)
        try:
            with pytest.raises(
                StoreError, match="a folder on the way to it is closed; run this as its owner"
            ):
                Store(path, reading=True)
        finally:
            os.seteuid(0)


def test_a_server_that_says_nothing_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 2)  # the least that libpq knows
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql+psycopg://weir@127.0.0.1:{silent.getsockname()[1]}/weir"
        with pytest.raises(StoreError, match="timeout"):
            Database(url, reading=True)
