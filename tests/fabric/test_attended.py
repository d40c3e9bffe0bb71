# SPDX-License-Identifier: Apache-2.0
"""A program that is waited for: what it is told, and what becomes of what it started."""

from __future__ import annotations

import secrets
import sys
import time
from pathlib import Path

import pytest

from weir.base.error import FabricError
from weir.fabric import markers
from weir.fabric.attended import attend, end

TOLD = "import os, sys; print(os.fdopen(int(sys.argv[1])).read()[::-1], flush=True); "


@pytest.fixture
def marker() -> str:
    return f"weir-test-{secrets.token_hex(6)}/attended"


def run(script: str, folder: Path, marker: str, within_s: float = 20.0) -> int:
    return attend(
        "It",
        [sys.executable, "-c", TOLD + script], secret=b"a secret", marker=marker, environment={"OWN": "set"},
        log=folder / "log", directory=folder, within_s=within_s,
    )  # fmt: skip


def test_it_is_told_its_secret_by_a_descriptor_and_its_exit_code_is_known(
    tmp_path: Path, marker: str
) -> None:
    script = (
        "open('words', 'wb').write(open('/proc/self/cmdline', 'rb').read()); "
        "sys.exit(3 if os.environ['OWN'] == 'set' else 4)"
    )
    assert run(script, tmp_path, marker) == 3
    assert (tmp_path / "log").read_text() == "terces a\n"
    assert b"a secret" not in (tmp_path / "words").read_bytes()


def test_a_signal_that_ended_it_is_known(tmp_path: Path, marker: str) -> None:
    assert run("os.kill(os.getpid(), 9)", tmp_path, marker) == -9


@pytest.mark.long
def test_one_that_does_not_end_is_ended_in_its_time_with_all_that_it_started(
    tmp_path: Path, marker: str
) -> None:
    began = time.monotonic()
    with pytest.raises(FabricError, match=r"has not ended within 2 s"):
        run("os.fork(); import time; time.sleep(60)", tmp_path, marker, within_s=2.0)
    assert time.monotonic() - began < 20
    assert markers.marked(marker) == []


def test_what_it_leaves_running_is_ended_with_it(tmp_path: Path, marker: str) -> None:
    assert run("os.fork() or __import__('time').sleep(60)", tmp_path, marker) == 0
    assert markers.marked(marker) == []


def test_of_one_that_is_not_there_nothing_is_ended(marker: str) -> None:
    end(marker)


def test_a_program_that_is_not_there_is_said(tmp_path: Path, marker: str) -> None:
    with pytest.raises(FabricError, match="cannot start /nonexistent"):
        attend(
            "It", ["/nonexistent"], secret=b"", marker=marker, environment={}, log=tmp_path / "log",
            directory=tmp_path, within_s=1.0,
        )  # fmt: skip
