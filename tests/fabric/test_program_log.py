# SPDX-License-Identifier: Apache-2.0
"""What is shown of logs that programs fill as they like."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from weir.fabric.program_log import BEGINNING, LINE_LONGEST, MORE, log_end


def test_the_end_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert log_end(log) == "it said nothing"
    log.write_text("".join(f"line {number}\n" for number in range(10)))
    assert log_end(log) == "line 6 | line 7 | line 8 | line 9"


def test_a_line_without_an_end_does_not_fill_a_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (1 << 22))
    assert log_end(log) == "x" * LINE_LONGEST + "…"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("yes | head -c 3000", b"y\n" * 500 + b"\n" + MORE.format(bytes=1000).encode() + b"\n"),
        (
            "yes | head -c 1000; printf '\\0\\0\\377x'",
            b"y\n" * 500 + b"\n" + MORE.format(bytes=1000).encode() + b"\n",
        ),
        ("yes | head -c 1000", b"y\n" * 500),
        ("echo out; echo in trouble >&2", b"out\nin trouble\n"),
    ],
)
def test_of_what_is_said_the_beginning_is_kept_and_a_last_line_says_that_there_was_more(
    said: str, kept: bytes
) -> None:
    limited = f'exec "$@" {BEGINNING.format(bytes=1000)}'
    done = subprocess.run(
        ["bash", "-c", limited, "weir", "sh", "-c", said],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (kept, b"")
