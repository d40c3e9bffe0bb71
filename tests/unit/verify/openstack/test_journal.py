# SPDX-License-Identifier: Apache-2.0
"""What is written down of what stands in a cloud."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.verify.driver import CloudError
from weir.verify.drivers.openstack import kinds
from weir.verify.drivers.openstack.connection import Cloud, Deadline
from weir.verify.drivers.openstack.journal import Journal, Made, left

CLOUD = {"auth_url": "http://cloud.test", "region": "one", "project": "p"}


def abandoned(journal: Journal) -> None:
    """As a kill does it: the lock goes, the files stay."""
    journal._lock.release(gone=False)


def test_what_a_kill_left_is_read_again_in_order(journals: Path) -> None:
    journal = Journal.begin("aa", CLOUD)
    for kind in ("network", "subnet", "router"):
        journal.announce(kind, f"{journal.tag}-{kind}")
    journal.known("network", "weir-aa-network", "17")
    journal.gone(Made("subnet", "weir-aa-subnet"))
    abandoned(journal)
    (again,) = left(CLOUD)
    assert again.made == [Made("network", "weir-aa-network", "17"), Made("router", "weir-aa-router")]
    again.close()
    assert list(journals.glob("*.journal")) == [journal.path]  # it stays while something stands


@pytest.mark.usefixtures("journals")
def test_a_torn_line_announces_nothing() -> None:
    journal = Journal.begin("aa", CLOUD)
    journal.announce("network", "weir-aa-network")
    with journal.path.open("a") as out:
        out.write('{"make": "subn')
    abandoned(journal)
    (again,) = left(CLOUD)
    assert [one.kind for one in again.made] == ["network"]


@pytest.mark.usefixtures("journals")
def test_nobody_takes_the_journal_of_a_run_that_goes_on_or_of_another_cloud() -> None:
    mine = Journal.begin("aa", CLOUD)
    other = Journal.begin("bb", CLOUD | {"project": "q"})
    other.announce("network", "weir-bb-network")
    abandoned(other)
    assert list(left(CLOUD)) == []
    assert other.path.exists()
    mine.close()
    assert not mine.path.exists()


def test_one_that_was_killed_before_its_first_line_goes(journals: Path) -> None:
    journals.mkdir()
    (journals / "cc.journal").touch()
    assert list(left(CLOUD)) == []
    assert list(journals.iterdir()) == []


def test_only_its_user_may_read_it(journals: Path) -> None:
    journal = Journal.begin("aa", CLOUD)
    assert journal.path.stat().st_mode & 0o077 == 0
    assert journals.stat().st_mode & 0o077 == 0
    journal.close()


@pytest.mark.usefixtures("journals")
def test_what_comes_after_a_torn_line_is_read() -> None:
    journal = Journal.begin("aa", CLOUD)
    journal.announce("network", "weir-aa-network")
    journal.announce("subnet", "weir-aa-subnet")
    with journal.path.open("ab") as out:
        out.write(b'{"make": "rou\xff')
    abandoned(journal)
    (again,) = left(CLOUD)
    again.gone(Made("subnet", "weir-aa-subnet"))
    abandoned(again)
    (third,) = left(CLOUD)
    assert third.made == [Made("network", "weir-aa-network")]


@pytest.mark.usefixtures("journals")
def test_a_line_that_is_damaged_takes_no_other_with_it() -> None:
    journal = Journal.begin("aa", CLOUD)
    for kind in ("network", "router"):
        journal.announce(kind, f"weir-aa-{kind}")
        journal.known(kind, f"weir-aa-{kind}", "17")
    lines = journal.path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00" * 20 + b"\n"
    journal.path.write_bytes(b"".join(lines))
    abandoned(journal)
    (again,) = left(CLOUD)
    assert again.made == [Made("network", "weir-aa-network", "17"), Made("router", "weir-aa-router", "17")]


@pytest.mark.parametrize("first", [b"\x00\x00\n", b'{"version": 2, "stands_in": {}}\n', b""])
def test_one_that_does_not_say_which_cloud_it_is_of_stays_if_anything_else_stands_in_it(
    first: bytes, journals: Path
) -> None:
    journal = Journal.begin("aa", CLOUD)
    journal.announce("network", "weir-aa-network")
    journal.path.write_bytes(first + journal.path.read_bytes().splitlines(keepends=True)[1])
    abandoned(journal)
    (again,) = left(CLOUD)
    assert again.cloud == {}
    again.let_go()
    assert list(journals.glob("*.journal")) == [journal.path]


@pytest.mark.usefixtures("journals")
@pytest.mark.parametrize("why", ["its time is over", "the service does not tell its versions"])
def test_what_the_cloud_was_not_asked_for_is_not_written_down(why: str) -> None:
    class Unnamed:
        session = SimpleNamespace()

        @property
        def network(self) -> object:
            raise OSError("no supported versions")

    journal = Journal.begin("c0ffee", {})
    cloud, within_s = Cloud(Unnamed(), "made", frozenset()), 0.0 if "time" in why else 20.0
    with pytest.raises(CloudError, match=r"^make network own: (not begun|no supported versions)"):
        kinds.make(cloud, journal, "network", "own", Deadline(within_s))
    assert journal.made == []
    assert len(journal.path.read_text().splitlines()) == 1
    journal.close()
