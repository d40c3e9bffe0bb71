# SPDX-License-Identifier: Apache-2.0
"""Runs that are removed while others choose, measure or read: nobody else's run is touched."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from weir.results.result import Setup
from weir.store import editing, listing
from weir.store.connection import StoreError
from weir.store.open_case import OpenCaseStore
from weir.store.rows import run_row
from weir.store.store import Store
from weir.store.writer import Writer

from .made import case, listed, run, setup, trial


@pytest.fixture
def store(path: Path) -> Store:
    made = Store(path)
    made.begin(run("first").model_copy(update={"finished_at": "2026-11-21T06:05:00Z"}))
    return made


def begun(store: Store, run_id: str) -> int:
    """A finished run with one finished case; the number of its setup."""
    store.begin(run(run_id).model_copy(update={"finished_at": "2026-11-21T06:05:00Z"}))
    number = store.add_setup(run_id, setup())
    store.add_case(number, case("64"))
    return number


def test_a_run_that_was_removed_before_is_said_and_its_successor_stays(store: Store) -> None:
    """It gets the number of the row that was removed."""
    begun(store, "second")
    chosen = [one.id for one in listing.runs(store) if one.id == "second"]
    editing.remove(store, ["second"])
    begun(store, "third")
    done = editing.remove(store, chosen)
    assert (done.removed, done.gone_before) == ([], ["second"])
    assert listed(store) == ["first", "third"]


def test_tags_are_given_to_no_successor(store: Store) -> None:
    begun(store, "second")
    editing.remove(store, ["second"])
    begun(store, "third")
    assert editing.tag(store, ["first", "second"], ["kept"]) == 1
    assert {one.id: one.tags for one in listing.runs(store)} == {
        "first": ("kept",),
        "third": (),
    }
    assert editing.untag(store, ["second", "third"], ["kept"]) == 0


def test_a_run_that_somebody_goes_on_with_stays(store: Store) -> None:
    begun(store, "second")
    with store.session(writing=True) as session:
        row = store.run_of(session, "second")
        row.finished_s, row.writer = None, Writer.here().text()
    done = editing.remove(store, ["second", "first"])
    assert (done.measured, done.removed) == (["second"], ["first"])


WRITES: dict[str, Callable[[OpenCaseStore, int], object]] = {
    "update_setup": lambda store, number: store.update_setup(number, setup()),
    "add_trial": lambda store, number: store.add_trial(number, "64", 64.0, trial(7)),
    "add_case": lambda store, number: store.add_case(number, case("64")),
    "add_interval": lambda store, number: store.add_interval(number, case("64")),
    "remove_case": lambda store, number: store.remove_case(number, "64"),
    "update": lambda store, _: store.update(run("measured")),
    "add_setup": lambda store, _: store.add_setup("measured", Setup(technology="x", chain="y", datapath="z")),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("successor", [False, True])
def test_who_measures_a_run_that_was_removed_is_told_and_writes_to_no_other(
    store: Store, path: Path, how: str, successor: bool
) -> None:
    with OpenCaseStore(path) as measuring:
        measuring.begin(run("measured"))
        number = measuring.add_setup("measured", setup())
        with store.session(writing=True) as session:
            session.delete(store.run_of(session, "measured"))
        if successor:
            assert begun(store, "imported") == number
        before = store.load("imported") if successor else None
        with pytest.raises(StoreError, match="run measured was removed while it was measured") as refused:
            WRITES[how](measuring, number)
    assert refused.value.exit_code == StoreError.exit_code
    assert (store.load("imported") if successor else None) == before


@pytest.mark.parametrize("successor", [False, True])
def test_who_measures_into_a_file_that_was_removed_is_told(path: Path, successor: bool) -> None:
    """SQLite goes on writing to a file that has no name any more, and says nothing."""
    with Store(path) as measuring:
        measuring.begin(run("measured"))
        number = measuring.add_setup("measured", setup())
        path.rename(path.with_name("moved.db"))
        if successor:
            Store(path).begin(run("other"))
        with pytest.raises(StoreError, match="its file was removed, or another put in its place"):
            measuring.add_case(number, case("64"))
    assert path.exists() == successor
    assert not successor or listed(Store(path, reading=True)) == ["other"]


REMOVES = (
    "import sys\n"
    "from weir.store import editing\n"
    "from weir.store.store import Store\n"
    "with Store(sys.argv[1]) as store:\n"
    "    print('ready', flush=True)\n"
    "    sys.stdin.readline()\n"
    "    done = editing.remove(store, ['second'])\n"
    "    print(done.removed, done.gone_before)\n"
)


def test_who_waits_for_another_writer_looks_only_then_which_run_it_is(store: Store, path: Path) -> None:
    """Its row's number may be another run's by then."""
    begun(store, "second")
    other = subprocess.Popen(
        [sys.executable, "-c", REMOVES, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    with store.session(writing=True) as session:
        other.stdin.write("go\n")
        other.stdin.flush()
        time.sleep(1.0)  # it is at its first statement, or waits for this one's end
        session.delete(store.run_of(session, "second"))
        session.flush()
        session.add(run_row(run("third"), Writer.here()))
    assert other.communicate()[0] == "[] ['second']\n"
    assert listed(store) == ["first", "third"]
