# SPDX-License-Identifier: Apache-2.0
"""Pages of `weir serve` and reports keep what axe knows of WCAG 2.1 AA and good practice, in light and dark.

That is the part of WCAG that a program can judge; the rest is looked at.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.report.browser import load_page, needs_chromium
from tests.report.synthetic import result
from weir import report

pytestmark = [pytest.mark.long, needs_chromium]

PAGES = (
    "/",
    "/labs/nightly",
    "/runs/nightly-39",
    "/compare?side=nightly-39&side=nightly-10",
    "/model",
    "/campaigns/nightly-on-hosts-1",
    "/labs/hosts",
    "/runs/hosts-beta",
)
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
AXE = resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
ASSET = re.compile(r'<(?:link|script)[^>]*(?:href|src)="(/assets/[^"]+\.(css|js)[^"]*)"[^>]*>(?:</script>)?')
JUDGED = """
window.addEventListener('load', () => setTimeout(async () => {
  // It cannot tell a text's contrast above a gradient, such as the shadow that says that a table scrolls.
  const plain = document.createElement('style');
  plain.textContent = '* { background-image: none !important; }';
  document.head.append(plain);
  const found = {};
  for (const theme of ['light', 'dark']) {
    document.documentElement.dataset.theme = theme;
    found[theme] = await axe.run(document, { runOnly: %(rules)s });
  }
  const said = document.createElement('script');
  said.type = 'application/json';
  said.id = 'judged';
  const one = (of) => of.nodes.map((node) => `${of.id}: ${of.help}: ${node.html.slice(0, 200)}`);
  said.textContent = JSON.stringify(Object.entries(found).map(([theme, of]) =>
    [theme, of.violations.flatMap(one), of.passes.map((of) => of.id)]));
  document.body.append(said);
}, 300));
"""


def judged(html: str, folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """In light and dark: what it found against the page, and the rules that the page keeps."""
    script = AXE + JUDGED % {"rules": json.dumps(RULES)}
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    assert "</script" not in script
    dom, console = load_page(html.replace("<head>", f"<head><script>{script}</script>", 1), folder)
    said = dom.partition('<script type="application/json" id="judged">')[2].partition("</script>")[0]
    assert said, console
    return {theme: (against, kept) for theme, against, kept in json.loads(said)}


def keeps_all(html: str, folder: Path) -> None:
    found = judged(html, folder)
    assert {*found} == {"light", "dark"}
    for theme, (against, kept) in found.items():
        assert against == [], theme
        assert {"document-title", "html-has-lang", "color-contrast"} <= set(kept), theme


def with_assets(html: str, weir: TestClient) -> str:
    """The page as one file."""

    def inline(found: re.Match[str]) -> str:
        text = weir.get(found[1]).text
        return f"<style>{text}</style>" if found[2] == "css" else f"<script>{text}</script>"

    return ASSET.sub(inline, html)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_is_served(weir: TestClient, tmp_path: Path, page: str) -> None:
    answer = weir.get(page)
    assert answer.status_code == 200
    keeps_all(with_assets(answer.text, weir), tmp_path)


def test_a_report(tmp_path: Path) -> None:
    keeps_all(report.render(result(), "html"), tmp_path)


def test_it_finds_what_is_wrong(weir: TestClient, tmp_path: Path) -> None:
    wrong = '<p style="color: #999; background: #888">x y z</p><img src="x">'
    page = with_assets(weir.get("/nothing").text, weir)
    assert "</main>" in page
    for against, _ in judged(page.replace("</main>", f"{wrong}</main>", 1), tmp_path).values():
        assert {"color-contrast", "image-alt"} <= {one.partition(":")[0] for one in against}
