# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING's walk-throughs, performed in a copy of the source: files of its code blocks, and its diffs.

The tests have no text of their own, so page and test cannot part."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(title: str) -> list[tuple[str, str, str]]:
    """Of the section with that heading: path, language and text of each code block that belongs to a file."""
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert section is not None, f"CONTRIBUTING.md has no section {title!r}"
    return [(path, language, text) for path, language, text in BLOCK.findall(section[1])]


def perform(title: str, copy: Path) -> None:
    """Does in `copy`, a source tree, what the section says."""
    for path, language, text in blocks(title):
        file = copy / path
        if language == "diff":
            _change(file, text)
        else:
            assert not file.exists(), f"{path} is there already"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def _change(file: Path, diff: str) -> None:
    before, after = ("".join(_side(diff, sign)) for sign in "-+")
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{file}: CONTRIBUTING.md changes lines that are not there:\n{before}"
    file.write_text(text.replace(before, after), encoding="utf-8")


def _side(diff: str, sign: str) -> Iterator[str]:
    return (line[1:] for line in diff.splitlines(keepends=True) if line[0] in (" ", sign))


def copied(target: Path, *parts: str) -> Path:
    """A source tree with these files and directories of this one."""
    for part in parts:
        source, copy = ROOT / part, target / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    return target
