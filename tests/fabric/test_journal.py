# SPDX-License-Identifier: Apache-2.0
"""The journal: what stands in it is what must be undone, however its writer ended."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric import deployment
from weir.fabric.deployment import clean_leftovers, deployments
from weir.fabric.journal import VERSION, Journal
from weir.fabric.lock import Lock
from weir.plan import Step

from .journalled import DEPLOYMENT, topology

pytestmark = pytest.mark.usefixtures("run_root")


def announced(name: str) -> dict[str, object]:
    step = Step(kind="netns", name=name, params={"netns": name}, text=f"make {name}", undo_text="")
    return {"do": step.model_dump()}


def names(journal: Journal) -> list[str]:
    return [entry.step.name for entry in journal.standing()]


def test_whether_somebody_works_on_it_is_told_without_the_lock(run_root: Path) -> None:
    journal = Journal.begin(topology())
    (path,) = run_root.glob("*.journal")
    seen = Journal(path)
    assert seen.is_locked()
    journal.unlock()
    assert not seen.is_locked()


def test_a_journal_appears_with_its_first_record(run_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is linked into place there is its lock alone; then its first record is whole."""
    seen: list[object] = []
    link = os.link

    def watched(*args: Any, **options: Any) -> None:
        seen.append([path.name for path in run_root.iterdir()])
        link(*args, **options)
        seen.append(json.loads((run_root / f"{DEPLOYMENT}.journal").read_bytes()))

    monkeypatch.setattr(os, "link", watched)
    journal = Journal.begin(topology())
    head = {"journal": VERSION, "begin": topology().model_dump(mode="json")}
    assert seen == [[f"{DEPLOYMENT}.lock"], head]
    assert journal.path == run_root / f"{DEPLOYMENT}.journal"
    assert journal.path.stat().st_mode & 0o777 == 0o644
    assert journal.path.with_suffix(".lock").stat().st_mode & 0o777 == 0o600
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
    journal._lock.release(gone=False)  # as a kill does
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


def test_somebody_who_may_only_read_cannot_hold_it_up() -> None:
    """Not even with a lock of the journal, or of the directory: ours is a file of its own."""
    first = Journal.begin(topology())
    first._lock.release(gone=False)
    for place in (first.path, first.path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert Journal(first.path).lock()


def test_who_waits_for_a_lock_whose_file_goes_gets_the_new_one(run_root: Path) -> None:
    run_root.mkdir()
    first, second, third = (Lock(run_root / "x.lock") for _ in range(3))
    assert first.take()
    waiting = threading.Thread(target=second.take, args=(5.0,))
    waiting.start()
    time.sleep(0.05)
    first.release()
    waiting.join()
    assert not third.take()
    second.release()
    assert list(run_root.iterdir()) == []


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many bytes are left: what is written above that is written in part."""
    left = [10]
    write = os.write

    def limited(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, data[: left[0]])
        left[0] -= written
        return written

    def freed(descriptor: int, length: int) -> None:
        left[0] += 0 if length else 10_000
        truncate(descriptor, length)

    truncate = os.ftruncate
    journal = Journal.begin(topology())
    monkeypatch.setattr(os, "write", limited)
    monkeypatch.setattr(os, "ftruncate", freed)
    yield left
    journal.close()


def test_on_a_full_disk_nothing_is_begun_and_everything_can_be_taken_down(
    run_root: Path, full: list[int]
) -> None:
    journal = Journal(run_root / f"{DEPLOYMENT}.journal")
    whole = journal.path.read_bytes()
    for record in (announced("a"), {"keep": True, "why": "x" * 20}):
        full[0] = 10
        with pytest.raises(FabricError, match="No space left"):
            journal.write(record)
        assert journal.path.read_bytes() == whole


def test_what_is_done_is_written_into_the_space_reserved_for_that(run_root: Path, full: list[int]) -> None:
    (path,) = run_root.glob("*.journal")
    path.with_suffix(".lock").unlink()
    journal = Journal(path)
    assert journal.lock()
    for record in ({"ending": True}, {"undone": "a"}):
        full[0] = 0
        journal.write(record)
    assert [*journal.records()][1:] == [{"ending": True}, {"undone": "a"}]


def test_space_is_reserved_before_anything_is_made() -> None:
    journal = Journal.begin(topology())
    assert journal.path.with_suffix(".lock").stat().st_blocks * 512 >= 64 * 1024


def test_what_only_has_the_name_of_a_journal_hides_none(run_root: Path) -> None:
    Journal.begin(topology()).close()
    (run_root / "folder-1.journal").mkdir()
    os.mkfifo(run_root / "pipe-1.journal")
    assert [one.id for one in deployments()] == [DEPLOYMENT]
    assert clean_leftovers() == [DEPLOYMENT]


def test_facts_of_no_step_are_nobodys() -> None:
    journal = Journal.begin(topology())
    journal.write({"facts": {"pid": 1}})
    assert journal.standing() == []
    journal.close()
    assert clean_leftovers() == [DEPLOYMENT]


def test_a_kept_one_is_no_leftover_whoever_comes_first(run_root: Path) -> None:
    """Between its `keep` and its maker's end, too: nobody decides without the lock."""
    journal = Journal.begin(topology())
    journal.write({"keep": True})
    assert clean_leftovers() == []
    journal.close()
    assert clean_leftovers() == []
    assert Journal(run_root / f"{DEPLOYMENT}.journal").lock()


def test_who_is_to_destroy_what_is_being_taken_down_waits_for_its_turn(
    run_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lifeline of a destroy that failed tries again by itself."""
    monkeypatch.setattr(deployment, "EXEC_S", 0.0)
    journal = Journal.begin(topology())
    journal.write({"keep": True})
    taker = os.fork()
    if taker == 0:
        time.sleep(0.5)
        os._exit(0)
    journal._lock.release(gone=False)  # the taker alone has it
    (found,) = deployments()
    with pytest.raises(FabricError, match="belongs to a weir that is running"):
        found.destroy()
    journal.write({"ending": True})
    found.destroy()
    assert deployments() == []
    assert list(run_root.iterdir()) == []
    os.waitpid(taker, 0)


def test_who_begins_waits_for_whoever_looks_whether_its_lock_is_free(run_root: Path) -> None:
    run_root.mkdir()
    looker = Lock(run_root / f"{DEPLOYMENT}.lock")
    assert looker.take()
    threading.Timer(0.2, looker.release).start()
    Journal.begin(topology()).close()
    assert [one.id for one in deployments()] == [DEPLOYMENT]


def test_a_lock_without_a_journal_goes(run_root: Path) -> None:
    run_root.mkdir()
    Lock(run_root / "killed-00000000.lock").take()
    held = Lock(run_root / "beginning-00000000.lock")
    assert held.take()
    (run_root / "killed-00000001.lock").touch()
    clean_leftovers()
    assert [path.name for path in run_root.glob("*1.lock")] == []
    assert held.path.exists()
