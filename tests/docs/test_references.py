# SPDX-License-Identifier: Apache-2.0
"""What code and pages cite is on the page of references."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

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


KEYS = frozenset(re.findall(r"^### \[(\w+)\]$", PAGE, re.MULTILINE))
"""Of papers."""
NO_KEYS = frozenset({"FOLDER", "LAB"})
"""Arguments of commands."""


def test_every_key_of_a_paper_that_pages_use_is_a_heading_there() -> None:
    used = {key for text in texts() for key in re.findall(r"\[\[(\w+)\]\]\(", text)}
    assert KEYS
    assert used <= KEYS


def said(path: Path) -> Iterator[str]:
    """Comments and docstrings of a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from re.findall(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield docstring


@pytest.mark.long
def test_every_key_of_a_paper_in_a_comment_is_a_heading_there() -> None:
    """[Lean] is a key; a word in small letters, as of an array's index, is none."""
    used = {
        key
        for folder in ("src", "native", "bench", "tests/simulated", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".c", ".h"}
        for comment in said(path)
        for key in re.findall(r"(?<![\w\[\]])\[([a-z]*[A-Z]\w*)\](?!\()", comment)
    }
    assert used & KEYS
    assert used - NO_KEYS <= KEYS
