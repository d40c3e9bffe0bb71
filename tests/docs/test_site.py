# SPDX-License-Identifier: Apache-2.0
"""The documentation as HTML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs import site


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


@pytest.mark.parametrize("link", ["nothing.md", "docs/design/method.md#nowhere", "#nowhere"])
def test_a_link_to_nothing_is_reported(root: Path, tmp_path: Path, link: str) -> None:
    (root / "README.md").write_text(f"# Top\n\n[x]({link})\n", encoding="utf-8")
    (problem,) = site.render(root, tmp_path / "site")
    assert problem.startswith("README.md: ")
