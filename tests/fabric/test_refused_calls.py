# SPDX-License-Identifier: Apache-2.0
"""A system call that fails once: an error with words, or no error; never something that stays for good."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import netns

from weir.base.error import FabricError
from weir.fabric import ending, markers, namespace, process
from weir.fabric import lock as locks
from weir.fabric.deployment import clean_leftovers, deployments
from weir.fabric.journal import Journal
from weir.fabric.lock import Lock
from weir.fabric.run_directory import RunDirectory
from weir.fabric.site import Site

from .machine import Machine


def descriptors() -> int:
    """That this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def failing_once(inner: Callable[..., Any], number: int = errno.EIO) -> Callable[..., Any]:
    """`inner`, whose first call fails."""
    calls = 0

    def outer(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError(number, os.strerror(number))
        return inner(*args, **options)

    return outer


@pytest.mark.parametrize(("module", "name"), [(os, "open"), (fcntl, "flock")])
def test_a_lock_that_cannot_be_taken_says_so(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Lock(tmp_path / "x.lock")
    before = descriptors()
    monkeypatch.setattr(module, name, failing_once(getattr(module, name)))
    with pytest.raises(FabricError, match=r"cannot lock .*x.lock: Input/output error"):
        lock.take()
    assert descriptors() == before
    assert lock.take()
    lock.release()


def test_a_lock_whose_file_stays_is_held_by_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Lock(tmp_path / "x.lock")
    assert lock.take()
    monkeypatch.setattr(Path, "unlink", failing_once(Path.unlink))
    lock.release()
    assert lock.path.exists()
    other = Lock(lock.path)
    assert other.take()
    other.release()
    assert not lock.path.exists()


def test_a_lock_of_another_file_system_with_the_same_number_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Lock(tmp_path / "x.lock")
    assert held.take()
    assert Lock(held.path).is_held()
    there = Path("/proc/locks").read_text()
    number = str(held.path.stat().st_ino)
    elsewhere = tmp_path / "locks"
    elsewhere.write_text(re.sub(rf"[0-9a-f]+:[0-9a-f]+:{number} ", f"ff:fe:{number} ", there))
    monkeypatch.setattr(locks, "_LOCKS", elsewhere)
    assert not Lock(held.path).is_held()
    held.release()


def test_a_lock_without_its_note_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Lock(tmp_path / "x.lock")
    assert lock.take()
    monkeypatch.setattr(os, "pwrite", failing_once(os.pwrite, errno.ENOSPC))
    lock.write("17")
    assert not Lock(lock.path).take()
    lock.release()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Machine(monkeypatch)
    yield made
    monkeypatch.undo()
    made.remove()


NAME = "small-0000000a"


def test_a_directory_that_cannot_be_removed_stays_in_the_journal(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", failing_once(os.rmdir))
        with pytest.raises(FabricError, match=r"not all gone: run-directory: .*Input/output error"):
            machine.destroy(NAME)
    assert (machine.root / NAME).is_dir()
    machine.destroy(NAME)
    assert list(machine.root.iterdir()) == []


def test_files_that_vanish_meanwhile_do_not_keep_a_directory(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    (machine.root / NAME / "socket").touch()
    with monkeypatch.context() as patch:
        gone, unlink = failing_once(os.unlink, errno.ENOENT), os.unlink
        patch.setattr(
            os, "unlink", lambda path, *, dir_fd=None: (gone if dir_fd else unlink)(path, dir_fd=dir_fd)
        )
        machine.destroy(NAME)
    assert list(machine.root.iterdir()) == []


def test_a_journal_that_cannot_be_removed_is_the_next_weirs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    (one,) = deployments()
    unlink = Path.unlink

    def refused(path: Path, **options: Any) -> None:
        if path.suffix == ".journal":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refused)
        with pytest.raises(FabricError, match=r"all is gone but the journal .*Permission denied"):
            one.destroy()
    assert clean_leftovers() == [NAME]
    assert list(machine.root.iterdir()) == []


def test_looking_at_deployments_takes_no_descriptors(machine: Machine) -> None:
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    before = descriptors()
    for _ in range(10):
        assert clean_leftovers() == []
        assert [one.state() for one in deployments()] == ["kept"]
    assert descriptors() == before


def test_a_process_is_ended_by_a_weir_with_many_descriptors(tmp_path: Path) -> None:
    """select(2) ends at 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2048:
        pytest.skip("this process may not open 2048 descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, hard))
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        marker = f"many-{os.getpid():08x}/x"
        process.spawn(["sleep", "60"], marker=marker, netns=None, env={}, cores=[], log=tmp_path / "log")
        ending.end_marked(marker)
        assert markers.marked(marker) == []
    finally:
        for one in opened:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("refusal", [errno.EINTR, errno.ENOMEM, errno.EACCES])
def test_a_process_that_a_signal_could_not_be_sent_for_once_is_ended_all_the_same(
    number: signal.Signals, refusal: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ignores SIGTERM, so that both are sent."""
    send = signal.pidfd_send_signal
    refused: list[int] = []

    def send_or_refuse(pidfd: int, signum: int) -> None:
        if signum == number and not refused:
            refused.append(pidfd)
            raise OSError(refusal, os.strerror(refusal))
        send(pidfd, signum)

    monkeypatch.setattr(signal, "pidfd_send_signal", send_or_refuse)
    monkeypatch.setattr(ending, "TERM_S", 0.2)
    marker, log = f"refused-{os.getpid():08x}/x", tmp_path / "log"
    deaf = ["sh", "-c", "trap '' TERM; echo started; while :; do sleep 0.05; done"]
    process.spawn(deaf, marker=marker, netns=None, env={}, cores=[], log=log)
    while "started" not in log.read_text():
        pass
    before = descriptors()
    ending.end_marked(marker)
    assert markers.marked(marker) == []
    assert refused
    assert descriptors() == before


def test_entering_a_namespace_is_tried_again_after_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []
    monkeypatch.setattr(netns, "setns", failing_once(lambda place, **_: entered.append(place), errno.EINTR))
    namespace.enter("x")
    assert entered == ["/run/netns/x"]


def test_a_journal_whose_torn_line_cannot_be_ended_is_not_locked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    path = machine.root / f"{NAME}.journal"
    with path.open("a") as torn:
        torn.write("{")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing_once(os.write, errno.ENOSPC))
        with pytest.raises(FabricError, match=r"cannot write the journal .*No space left"):
            Journal(path).lock()
    machine.destroy(NAME)


def test_the_site_of_a_run_directory_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    RunDirectory().undo({}, {}, Site("x", tmp_path / "x", None))  # type: ignore[arg-type]
    assert (tmp_path / "x").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user: run as root")
def test_what_another_user_wrote_is_no_journal(machine: Machine) -> None:
    """Its undo is done as this one. Neither is what leads elsewhere."""
    assert machine.weir(lambda: machine.deploy(NAME).keep())
    journal = machine.root / f"{NAME}.journal"
    foreign = machine.root / "evil-00000000.journal"
    foreign.write_bytes(journal.read_bytes())
    os.chown(foreign, 65534, 65534)
    (machine.root / "link-00000000.journal").symlink_to(journal)
    assert [one.id for one in deployments()] == [NAME]
    assert clean_leftovers() == []
    foreign.unlink()
    (machine.root / "link-00000000.journal").unlink()
    machine.destroy(NAME)
