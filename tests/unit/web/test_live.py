# SPDX-License-Identifier: Apache-2.0
"""A run that is still measured is shown trial by trial, and its stream ends when it does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.exceptions import HTTPException

from tests.unit.store.made import case, run, setup, trial
from weir.results.result import Result, Trial
from weir.store.progress import progress
from weir.store.store import Store
from weir.web import live
from weir.web.live import Live
from weir.web.pages.run import found
from weir.web.reading import Reading

from .stored import client, filled, nightly


def began(store: Store, name: str = "running-1") -> tuple[Result, int]:
    """A run that is being measured, and its setup's number."""
    result = run(name, lab="nightly").model_copy(update={"title": "Every night", "quick": False})
    result.fingerprint.host = "alpha"
    store.begin(result)
    return result, store.add_setup(name, setup())


def searched(load_pps: float, loss_ratio: float, *, valid: bool = True) -> Trial:
    return trial(load_pps).model_copy(update={"loss_ratio": loss_ratio, "valid": valid})


def at(place: Path, name: str) -> tuple[Reading, int]:
    reading = Reading(str(place))
    return reading, found(reading, name).number


def test_bounds_close_in_by_the_valid_trials_of_the_newest_case(tmp_path: Path) -> None:
    place = filled(tmp_path / "results.db", [])
    with Store(place) as store:
        _, number = began(store)
        for one in (searched(4e6, 0.5), searched(1e6, 0.0), searched(2e6, 0.0), searched(3e6, 0.1)):
            store.add_trial(number, "64", 64.0, one)
        store.add_trial(number, "64", 64.0, searched(2.5e6, 0.0, valid=False))
        reading, row = at(place, "running-1")
        with reading.store() as reads:
            now = progress(reads, row)
        assert (now.trials, now.without_loss_pps, now.with_loss_pps) == (5, 2e6, 3e6)
        assert [one.load_pps for one in now.newest] == [2.5e6, 3e6, 2e6, 1e6, 4e6]
        assert not now.finished
        store.add_trial(number, "1518", 1518.0, searched(1e5, 0.0))
        with reading.store() as reads:
            now = progress(reads, row)
        assert (now.trials, now.without_loss_pps, now.with_loss_pps) == (6, 1e5, None)
        assert now.newest[0].frame == "1518"


def test_when_it_would_end_is_told_by_finished_runs_of_the_lab_on_that_host(tmp_path: Path) -> None:
    took_s = {0: 600, 1: 900, 2: 1200}
    runs = [nightly(night).model_copy(deep=True) for night in took_s]
    for one, seconds in zip(runs, took_s.values(), strict=True):
        end_s = datetime.fromisoformat(one.started_at).timestamp() + seconds
        one.finished_at = datetime.fromtimestamp(end_s, UTC).isoformat()
    elsewhere = nightly(3, host="beta").model_copy(update={"finished_at": "2027-01-01T00:00:00Z"})
    place = filled(tmp_path / "results.db", [*runs, elsewhere])
    with Store(place) as store:
        began(store)
    reading, row = at(place, "running-1")
    with reading.store() as reads:
        now = progress(reads, row)
    assert now.usual_s == 900
    said = live.said(now, "2026-11-21T06:00:00Z")
    assert ["runs of this lab take", "15 min 0 s"] in [list(fact) for fact in said["facts"]]  # type: ignore[attr-defined]
    assert ["would end", "06:15 UTC"] in [list(fact) for fact in said["facts"]]  # type: ignore[attr-defined]


async def next_of(stream: AsyncIterator[str]) -> tuple[str, Any]:
    """The name and data of the next event."""
    with anyio.fail_after(10):
        while True:
            text = await anext(stream)
            if text.startswith("event: "):
                name, _, data = text.removeprefix("event: ").rstrip("\n").partition("\ndata:")
                return name, json.loads(data) if data else None


def test_each_trial_is_an_event_and_the_end_of_the_run_is_the_last_one(tmp_path: Path) -> None:
    place = filled(tmp_path / "results.db", [])
    with Store(place) as store:
        result, number = began(store)
        reading, _ = at(place, "running-1")

        async def watch() -> None:
            answer = Live(reading).answer(found(reading, "running-1"))
            assert answer.media_type == "text/event-stream"
            stream: AsyncIterator[Any] = aiter(answer.body_iterator)
            name, data = await next_of(stream)
            assert (name, data["trials"]) == ("progress", [])
            for count, load_pps in enumerate((1e6, 2e6), start=1):
                store.add_trial(number, "64", 64.0, searched(load_pps, 0.0))
                name, data = await next_of(stream)
                assert name == "progress"
                assert data["facts"][0] == ["trials", str(count)]
                assert data["trials"][0] == ["direct PVP 64 B", "search", f"{count}.000", "1.00 s", "0"]
            store.add_case(number, case())
            await next_of(stream)
            store.update(result.model_copy(update={"finished_at": "2026-11-21T06:05:00Z"}))
            name, _ = await next_of(stream)
            assert name == "progress"
            assert await next_of(stream) == ("finished", None)
            with pytest.raises(StopAsyncIteration):
                await anext(stream)

        anyio.run(watch)


def test_streams_end_with_the_server_and_there_are_not_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "STREAMS_MOST", 1)
    place = filled(tmp_path / "results.db", [])
    with Store(place) as store:
        began(store)
    reading, _ = at(place, "running-1")
    one = Live(reading)
    summary = found(reading, "running-1")

    async def watch() -> None:
        stream: AsyncIterator[Any] = aiter(one.answer(summary).body_iterator)
        await next_of(stream)
        with pytest.raises(HTTPException, match="live pages are open already"):
            one.answer(summary)
        one.end()
        with anyio.fail_after(5):
            assert [event async for event in stream] == []
        one.answer(summary)  # that one's place is free again

    anyio.run(watch)


def test_of_streams_that_are_asked_for_at_once_no_more_begin_than_there_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "STREAMS_MOST", 1)
    place = filled(tmp_path / "results.db", [])
    with Store(place) as store:
        began(store)
    reading, _ = at(place, "running-1")
    one = Live(reading)
    summary = found(reading, "running-1")

    async def watch() -> None:
        first, second = one.answer(summary), one.answer(summary)
        await next_of(aiter(first.body_iterator))  # type: ignore[arg-type]
        with anyio.fail_after(5):
            assert [event async for event in second.body_iterator] == []

    anyio.run(watch)


def test_the_page_of_a_run_that_is_measured_asks_for_its_events_and_that_of_a_finished_one_does_not(
    tmp_path: Path,
) -> None:
    place = filled(tmp_path / "results.db", [nightly(0)])
    with Store(place) as store:
        result, _ = began(store)
        weir = client(place)
        assert 'data-events="/events?name=running-1"' in weir.get("/runs/running-1").text
        store.update(result.model_copy(update={"interrupted": True}))
    assert "data-events" not in weir.get("/runs/running-1").text
    assert "data-events" not in weir.get("/runs/nightly-00").text
    assert weir.get("/events?name=nowhere").status_code == 404
