# SPDX-License-Identifier: Apache-2.0
"""Who only reads a store: it is left as it was, and says why it cannot be read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from weir.store import listing
from weir.store.database import NoStoreError, StoreError
from weir.store.store import Store

from .made import listed, run


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
