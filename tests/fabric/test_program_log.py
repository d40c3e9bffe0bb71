# SPDX-License-Identifier: Apache-2.0
"""What is shown of logs that programs fill as they like."""

from __future__ import annotations

from pathlib import Path

from weir.fabric.program_log import LINE_LONGEST, log_end


def test_the_end_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert log_end(log) == "it said nothing"
    log.write_text("".join(f"line {number}\n" for number in range(10)))
    assert log_end(log) == "line 6 | line 7 | line 8 | line 9"


def test_a_line_without_an_end_does_not_fill_a_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (1 << 22))
    assert log_end(log) == "x" * LINE_LONGEST + "…"
