# SPDX-License-Identifier: Apache-2.0
"""Tab offers the runs and labs of the store, newest first; of none that cannot be read, and quietly."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.unit.store.made import run
from weir.cli.main import app
from weir.store.rows import add_run
from weir.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "results.db"
    with Store(place) as store, store.session(writing=True) as session:
        for name, lab in (("tiny-1", "tiny"), ("tiny-2", "tiny"), ("vcpe-1", "vcpe")):
            add_run(session, run(name, lab), [])
    return place


def offered(words: str, store: Path | None = None) -> list[str]:
    environment = {
        "_WEIR_COMPLETE": "complete_bash",
        "COMP_WORDS": f"weir {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    if store is not None:
        environment["WEIR_STORE"] = str(store)
    done = CliRunner().invoke(app, env=environment, prog_name="weir")
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    return done.stdout.split()


@pytest.mark.parametrize("command", ["show", "report", "explain", "compare", "rm", "export"])
def test_runs_are_offered_newest_first(store: Path, command: str) -> None:
    assert offered(f"{command} ", store) == ["vcpe-1", "tiny-2", "tiny-1", "latest"]
    assert offered(f"{command} tiny", store) == ["tiny-2", "tiny-1"]


def test_after_a_comma_the_next_of_several_runs_is_offered(store: Path) -> None:
    assert offered("compare tiny-1,v", store) == ["tiny-1,vcpe-1"]


@pytest.mark.parametrize("command", ["trend", "ls --lab"])
def test_labs_are_offered_where_one_is_named(store: Path, command: str) -> None:
    assert offered(f"{command} t", store) == ["tiny"]


def test_the_store_that_the_command_names_is_the_one_that_is_read(store: Path) -> None:
    assert offered(f"show --store {store} v") == ["vcpe-1"]


def test_a_store_that_cannot_be_read_offers_nothing_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("no database")
    assert offered("show t", tmp_path / "no.db") == []
    assert offered("show t", tmp_path / "none.db") == []
    assert not (tmp_path / "none.db").exists()
