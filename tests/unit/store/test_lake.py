# SPDX-License-Identifier: Apache-2.0
"""Runs as Parquet are what was stored, to a program that knows nothing of Weir."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.report.synthetic import result
from weir.results.result import Result
from weir.store import listing
from weir.store.files import FileError
from weir.store.lake import NoParquetError, write_lake
from weir.store.rows import add_run
from weir.store.store import Store

duckdb = pytest.importorskip("duckdb")


def export(folder: Path, *runs: Result) -> None:
    with Store(folder / "results.db") as store:
        with store.session(writing=True) as session:
            for run in runs:
                add_run(session, run, ["nightly"])
        write_lake(store, listing.runs(store), folder / "lake")


@pytest.mark.long
def test_duckdb_finds_what_was_measured_by_lab_and_month(tmp_path: Path) -> None:
    old = result(1, id="a-1", started_at="2026-01-02T03:04:05Z", lab="a")
    new = result(2, id="a-2", started_at="2026-02-02T03:04:05Z", lab="a")
    other = result(3, id="b-1", started_at="2026-02-02T03:04:05Z", lab="b")
    export(tmp_path, old, new, other)
    export_again = tmp_path / "lake"
    with Store(tmp_path / "results.db", reading=True) as store:
        write_lake(store, listing.runs(store), export_again)

    def asked(what: str) -> list[tuple[object, ...]]:
        where = f"read_parquet('{tmp_path}/lake/{{}}/**/*.parquet', hive_partitioning=true)"
        found = duckdb.sql(what.format(*(where.format(name) for name in ("runs", "figures", "trials"))))
        rows: list[tuple[object, ...]] = found.fetchall()
        return rows

    assert asked("SELECT run, lab, month, tags FROM {0} ORDER BY run") == [
        ("a-1", "a", "2026-01", ["nightly"]),
        ("a-2", "a", "2026-02", ["nightly"]),
        ("b-1", "b", "2026-02", ["nightly"]),
    ]
    wanted = {
        (setup.technology, setup.chain, case.frame): max(case.throughput[0].samples_pps)
        for setup, case in new.cases()
        if case.throughput and case.throughput[0].samples_pps
    }
    found = asked(
        "SELECT technology, chain, frame, list_max(samples) FROM {1} "
        "WHERE lab = 'a' AND month = '2026-02' AND what = 'NDR' AND value IS NOT NULL"
    )
    assert {(technology, chain, frame): rate for technology, chain, frame, rate in found} == wanted
    trials = [
        one for run in (old, new, other) for _, case in run.cases() for one in (*case.trials, *case.curve)
    ]
    assert asked("SELECT count(*), sum(offered), sum(delivered) FROM {2}") == [
        (len(trials), sum(one.offered for one in trials), sum(one.delivered for one in trials))
    ]
    drops = "SELECT sum(d.packets) FROM (SELECT unnest(drops) AS d FROM {2})"
    assert asked(drops) == [(sum(drop.packets for one in trials for drop in one.drops),)]


def test_what_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "results.db") as store:
        (tmp_path / "file").write_text("")
        with pytest.raises(FileError, match="is not a directory; choose another place with --parquet"):
            write_lake(store, [], tmp_path / "file")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(NoParquetError, match="pip install"):
            write_lake(store, [], tmp_path / "lake")
