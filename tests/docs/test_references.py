# SPDX-License-Identifier: Apache-2.0
"""What code and pages cite is on the page of references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "design" / "references.md").read_text(encoding="utf-8")
LISTED = r"^\| RFC (\d+(?:, \d+)*) \|"


def texts() -> Iterator[str]:
    for folder in ("src", "native", "docs", "labs", "bench"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".c", ".h", ".md", ".yml"} and path.name != "references.md":
                yield path.read_text(encoding="utf-8")


def test_every_rfc_that_is_cited_is_listed() -> None:
    listed = {number for row in re.findall(LISTED, PAGE, re.MULTILINE) for number in row.split(", ")}
    cited = {number for text in texts() for number in re.findall(r"\bRFC (\d{3,4})\b", text)}
    assert cited - listed == set()
    assert listed - cited == set(), "nothing cites these any more"


def test_every_key_of_a_paper_that_pages_use_is_a_heading_there() -> None:
    keys = set(re.findall(r"^### \[(\w+)\]$", PAGE, re.MULTILINE))
    used = {key for text in texts() for key in re.findall(r"\[\[(\w+)\]\]\(", text)}
    assert keys
    assert used <= keys
