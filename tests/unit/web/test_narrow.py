# SPDX-License-Identifier: Apache-2.0
"""Pages on a telephone: what is wider than the screen scrolls in its own frame, not the page."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.report.browser import load_page, needs_chromium
from tests.report.disturbed import disturbed
from tests.report.synthetic import result
from weir import report
from weir.results.result import Result

from .test_accessible import PAGES, with_assets

pytestmark = [pytest.mark.long, needs_chromium]

WIDTH_PX = 400
FRAME = """<!doctype html><body style="margin:0">
<iframe id="page" style="border:0;width:%(width)dpx;height:900px" srcdoc="%(page)s"></iframe>
<script>
const frame = document.getElementById('page');
frame.addEventListener('load', () => setTimeout(() => {
  const inside = frame.contentDocument, page = inside.documentElement, wide = [];
  for (const one of inside.body.querySelectorAll('*')) {
    const framed = one.parentElement.closest('.scroll, .links, svg, [tabindex]');
    const { right } = one.getBoundingClientRect();
    if (!framed && right > page.clientWidth + 1) wide.push(one.outerHTML.slice(0, 120));
  }
  document.body.dataset.wide = JSON.stringify([page.clientWidth, page.scrollWidth, wide]);
}, 300));
</script>"""


def require_narrow(text: str, folder: Path) -> None:
    dom, _ = load_page(FRAME % {"width": WIDTH_PX, "page": html.escape(text)}, folder)
    said = dom.partition('data-wide="')[2].partition('"')[0]
    width_px, wanted_px, wide = json.loads(html.unescape(said))
    assert width_px <= WIDTH_PX
    assert wanted_px == width_px, wide


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_no_wider_than_the_screen(weir: TestClient, tmp_path: Path, page: str) -> None:
    answer = weir.get(page)
    assert answer.status_code == 200
    require_narrow(with_assets(answer.text, weir), tmp_path)


@pytest.mark.parametrize("made", [result(), disturbed()], ids=["plain", "disturbed"])
def test_neither_is_a_report(made: Result, tmp_path: Path) -> None:
    require_narrow(report.render(made, "html"), tmp_path)
