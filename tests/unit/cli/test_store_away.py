# SPDX-License-Identifier: Apache-2.0
"""A store that goes away in the middle of a run is told with what goes on with that, if anything does."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import create_engine, text

from weir.cli.stored import going_on_after
from weir.store.connection import StoreError, StoreFullError, explained


def said(place: str, run: str | None, why: StoreError | None = None) -> str:
    with pytest.raises(StoreError) as raised, going_on_after(place, "weir soak --resume", lambda: run):
        raise why or StoreError("the connection was lost")
    return str(raised.value)


def test_a_run_that_is_in_the_store_can_be_gone_on_with_by_its_id() -> None:
    assert said("postgresql://there", "s-1") == (
        "the connection was lost; when it is there again, `weir soak --resume s-1` with the same --store"
        " goes on"
    )


def test_one_that_never_got_there_cannot_and_a_file_does_not_come_back() -> None:
    assert said("postgresql://there", None) == "the connection was lost"
    assert said("results.db", "s-1") == "the connection was lost"


def test_one_whose_disk_is_full_goes_on_when_there_is_room() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA max_page_count=1")
    engine = create_engine("sqlite://", creator=lambda: connection)
    with pytest.raises(StoreFullError) as full, explained("results.db"), engine.begin() as full_of:
        full_of.execute(text("CREATE TABLE t AS SELECT hex(zeroblob(100000))"))
    connection.close()
    assert said("results.db", "s-1", full.value) == (
        "results.db: database or disk is full; make room on the disk, by other files than this one: removing"
        " runs takes some, too; then `weir soak --resume s-1` with the same --store goes on"
    )
    assert said("results.db", None, full.value) == str(full.value)
