# SPDX-License-Identifier: Apache-2.0
"""What both QEMUs are told in a migration, and what is made of what they say. They only speak QMP."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.base.node import GUESTS
from weir.fabric.vm.migration import Limits, Migration
from weir.fabric.vm.monitor import Monitor

from .fake_qemu import FakeQemu, event, status

STANDBYS = ["standby-left", "standby-right"]
PRIMARIES = ["primary-left", "primary-right"]


@dataclass
class Two:
    """QEMUs and the migration between them."""

    source: FakeQemu
    target: FakeQemu
    migration: Migration

    def moments(self) -> list[str]:
        return [one.what for one in self.migration.wait(1.0)]

    def announced(self) -> list[tuple[str, list[str]]]:
        """Who announced which devices, in order for each."""
        return [
            (who, arguments["interfaces"])
            for who, qemu in (("source", self.source), ("target", self.target))
            for command, arguments in qemu.said
            if command == "announce-self"
        ]


@pytest.fixture
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wk", dir="/tmp") as path:  # short enough for unix sockets
        (Path(path) / GUESTS).mkdir()
        yield Path(path)


@pytest.fixture
def two(directory: Path) -> Iterator[Two]:
    source, target = FakeQemu(directory / GUESTS / "f1.qmp"), FakeQemu(directory / GUESTS / "f1.to.qmp")
    pids = {"vm:f1": os.getpid(), "vm:f1.to": os.getpid()}
    with closing(Migration(directory, "f1", pids)) as migration:
        yield Two(source, target, migration)


def test_the_second_qemu_listens_before_the_first_one_sends(two: Two) -> None:
    two.migration.begin(Limits(downtime_ms=50, bandwidth_bytes_s=1000))
    where = {"uri": "unix:f1.to.migration"}
    assert two.target.said[-1] == ("migrate-incoming", where)
    assert two.source.said[-2:] == [
        ("migrate-set-parameters", {"downtime-limit": 50, "max-bandwidth": 1000}),
        ("migrate", where),
    ]
    assert ("migrate-set-parameters", {"announce-rounds": 0}) in two.target.said


def test_the_devices_that_carry_packets_now_are_announced_and_no_others(two: Two) -> None:
    two.migration.announce(primaries=True)
    two.migration.begin(Limits(downtime_ms=300))
    two.source.say(status("setup"), status("wait-unplug"), status("active"))
    assert two.moments() == ["unplugged"]
    two.source.say(event("STOP"), status("device"))
    assert two.moments() == ["stopped"]
    two.target.say(status("completed"), event("RESUME"))
    assert two.moments() == ["resumed"]
    two.source.say(status("completed"))
    assert two.moments() == ["completed"]
    two.migration.announce(primaries=True)
    assert two.announced() == [
        ("source", PRIMARIES),
        ("source", STANDBYS),
        ("target", STANDBYS),
        ("target", PRIMARIES),
    ]


def test_after_a_failure_the_guest_is_where_it_was(two: Two) -> None:
    two.migration.begin(Limits(downtime_ms=300))
    two.source.say(status("active"), status("failed"))
    assert two.moments() == ["unplugged", "failed"]
    two.migration.announce(primaries=True)
    assert two.announced() == [("source", STANDBYS), ("source", PRIMARIES)]


def test_nothing_happens_in_silence(two: Two) -> None:
    assert two.migration.wait(0.02) == []


def test_what_qemu_refuses_is_said_in_its_words(directory: Path) -> None:
    FakeQemu(directory / "f1.qmp", {"migrate": RuntimeError("State blocked by a device")})
    with (
        closing(Monitor(directory / "f1.qmp")) as monitor,
        pytest.raises(FabricError, match=r"QEMU does not do migrate: State blocked by a device"),
    ):
        monitor.execute("migrate", {"uri": "unix:/x"})


def test_a_qemu_that_does_not_answer_is_given_up(directory: Path) -> None:
    FakeQemu(directory / "f1.qmp", {"query-migrate": None})
    with (
        closing(Monitor(directory / "f1.qmp", answer_s=0.5)) as monitor,
        pytest.raises(FabricError, match=r"QEMU does not do query-migrate: no answer"),
    ):
        monitor.execute("query-migrate")


def test_nobody_at_the_socket_is_an_error_and_no_traceback(directory: Path) -> None:
    with pytest.raises(FabricError, match="QEMU does not do connect"):
        Monitor(directory / "f1.qmp")


def test_a_machine_that_has_ended_is_noticed(directory: Path) -> None:
    FakeQemu(directory / GUESTS / "f1.qmp"), FakeQemu(directory / GUESTS / "f1.to.qmp")
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    with (
        closing(Migration(directory, "f1", {"vm:f1": gone, "vm:f1.to": os.getpid()})) as migration,
        pytest.raises(FabricError, match="virtual machine f1 has ended"),
    ):
        migration.wait(1.0)
