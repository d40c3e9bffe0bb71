# SPDX-License-Identifier: Apache-2.0
"""What `make test` leaves out has a target that runs it, and CI runs what is not slow."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MARKED = re.compile(r"^\s*(@?pytest\.mark\.slow\b|.*\bmarks=(\[[^]]*)?pytest\.mark\.slow\b)", re.MULTILINE)


def slow_files() -> list[str]:
    """Those with a test that is marked so, alone or with others."""
    return [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if MARKED.search(path.read_text(encoding="utf-8"))
    ]


def run_by_targets() -> set[str]:
    """Files and folders that a recipe gives to `pytest -m slow`."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    for name, value in re.findall(r"^(\w+) := (.*)$", makefile, re.MULTILINE):
        makefile = makefile.replace(f"$({name})", value)
    recipes = re.findall(r"^\t.*-m pytest (.* )?-m slow (.*)$", makefile, re.MULTILINE)
    return {place for _, words in recipes for place in re.findall(r"tests/[\w/.]*\w", words)}


@pytest.mark.parametrize("file", slow_files())
def test_a_slow_test_is_run_by_a_target(file: str) -> None:
    places = {file, *(str(folder) for folder in Path(file).parents)}
    assert places & run_by_targets(), (
        f"no target of the Makefile runs the slow tests of {file}: add it to one"
    )


def test_a_target_names_only_what_is_there() -> None:
    assert [place for place in run_by_targets() if not (ROOT / place).exists()] == []


def test_ci_runs_what_is_long_too() -> None:
    targets = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split()
    assert {"test", "test-long", "--keep-going"} <= set(targets)
    assert "-m 'not slow and not long'" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    marks = re.findall(r"\t\$\(call both-ways,(.*?),", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert marks == ["not slow and not long", "long and not slow"]
