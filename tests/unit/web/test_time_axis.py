# SPDX-License-Identifier: Apache-2.0
"""Ticks of a history's time axis are told apart."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tests.report.browser import load_page, needs_chromium

pytestmark = [pytest.mark.long, needs_chromium]

HOUR_S, DAY_S = 3600, 86400
JULY_S = 1782864000
"""2026-07-01 00:00 UTC."""


def ticks(step_s: int, count: int, folder: Path) -> list[str]:
    script = files("weir.web").joinpath("assets", "history.js").read_text()
    splits = [JULY_S + step_s * at for at in range(count)]
    page = f"<body><script>{script}\ndocument.body.dataset.ticks = days(null, {splits}).join();</script>"
    dom, _ = load_page(page, folder)
    return dom.partition('data-ticks="')[2].partition('"')[0].split(",")


@pytest.mark.parametrize(
    ("step_s", "said"),
    [
        (8 * HOUR_S, ["07-01", "08:00", "16:00", "07-02", "08:00", "16:00", "07-03"]),
        (4 * HOUR_S, ["00:00", "04:00", "08:00", "12:00", "16:00", "20:00", "00:00"]),
        (DAY_S, ["07-01", "07-02", "07-03", "07-04", "07-05", "07-06", "07-07"]),
        (184 * DAY_S, ["2026-07", "2027-01", "2027-07", "2028-01", "2028-07", "2029-01", "2029-07"]),
    ],
)
def test_a_day_stands_once_and_then_its_times(step_s: int, said: list[str], tmp_path: Path) -> None:
    assert ticks(step_s, len(said), tmp_path) == said
