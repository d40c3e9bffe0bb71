# SPDX-License-Identifier: Apache-2.0
"""Logs of what failed outlive it, and the error names them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from weir.fabric import kept_logs
from weir.fabric.errors import FabricError
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


def test_an_error_names_the_kept_logs_and_has_their_last_words_of_failure(tmp_path: Path, kept: Path) -> None:
    run_dir = failed(tmp_path)
    error = FabricError("ovs-vswitchd does not start", f"its log: {run_dir}/ovs/ovs-vswitchd.log")
    keep_logs(run_dir, error)
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


def test_kept_logs_are_their_owners_alone(tmp_path: Path, kept: Path) -> None:
    keep_logs(failed(tmp_path), FabricError("it failed"))
    assert {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (kept, *kept.rglob("*"))} == {
        (True, 0o700),
        (False, 0o600),
    }


def test_the_last_failures_are_kept_and_nothing_else_is_removed(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    (kept / "mine").mkdir()
    for number in range(KEPT + 3):
        keep_logs(failed(tmp_path, f"tiny-{number:08x}"), FabricError("it failed"))
    names = {path.name for path in kept.iterdir()}
    assert names == {"mine"} | {f"tiny-{number:08x}" for number in range(3, KEPT + 3)}


def test_of_a_long_log_the_end_is_kept(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_logs, "LOG_BYTES_MAX", 10)
    run_dir = failed(tmp_path)
    (run_dir / "weir-dp.log").write_text("x" * 100 + "\nthe end\n")
    keep_logs(run_dir, FabricError("it failed"))
    assert (kept / run_dir.name / "weir-dp.log").read_text() == "x\nthe end\n"


def test_what_failed_is_said_where_no_log_can_be_kept(tmp_path: Path, kept: Path) -> None:
    kept.write_text("no folder")
    error = FabricError("it failed")
    keep_logs(failed(tmp_path), error)
    assert str(error).startswith(f"it failed; its logs could not be kept in {kept}/")


def test_of_ctrl_c_nothing_is_kept(tmp_path: Path, kept: Path) -> None:
    keep_logs(failed(tmp_path), KeyboardInterrupt())
    assert not kept.exists()
