# SPDX-License-Identifier: Apache-2.0
"""The page's script writes numbers and frames as the tables beside its plots do; in headless Chromium."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from weir.base.packet_rate import significant
from weir.lab.frames import CAPTURE, CONNECTIONS, JUMBO, SIMPLE_IMIX
from weir.report import numbers, summary

from .browser import load_page, needs_chromium

pytestmark = needs_chromium

RATIOS = (
    0, 0.25, 0.005, 1e-5, 1e-6, 1e-7, 1.26e-9, 0.691, 0.0996, 0.994, 0.995, 0.996, 0.9974, 0.9994, 0.9996,
    0.99999999, 1,
)  # fmt: skip
RATES = (0, 0.00213, 0.0213, 0.2134, 2.1134, 9.9996, 21.3, 99.996, 213.4, 999.94, 999.96, 1000, 2134.4)
FRAMES = ("64", JUMBO, SIMPLE_IMIX, "imix:aaaaaaaddddg", "imix:aaA:A=570", CAPTURE, CONNECTIONS)


SAID: Mapping[str, Mapping[Any, str]] = {
    "share": {one: numbers.share(one) for one in RATIOS},
    "digits": {one: significant(one) for one in RATES},
    "frameLabel": {one: summary.sizes(one) for one in FRAMES},
}
"""What the tables say of each, by the script's function for it."""


@pytest.mark.long
def test_shares_rates_and_frames_of_plots_are_written_as_in_the_tables(tmp_path: Path) -> None:
    script = resources.files("weir.report.page").joinpath("assets/data.js").read_text(encoding="utf-8")
    calls = [f"{call}: {json.dumps(list(said))}.map({call})" for call, said in SAID.items()]
    told = f"document.title = JSON.stringify({{{', '.join(calls)}}});"
    page = f'<meta charset="utf-8"><title></title><script>{script}\n{told}</script>'
    dom, console = load_page(page, tmp_path)
    assert not console
    title = dom.partition("<title>")[2].partition("</title>")[0]
    assert json.loads(title) == {call: list(said.values()) for call, said in SAID.items()}
