# SPDX-License-Identifier: Apache-2.0
"""A figure in a lab's README is of a commit that is named, or the page says that it cannot be traced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
COMMIT = re.compile(r"\bcommit [0-9a-f]{7,40}\b")
UNTRACED = re.compile(
    r"before (?:commits were recorded|models recorded their commit)\b.{0,90}?: not comparable", re.S
)
SHARE_OF_TIME = re.compile(r"([\d,.]+)\s?% of (?:the|its) time")


def untraced(text: str) -> list[str]:
    """Paragraphs that have a date and no commit, in a page that does not say so."""
    if UNTRACED.search(" ".join(text.split())):
        return []
    return [
        one for one in text.split("\n\n") if DATE.search(one) and not COMMIT.search(" ".join(one.split()))
    ]


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("labs/*/README.md")), ids=lambda page: str(page.parent.name)
)
def test_what_was_measured_has_a_commit_or_is_said_to_be_not_comparable(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert untraced(text) == []
    assert [one for one in SHARE_OF_TIME.findall(text) if float(one.replace(",", "")) > 100] == []


def test_a_figure_that_nobody_can_trace_is_seen() -> None:
    line = "`weir run labs/epa --quick`, 2026-11-21, on AMD EPYC"
    assert untraced(f"# Lab\n\n{line}\n") == [f"{line}\n"]
    assert untraced(f"{line}, commit\n20af4ce7eeca") == []
    assert untraced(f"*From before commits\nwere recorded: not comparable.*\n\n{line}") == []
