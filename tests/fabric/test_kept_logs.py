# SPDX-License-Identifier: Apache-2.0
"""Logs of what failed outlive it, and the error names them."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weir.base.error import FabricError
from weir.fabric import kept_logs
from weir.fabric.kept_logs import KEPT, keep_logs


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIR_LOG_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def failed(tmp_path: Path, name: str = "tiny-0123abcd") -> Path:
    """The run directory of a deployment whose switch failed."""
    run_dir = tmp_path / "run" / name
    (run_dir / "ovs").mkdir(parents=True)
    (run_dir / "weir-dp.log").write_text("ready\n")
    (run_dir / "empty.log").touch()
    (run_dir / "weir-dp.sock").touch()
    (run_dir / "ovs/ovs-vswitchd.log").write_text("1|INFO|start\n2|EMER|no memory: failed\n3|INFO|bye\n")
    return run_dir


def kept_of(run_dir: Path, error: BaseException) -> None:
    keep_logs(run_dir.name, [run_dir], error)


def test_an_error_names_the_kept_logs_and_has_their_last_words_of_failure(tmp_path: Path, kept: Path) -> None:
    run_dir = failed(tmp_path)
    error = FabricError("ovs-vswitchd does not start", f"its log: {run_dir}/ovs/ovs-vswitchd.log")
    kept_of(run_dir, error)
    place = kept / run_dir.name
    said = str(error)
    assert said.startswith(
        f"ovs-vswitchd does not start; its log: {place}/ovs/ovs-vswitchd.log; logs kept in {place};"
    )
    assert "ovs/ovs-vswitchd.log: 2|EMER|no memory: failed" in said
    assert "weir-dp.log: ready" in said
    assert str(run_dir) not in said
    assert (place / "ovs/ovs-vswitchd.log").read_text() == (run_dir / "ovs/ovs-vswitchd.log").read_text()
    assert {path.name for path in place.rglob("*") if path.is_file()} == {"weir-dp.log", "ovs-vswitchd.log"}


def test_a_file_that_the_error_names_is_kept_beside_the_logs_whole(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_logs, "LOG_BYTES_MAX", 60)
    run_dir = failed(tmp_path)
    batch, routes = run_dir / "f1.1-l3fwd.1.ip", "route replace ::/0 dev right\n" * 6 + "no failure\n"
    batch.write_text(routes)
    (run_dir / "f1.1-l3fwd").write_text("of a name that begins likewise\n")
    (run_dir / "f1.1-l3fwd.1.ip.log").write_text(f"No route to host\nCommand failed {batch}:6\n")
    kept_of(
        run_dir,
        error := FabricError(f"`ip -batch {batch}` failed: No route to host | Command failed {batch}:6"),
    )
    place = kept / run_dir.name
    assert (place / batch.name).read_text() == routes
    assert not (place / "f1.1-l3fwd").exists()
    assert str(error).startswith(
        f"`ip -batch {place / batch.name}` failed: No route to host | Command failed {place / batch.name}:6; "
        f"logs kept in {place};"
    )
    assert str(run_dir) not in str(error)
    assert str(error).count("Command failed") == 1
    assert "no failure" not in str(error)


def test_a_disk_that_the_error_names_is_not_kept(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_logs, "NAMED_BYTES_MAX", 100)
    run_dir = failed(tmp_path)
    (run_dir / "f1.qcow2").write_bytes(b"\0" * 101)
    kept_of(run_dir, FabricError(f"cannot read {run_dir}/f1.qcow2"))
    assert not (kept / run_dir.name / "f1.qcow2").exists()


def test_kept_logs_are_their_owners_alone(tmp_path: Path, kept: Path) -> None:
    kept_of(failed(tmp_path), FabricError("it failed"))
    assert {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (kept, *kept.rglob("*"))} == {
        (True, 0o700),
        (False, 0o600),
    }


def test_the_last_failures_are_kept_and_nothing_else_is_removed(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    (kept / "mine").mkdir()
    for number in range(KEPT + 3):
        kept_of(failed(tmp_path, f"tiny-{number:08x}"), FabricError("it failed"))
    names = {path.name for path in kept.iterdir()}
    assert names == {"mine"} | {f"tiny-{number:08x}" for number in range(3, KEPT + 3)}


def test_of_a_long_log_the_end_is_kept(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_logs, "LOG_BYTES_MAX", 10)
    run_dir = failed(tmp_path)
    (run_dir / "weir-dp.log").write_text("x" * 100 + "\nthe end\n")
    kept_of(run_dir, FabricError("it failed"))
    assert (kept / run_dir.name / "weir-dp.log").read_text() == "x\nthe end\n"


def test_what_failed_is_said_where_no_log_can_be_kept(tmp_path: Path, kept: Path) -> None:
    kept.write_text("no folder")
    error = FabricError("it failed")
    kept_of(failed(tmp_path), error)
    assert str(error).startswith(f"it failed; its logs could not be kept in {kept}/")


def test_of_ctrl_c_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    kept_of(failed(tmp_path), KeyboardInterrupt())
    assert not kept.exists()


@pytest.fixture
def guests(tmp_path: Path) -> Path:
    """What a guest and its QEMU have said, apart from the run directory."""
    made = tmp_path / "disk" / "tiny-0123abcd"
    (made / "f1.seed").mkdir(parents=True)
    (made / "f1.qcow2").write_bytes(b"QFI")
    (made / "f1.seed" / "user-data").write_text("#cloud-config\n")
    (made / "f1.qemu.log").write_text("qemu: could not open it\n")
    (made / "f1.serial.before").write_text("Booting\n")
    (made / "f1.serial").write_text("\x1b[31mKernel panic\x1b[0m - not syncing\n")
    return made


def test_logs_of_guests_are_kept_too_and_the_error_names_the_copies(
    tmp_path: Path, kept: Path, guests: Path
) -> None:
    run_dir = failed(tmp_path)
    error = FabricError(
        "virtual machine f1 does not start", f"its log: {guests}/f1.qemu.log; others: {run_dir}"
    )
    keep_logs(run_dir.name, [run_dir, guests], error)
    place, said = kept / run_dir.name, str(error)
    assert f"its log: {place}/f1.qemu.log; others: {place};" in said
    assert "f1.qemu.log: qemu: could not open it" in said
    assert "f1.serial: Kernel panic - not syncing" in said
    assert str(guests) not in said
    assert {path.name for path in place.rglob("*") if path.is_file()} == {
        "weir-dp.log", "ovs-vswitchd.log", "f1.qemu.log", "f1.serial", "f1.serial.before"
    }  # fmt: skip


def test_what_failed_is_said_where_another_weir_removes_the_copies_as_old_ones(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget = kept_logs._forget_old

    def both_forget(newest: Path) -> None:
        forget(newest)
        shutil.rmtree(newest)

    monkeypatch.setattr(kept_logs, "_forget_old", both_forget)
    error = FabricError("it failed")
    kept_of(failed(tmp_path), error)
    assert str(error).startswith(f"it failed; its logs could not be kept in {kept}/")


def test_old_copies_that_another_weir_removes_first_are_no_failure(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.mkdir()
    listed = Path.iterdir

    def with_one_that_is_gone(self: Path) -> Iterator[Path]:
        yield from listed(self)
        if self == kept:
            yield kept / "tiny-00000000"

    monkeypatch.setattr(Path, "iterdir", with_one_that_is_gone)
    monkeypatch.setattr(Path, "is_dir", lambda self: self.name == "tiny-00000000" or os.path.isdir(self))  # noqa: PTH112
    error = FabricError("it failed")
    kept_of(failed(tmp_path), error)
    assert str(error).startswith(f"it failed; logs kept in {kept}/tiny-0123abcd")


def test_a_log_that_goes_while_logs_are_copied_is_left_out(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = failed(tmp_path)
    opened = Path.open

    def ended(self: Path, *how: Any, **more: Any) -> Any:
        if self == run_dir / "weir-dp.log":
            self.unlink()
        return opened(self, *how, **more)

    monkeypatch.setattr(Path, "open", ended)
    error = FabricError("it failed")
    kept_of(run_dir, error)
    assert "ovs/ovs-vswitchd.log: 2|EMER|no memory: failed" in str(error)
    assert not (kept / run_dir.name / "weir-dp.log").exists()
