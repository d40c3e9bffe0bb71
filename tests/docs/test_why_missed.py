# SPDX-License-Identifier: Apache-2.0
"""Why targets are missed is said of the table's figures, or of those of a commit that is named."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache

import pytest

from bench.catalogue import ALL
from tools import benches
from tools.bench_pages import BENCHES_PAGE, Row, asked, times

TITLE = "## Why a target is missed\n"
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\]\([^)]*\)")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
COMMIT = re.compile(r"\bcommit ([0-9a-f]{7,40})\b")
FIGURE = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")


def paragraphs() -> list[str]:
    text = (benches.ROOT / BENCHES_PAGE).read_text(encoding="utf-8")
    return [" ".join(one.split()) for one in text.split(TITLE)[1].split("\n\n") if one.strip()]


@cache
def rows() -> list[Row]:
    found: list[Row] = json.loads(benches.RESULTS.read_text(encoding="utf-8"))
    return found


def figures(paragraph: str) -> set[str]:
    """All numbers in it but those of dates, commits, links, names and commands."""
    for gone in (CODE, LINK, DATE, COMMIT):
        paragraph = gone.sub(" ", paragraph)
    return {one.rstrip(",") for one in FIGURE.findall(paragraph)}


def known(paragraph: str) -> set[str]:
    """What the results say of the benches that it names: by a name of a row, of a bench, or its beginning."""
    named = [one.strip("`") for one in CODE.findall(paragraph)]
    said: set[str] = set()
    for row in rows():
        if "skipped" in row or not any(name in (row["name"], row["bench"]) for name in named):
            continue
        said |= {times(row[key]) for key in ("ratio", "min", "max")}
        said |= set() if row["target"] is None else {asked(row)}
        said |= set(FIGURE.findall(row["against"]))
        said |= {times(float(ns)) for key, ns in row.get("detail", {}).items() if key.endswith("_ns")}
    return said


@pytest.mark.parametrize("paragraph", paragraphs(), ids=lambda text: text[:30])
def test_a_figure_is_of_the_table_or_of_a_commit_and_date_that_stand_beside_it(paragraph: str) -> None:
    if COMMIT.search(paragraph) and DATE.search(paragraph):
        return
    assert not COMMIT.search(paragraph), "a commit without its date"
    assert figures(paragraph) <= known(paragraph)


@pytest.mark.parametrize(
    ("paragraph", "unknown"),
    [
        ("**`bring-up`** is met: 2.65, and 9.", {"2.65", "9"}),
        ("**Firewall.** With `acl`, rte_acl takes 166 ns a packet.", {"166"}),
        (
            "**`generator-flowgen`.** No pair of 40,000 reached it (1.17 to 1.27, `x 5`).",
            {"40,000", "1.17", "1.27"},
        ),
    ],
)
def test_figures_of_no_table_are_seen(paragraph: str, unknown: set[str]) -> None:
    assert figures(paragraph) - known(paragraph) == unknown


def git(*words: str) -> subprocess.CompletedProcess[str]:
    path = str(benches.ROOT)
    argv = ["git", "-c", f"safe.directory={path}", "-C", path, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_commits_that_are_named_are_in_the_repository() -> None:
    shallow = git("rev-parse", "--is-shallow-repository")
    if shallow.stdout.strip() != "false":
        pytest.skip("this tree has no history to look into")
    page = (benches.ROOT / BENCHES_PAGE).read_text(encoding="utf-8")
    for commit in {*COMMIT.findall(page), *(row["commit"] for row in rows())}:
        assert git("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0, commit


def test_what_the_section_calls_a_bench_is_one() -> None:
    heads = [re.match(r"\*\*(.*?)\*\*", one) for one in paragraphs()]
    names = {name.strip("`") for head in heads if head for name in CODE.findall(head.group(1))}
    of_rows = {row["name"] for row in rows()}
    begun = {
        name for name in names if any(one.startswith(f"{name}-") or one == name for one in (*ALL, *of_rows))
    }
    assert names - begun == {"uniform"}  # a kind of rules
