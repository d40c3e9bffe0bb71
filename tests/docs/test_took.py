# SPDX-License-Identifier: Apache-2.0
"""How long `make test` takes is printed with what it depends on; pages say it alike, and that it is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.conditions import Conditions, Machine
from tools.took import sentence

ROOT = Path(__file__).resolve().parents[2]
MAKE_TEST = re.compile(
    r"make test`? (?:takes|#.*;) (\w+) minutes (?:\([^)]*\) )?to (\w+) "
    r"\((?:AMD EPYC without it; )?target: (\w+), MISSED"
)


def test_the_line_has_the_commit_and_the_machine() -> None:
    on = Conditions("0123456789ab", "2026-11-27", Machine("AMD EPYC", 2, "KVM", "6.18"))
    assert sentence("make test", 754.6, on) == (
        "took: make test 12 min 35 s, commit 0123456789ab, 2026-11-27, on AMD EPYC, 2 cores of a virtual "
        "machine (KVM)"
    )


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_pages_say_about_how_long_make_test_takes_and_that_its_target_is_missed(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert [found.groups() for found in MAKE_TEST.finditer(text)] == [("eight", "twelve", "ten")]
