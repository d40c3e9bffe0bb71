# SPDX-License-Identifier: Apache-2.0
"""The front page judges all labs, also those that it has no room for."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from weir.results.result import Result
from weir.web.pages import front

from .stored import CHANGED, client, filled, nightly
from .test_odd import damage
from .test_pages import text_of


def of_lab(lab: str, night: int, year: int = 2026) -> Result:
    run = nightly(night)
    run.id, run.lab, run.title = f"{lab}-{night}", lab, lab
    run.started_at = run.started_at.replace("2026", str(year))
    run.finished_at = run.started_at
    for setup in run.setups:
        setup.cases = setup.cases[:1]
    return run


def crowded(place: Path) -> Path:
    """As many labs as there is room for, and an older one that became worse and better."""
    newer = [of_lab(f"lab{number}", 1) for number in range(front.IN_FULL)]
    return filled(place, [*newer, *(of_lab("old", night, 2025) for night in range(CHANGED - 6, CHANGED + 6))])


def worse_and_others(weir: TestClient) -> tuple[str, str]:
    said = text_of(weir.get("/").text)
    worse, _, others = said.partition("Other labs")
    return worse.partition("on a worse level than before")[2], others


def test_a_lab_without_room_that_became_worse_is_said_above_and_in_its_line(tmp_path: Path) -> None:
    weir = client(crowded(tmp_path / "results.db"))
    for _ in range(2):  # the second one is remembered
        worse, others = worse_and_others(weir)
        assert worse.startswith(" 1 figure Worse than before")
        assert "old direct PVP 64 NDR on alpha ▼ -1" in worse
        assert "old 12 runs, 2025-02-06 01:00 UTC 1 worse , 1 better" in others


def test_a_lab_without_room_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    store = crowded(tmp_path / "results.db")
    damage(
        store,
        "UPDATE weir_figure SET samples = 'not a list' WHERE number = (SELECT max(number) FROM weir_figure)",
    )
    worse, others = worse_and_others(client(store))
    assert worse.startswith(" cannot be said yet")
    assert "its figures cannot be read" in others


def test_of_one_figure_there_is_no_all(tmp_path: Path) -> None:
    one = of_lab("single", 1)
    one.setups = one.setups[:1]
    said = text_of(client(filled(tmp_path / "results.db", [one])).get("/").text)
    assert "The figure, history and runs of single" in said
