# SPDX-License-Identifier: Apache-2.0
"""What was tried adds up, with nothing counted twice, and what is short of its target says so."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tools.docs import regime_page
from tools.regime import LINES, ROOT, TARGETS, VARIABLE, RegimeError, Tried, counting, main, read, record

POINTS = Tried(
    what="points", of="deploy under ovs", commit="0123456789ab", date="2026-11-26", part="1/12", seed=0,
    asked=110, tried=100, not_come_to=10, faults=0, seconds=90.0,
)  # fmt: skip


def tried(*lines: Tried) -> int:
    return sum(one.tried for one in counting(lines))


def test_parts_of_one_division_and_commands_add_up() -> None:
    lines = [POINTS, replace(POINTS, part="2/12"), replace(POINTS, of="destroy under ovs")]
    assert tried(*lines) == 300


def test_a_part_that_was_tried_again_counts_once_with_what_it_tried_at_most() -> None:
    later = replace(POINTS, commit="ba9876543210", tried=40)
    assert counting([POINTS, later]) == [POINTS]
    assert counting([POINTS, replace(later, tried=100)]) == [replace(later, tried=100)]


def test_of_several_divisions_or_seeds_the_one_with_most_counts() -> None:
    whole = replace(POINTS, part="1/1", tried=150)
    lines = [POINTS, whole, replace(POINTS, part="5/12", tried=60), replace(POINTS, seed=7, tried=20)]
    assert tried(*lines) == 160
    assert tried(*lines, replace(whole, tried=161)) == 161


def test_random_executions_all_count() -> None:
    line = replace(POINTS, what="executions", of="nat_fuzz", part="1/1")
    assert tried(line, line, replace(line, tried=1)) == 201


def page(folder: Path, *lines: Tried) -> str:
    (folder / "docs/design").mkdir(parents=True)
    (folder / regime_page.PAGE).write_text("before\n" + "\n".join(regime_page.MARKS) + "behind\n")
    for one in lines:
        record(one, folder / LINES)
    return regime_page.page(folder)


def test_the_page_says_met_or_missed_and_has_all_faults_that_were_found(tmp_path: Path) -> None:
    many = replace(POINTS, what="sequences", of="weirs", tried=TARGETS["sequences"], seconds=7200.0)
    text = page(tmp_path, replace(POINTS, faults=2, tried=90), POINTS, many)
    assert "| 100 | 10,000 | **MISSED** (1.0%) | 2 | 0.1 |" in text
    assert "| 100,000 | 100,000 | met | 0 | 2.0 |" in text
    assert "| 0 | 1,000,000,000 | **MISSED** (0.0%) | 0 | 0.0 |" in text
    row = "| points | deploy under ovs | 1 of 12 | 100 | 110 | 10 | 2 | 3 | 2026-11-26 | 0123456789ab |"
    assert row in text
    assert text.startswith("before\n")
    assert text.endswith("behind\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"jsonl:2: expected the fields of tools/regime.py's Tried"),
        ('{"what": "points"}', r"jsonl:2: expected the fields"),
        ('"points"', r"jsonl:2: expected the fields"),
    ],
)
def test_a_line_that_is_none_is_named(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "regime.jsonl"
    record(POINTS, path)
    with path.open("a") as lines:
        lines.write(line + "\n")
    with pytest.raises(RegimeError, match=said):
        read(path)
    record(replace(POINTS, what="walks"), path := tmp_path / "other.jsonl")  # type: ignore[arg-type]
    with pytest.raises(RegimeError, match="jsonl:1: tried 'walks'; expected one of points, sequences"):
        read(path)


def test_a_fuzz_target_without_its_numbers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["nat_fuzz", "many", "0", "60"], ["nat_fuzz", "1", "0", "60", "x"]):
        assert main(words) == 2
        assert "TARGET EXECUTIONS FAULTS SECONDS" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "line"), [(0, "nat_fuzz 1234 0"), (1, "nat_fuzz 0 1"), (72, "nat_fuzz 1234 0")]
)
def test_fuzzing_writes_down_what_each_target_executed(code: int, line: str, tmp_path: Path) -> None:
    """Of a target that is a script, with a python that is one, too. 72: of one that somebody ends."""
    (tmp_path / "native/nf/nat/nat_fuzz_corpus").mkdir(parents=True)
    (tmp_path / "build").mkdir()
    target, python = tmp_path / "build/nat_fuzz", tmp_path / "python"
    target.write_text(f"#!/bin/sh\necho 'stat::number_of_executed_units: 1234'\nexit {code}\n")
    python.write_text('#!/bin/sh\necho "$@" >> written\n')
    for one in (target, python):
        one.chmod(0o755)
    words = [str(ROOT / "tools/fuzz"), "build", "7", "./python"]
    for recorded in ("", "1"):
        environ = os.environ | {VARIABLE: recorded}
        done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == (130 if code == 72 else code), done.stderr
    *written, took_s = (tmp_path / "written").read_text().split(" ")
    assert " ".join(written) == f"-m tools.regime {line}"
    assert 0 <= int(took_s) <= 7
