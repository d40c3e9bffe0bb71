# SPDX-License-Identifier: Apache-2.0
"""The journal: what stands in it is what must be undone, however its writer ended."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.fabric.errors import FabricError
from weir.fabric.journal import Journal
from weir.lab import Lab
from weir.plan import Step

DEPLOYMENT = "small-1a2b3c4d"


@pytest.fixture(autouse=True)
def run_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    return tmp_path / "weir"


def topology() -> Topology:
    lab = Lab.model_validate({"weir": 1, "name": "small", "chain": "PVP", "technology": ["direct"]})
    return plan.build_topology(lab, "direct", lab.chains()[0], DEPLOYMENT)


def announced(name: str) -> dict[str, object]:
    step = Step(kind="netns", name=name, params={"netns": name}, text=f"make {name}", undo_text="")
    return {"do": step.model_dump()}


def names(journal: Journal) -> list[str]:
    return [entry.step.name for entry in journal.standing()]


def test_a_journal_appears_with_its_first_record(run_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is linked into place nothing is there; then its first record is whole."""
    seen: list[object] = []
    link = os.link

    def watched(*args: Any, **options: Any) -> None:
        seen.append(list(run_root.iterdir()))
        link(*args, **options)
        seen.append(json.loads(next(run_root.iterdir()).read_bytes()))

    monkeypatch.setattr(os, "link", watched)
    journal = Journal.begin(topology())
    assert seen == [[], {"begin": topology().model_dump(mode="json")}]
    assert journal.path == run_root / f"{DEPLOYMENT}.journal"
    assert journal.path.stat().st_mode & 0o777 == 0o644
    assert Topology.model_validate(journal.header()["begin"]) == topology()


def test_a_second_journal_of_the_same_deployment_is_refused() -> None:
    first = Journal.begin(topology())
    first.write(announced("a"))
    with pytest.raises(FabricError, match="File exists"):
        Journal.begin(topology())
    assert names(first) == ["a"]


def test_standing_steps_in_order_with_their_facts() -> None:
    journal = Journal.begin(topology())
    for record in (
        announced("a"),
        {"facts": {"noted": 1}, "step": "a"},
        {"facts": {"made": 2}, "step": "a"},
        announced("b"),
        {"facts": {}, "step": "b"},
        announced("c"),
    ):
        journal.write(record)
    assert names(journal) == ["a", "b", "c"]
    assert journal.standing()[0].facts == {"noted": 1, "made": 2}
    journal.write({"undone": "c"})
    journal.write({"undone": "b"})
    assert names(journal) == ["a"]


def test_a_deployment_is_kept_until_somebody_begins_to_take_it_down() -> None:
    journal = Journal.begin(topology())
    assert not journal.kept()
    journal.write({"keep": True})
    assert journal.kept()
    journal.write({"ending": True})
    assert not journal.kept()


def test_nobody_can_take_a_new_journal_for_a_left_one(
    run_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is locked when it appears."""
    taken: list[bool] = []
    link = os.link

    def watched(*args: Any, **options: Any) -> None:
        link(*args, **options)
        taken.append(Journal(run_root / f"{DEPLOYMENT}.journal").lock())

    monkeypatch.setattr(os, "link", watched)
    Journal.begin(topology())
    assert taken == [False]


def test_a_torn_last_line_is_not_there() -> None:
    journal = Journal.begin(topology())
    journal.write(announced("a"))
    whole = journal.path.read_bytes()
    line = json.dumps(announced("b")).encode() + b"\n"
    for length in range(len(line) - 1):
        journal.path.write_bytes(whole + line[:length])
        assert names(journal) == ["a"], length
    journal.path.write_bytes(whole + line)
    assert names(journal) == ["a", "b"]


def test_what_is_written_after_a_torn_line_counts() -> None:
    journal = Journal.begin(topology())
    journal.write(announced("a"))
    journal.write(announced("b"))
    with journal.path.open("ab") as file:
        file.write(b'{"facts":{"pid"')
    journal.close()
    again = Journal(journal.path)
    assert again.lock()
    again.write({"undone": "b"})
    again.write({"undone": "a"})
    assert names(again) == []


def test_one_process_holds_the_lock() -> None:
    """Another open of the file is what another process has."""
    journal = Journal.begin(topology())
    other = Journal(journal.path)
    assert journal.lock()
    assert not other.lock()
    journal.close()
    assert other.lock()


def test_a_child_between_fork_and_exec_keeps_the_lock_for_a_moment() -> None:
    """It shares the open file of the weir that was killed, until exec closes it."""
    journal = Journal.begin(topology())
    child = os.fork()
    if child == 0:
        time.sleep(0.2)
        os._exit(0)
    journal.close()
    other = Journal(journal.path)
    assert not other.lock()
    assert other.lock(wait_s=5.0)
    os.waitpid(child, 0)


def test_a_journal_that_another_process_has_removed_can_still_be_read() -> None:
    journal = Journal.begin(topology())
    journal.write(announced("a"))
    other = Journal(journal.path)
    journal.write({"undone": "a"})
    journal.path.unlink()
    journal.close()
    assert other.lock()
    assert names(other) == []


def test_a_journal_that_is_not_there(run_root: Path) -> None:
    with pytest.raises(FabricError, match="cannot open the journal"):
        Journal(run_root / "gone.journal")
