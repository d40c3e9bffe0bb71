# SPDX-License-Identifier: Apache-2.0
"""Loads of connections stand beside each other as rates of packets do: in comparisons, trends and exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.unit.store.made import run, setup
from weir.cli.main import app
from weir.results.comparison import Comparison
from weir.results.connections import Connections, ConnectionsFound
from weir.results.result import Case, Result
from weir.results.trend import Trend
from weir.store.rows import add_run
from weir.store.store import Store

runner = CliRunner()


def loaded(run_id: str, per_s: float, day: int, **more: Any) -> Result:
    """Three searches of new connections; one number of those open at once, as older versions have it; payload
    of 2 Gbit/s."""
    found = [
        ConnectionsFound(
            goal="new-connections",
            success_ratio=0.99999,
            load=per_s,
            loads=[0.998 * per_s, per_s, 1.002 * per_s],
            **more,
        ),
        ConnectionsFound(goal="concurrent-connections", success_ratio=0.99999, load=65_536),
        ConnectionsFound(goal="throughput", success_ratio=0.99999, load=2e9, loads=[1.99e9, 2e9, 2.01e9]),
        ConnectionsFound(goal="transactions", success_ratio=0.99999, why="Nothing comes through."),
    ]
    record = Connections(services=[], sources=100, found=found)
    one = run(run_id).model_copy(deep=True)
    one.started_at = one.finished_at = f"2026-03-{day:02}T01:00:00Z"
    one.setups = [setup()]
    one.setups[0].cases = [
        Case(frame="connections", mean_frame_bytes=0, records={"connections": record.model_dump(mode="json")})
    ]
    return one


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve nights; from the seventh on 20 % fewer."""
    place = tmp_path_factory.mktemp("connections") / "results.db"
    with Store(place) as store, store.session(writing=True) as session:
        for night in range(12):
            rate = (10_000 if night < 6 else 8_000) * (1 + 0.001 * (night % 3))
            add_run(session, loaded(f"night-{night:02}", rate, night + 1), [])
    return str(place)


def said(*words: str, store: str) -> str:
    done = runner.invoke(app, [*words, "--store", store])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_new_connections_a_second_are_compared_by_their_searches(store: str) -> None:
    found = Comparison.read(said("compare", "night-00", "night-06", "--json", store=store))
    by_what = {one.what: one for one in found.changes}
    rate = by_what["new-connections"]
    assert (rate.unit, rate.outcome, rate.samples_before, rate.samples_after) == ("per_s", "worse", 3, 3)
    assert rate.change == pytest.approx(-0.2, abs=0.001)
    assert (by_what["concurrent-connections"].unit, by_what["concurrent-connections"].change) == (
        "connections",
        0,
    )
    assert (by_what["throughput"].unit, by_what["throughput"].outcome) == ("bps", "same")
    assert (by_what["transactions"].outcome, by_what["transactions"].why) == (
        "not compared",
        "before: Nothing comes through.",
    )


def test_they_are_written_in_their_units(store: str) -> None:
    text = said("compare", "night-00", "night-06", store=store)
    for words in ("PVP, /s", "10,000", "8,000", "PVP, connections", "65,536", "PVP, Gbit/s", "2.000"):
        assert words in text, text


def test_a_trend_finds_the_night_since_which_there_are_fewer(store: str) -> None:
    found = Trend.read(said("trend", "switching", "--json", store=store))
    first = found.series[0]
    assert (first.what, first.unit, first.regressed) == ("new-connections", "per_s", True)
    assert [change.run for change in first.changes] == ["night-06"]
    text = said("trend", "switching", store=store)
    assert "WORSE  direct PVP connections new-connections (quick): 8,008 /s" in text
    assert "(10,010 /s to 8,008 /s), worse, since night-06" in text


def test_a_rate_of_a_tables_size_is_not_hidden_in_a_comparison(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store, store.session(writing=True) as session:
        add_run(session, loaded("one", 32_000, 1, full_table="f1/firewall (session_table_full)"), [])
        add_run(session, loaded("two", 64_000, 2), [])
    text = said("compare", "one", "two", store=str(tmp_path / "s.db"))
    assert "of a table's size: f1/firewall (session_table_full)" in " ".join(text.split())
