# SPDX-License-Identifier: Apache-2.0
"""The documentation as HTML."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.docs import site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "design").mkdir(parents=True)
    (tmp_path / "README.md").write_text("# Top\n\n[method](docs/design/method.md#a-b-c)\n", encoding="utf-8")
    (tmp_path / "docs" / "design" / "method.md").write_text(
        "# Method\n\n## A, `b` & c\n\n## a b c\n\n[up](../../README.md) [data](../data.json)\n\n"
        "```yaml\nkey: <value>\n```\n",
        encoding="utf-8",
    )
    (tmp_path / "docs" / "data.json").write_text("{}", encoding="utf-8")
    return tmp_path


def test_links_between_pages_lead_to_the_html_pages(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    assert site.render(root, out) == []
    assert 'href="docs/design/method.html#a-b-c"' in (out / "index.html").read_text(encoding="utf-8")
    page = (out / "docs" / "design" / "method.html").read_text(encoding="utf-8")
    assert 'href="../../index.html"' in page
    assert 'href="../data.json"' in page
    assert (out / "docs" / "data.json").read_text(encoding="utf-8") == "{}"


def test_code_is_escaped_and_every_page_is_in_the_navigation(root: Path, tmp_path: Path) -> None:
    site.render(root, tmp_path / "site")
    page = (tmp_path / "site" / "docs" / "design" / "method.html").read_text(encoding="utf-8")
    assert "&lt;value&gt;" in page
    assert 'aria-current="page">Method</a>' in page
    assert ">Top</a>" in page


@pytest.mark.long
def test_every_table_is_one(tmp_path: Path) -> None:
    """A blank line in one makes a paragraph of its rows."""
    site.render(Path(__file__).parents[2], tmp_path / "site")
    pages = [*(tmp_path / "site").rglob("*.html")]
    assert len(pages) > 50
    assert [page.name for page in pages if "<p>|" in page.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("link", ["nothing.md", "docs/design/method.md#nowhere", "#nowhere"])
def test_a_link_to_nothing_is_reported(root: Path, tmp_path: Path, link: str) -> None:
    (root / "README.md").write_text(f"# Top\n\n[x]({link})\n", encoding="utf-8")
    (problem,) = site.render(root, tmp_path / "site")
    assert problem.startswith("README.md: ")


def test_a_page_has_its_headings_beside_it_and_the_index_all_of_them(root: Path, tmp_path: Path) -> None:
    site.render(root, tmp_path / "site")
    page = (tmp_path / "site" / "docs" / "design" / "method.html").read_text(encoding="utf-8")
    assert '<ul class="contents"><li><a href="#a-b--c">A, b &amp; c</a></li>' in page
    assert '<script src="../../search-index.js"></script>' in page
    index = (tmp_path / "site" / "search-index.js").read_text(encoding="utf-8")
    entries = json.loads(index.removeprefix("const WEIR_PAGES = ").removesuffix(";\n"))
    assert [(entry["page"], entry["to"], entry["head"]) for entry in entries] == [
        ("Top", "index.html", "Top"),
        ("Method", "docs/design/method.html", "Method"),
        ("Method", "docs/design/method.html#a-b--c", "A, b & c"),
        ("Method", "docs/design/method.html#a-b-c", "a b c"),
    ]
    assert "key: <value>" in entries[-1]["text"]


def test_every_page_of_the_documentation_is_in_the_list_once() -> None:
    listed = [path for _, patterns in site.SECTIONS for pattern in patterns for path in ROOT.glob(pattern)]
    assert sorted(listed) == sorted({*listed, *(ROOT / "docs").rglob("*.md")})


def found(root: Path, out: Path, typed: str) -> list[str]:
    """Where the search leads somebody who types that, best first."""
    site.render(root, out)
    page = out / "docs" / "design" / "method.html"
    typing = (
        f"<script>const field = document.getElementById('wanted'); field.value = {json.dumps(typed)};"
        "field.dispatchEvent(new Event('input'));</script>"
    )
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{typing}</body>"), encoding="utf-8")
    shown = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    hits = shown.partition('<ol id="found"')[2].partition("</ol>")[0]
    return re.findall(r'<a href="\.\./\.\./([^"]*)">', hits)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("c KEY", ["docs/design/method.html#a-b-c"]),
        ("what are weirs", ["docs/how-to/explain-a-result.html#weir", "docs/design/method.html#a-b-c"]),
        ("up data", ["docs/how-to/explain-a-result.html#short", "docs/design/method.html#a-b-c"]),
    ],
    ids=["every word", "headings, and not what every page has", "a page for work, a short section"],
)
def test_the_search_finds_what_was_meant_first(
    root: Path, tmp_path: Path, typed: str, best: list[str]
) -> None:
    method = root / "docs" / "design" / "method.md"
    method.write_text(method.read_text(encoding="utf-8") + "\nA weir, and a weir, and what a weir is not.\n")
    (root / "docs" / "how-to").mkdir()
    (root / "docs" / "how-to" / "explain-a-result.md").write_text(
        "# Explain\n\n## Weir\n\nIt is there.\n\n## Short\n\nUp, data.\n", encoding="utf-8"
    )
    assert found(root, tmp_path / "site", typed) == best
