# SPDX-License-Identifier: Apache-2.0
"""Files that `weir import` refuses whole."""

from __future__ import annotations

import functools
import gzip
import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from weir.cli import exits
from weir.cli.export import FILE_MIB
from weir.cli.main import app
from weir.results.result import Result
from weir.store import listing
from weir.store.connection import StoreError
from weir.store.exchange import ALL_BYTES_MAX, RUN_BYTES_MAX, ImportFileError, read_import
from weir.store.rows import add_run
from weir.store.store import Store

from .stored import listed, made, runner

HEADER = {"weir_export": 1, "runs": 1}


def packed(*lines: object) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@functools.cache
def fine() -> dict[str, object]:
    whole = made("fine", "2026-01-02T03:04:05Z", "switching", "alpha")
    whole.setups = []
    return whole.model_dump(mode="json")


def hostile(**changes: object) -> dict[str, object]:
    return {"tags": [], "result": fine() | changes}


def hostile_setup(change: Callable[[Any], object]) -> dict[str, object]:
    whole = made("fine", "2026-01-02T03:04:05Z", "switching", "alpha").model_dump(mode="json")
    change(whole["setups"][0])
    return {"tags": [], "result": whole}


def trial_seconds_as_text(setup: Any) -> None:
    setup["cases"][0]["trials"][0]["duration_s"] = "nan"


def of_the_first_trial(**changes: int) -> Callable[[Any], object]:
    return lambda setup: setup["cases"][0]["trials"][0].update(changes)


def lowest_above_highest(setup: Any) -> None:
    setup["cases"][0]["throughput"][0] |= {"load_min_pps": 2e6, "load_max_pps": 1e6}


def rate_above_its_highest(setup: Any) -> None:
    setup["cases"][0]["throughput"][0] |= {"load_pps": 1e12, "load_min_pps": 1e6, "load_max_pps": 2e6}


def goal_that_nobody_can_print(setup: Any) -> None:
    setup["cases"][0]["throughput"][0]["goal"] = "\x1b[2J"


def more_lost_than_sent(setup: Any) -> None:
    setup["cases"][0]["throughput"][0]["loss_ratio"] = 7.0


def round_below_zero(setup: Any) -> None:
    setup["cases"][0]["throughput"][0]["rounds"] = [{"round": 1, "load_pps": -1e6}]


def delay_of_less_than_none(setup: Any) -> None:
    case = setup["cases"][0]
    trial = case["trials"][0] | {"duplicates": -1}
    case["delays"] = [{"load": "50% NDR", "load_pps": 1e6, "trials": [trial]}]


def port_of_another_name(setup: Any) -> None:
    setup["topology"]["ports"][0]["name"] = "x"


def port_of_no_node(setup: Any) -> None:
    setup["topology"]["ports"][0]["node"] = "nobody"


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (
            lambda: packed(HEADER, hostile_setup(trial_seconds_as_text)),
            "duration_s: Input should be a valid number",
        ),
        (lambda: packed(HEADER, hostile_setup(port_of_another_name)), "ends at .*, which is no port"),
        (lambda: packed(HEADER, hostile_setup(port_of_no_node)), "is of nobody, which is no node"),
        (
            lambda: packed(HEADER, hostile_setup(of_the_first_trial(delivered=-5))),
            "frame 64: a trial has -5 packets delivered",
        ),
        (
            lambda: packed(HEADER, hostile_setup(of_the_first_trial(offered=10, delivered=30))),
            "a trial delivered 30 of 10 packets",
        ),
        (
            lambda: packed(HEADER, hostile_setup(lowest_above_highest)),
            "has 2000000.0, .*, 1000000.0 as its lowest, median",
        ),
        (
            lambda: packed(HEADER, hostile_setup(rate_above_its_highest)),
            "has 1000000.0, 1000000000000.0, 2000000.0 as its lowest",
        ),
        (lambda: packed(HEADER, hostile_setup(of_the_first_trial(loss_ratio=7))), "a loss ratio of 7.0"),
        (lambda: packed(HEADER, hostile_setup(of_the_first_trial(duration_s=-1))), "a trial lasted -1.0 s"),
        (lambda: packed(HEADER, hostile_setup(goal_that_nobody_can_print)), "a goal is named '.x1b.2J'"),
        (lambda: packed(HEADER, hostile_setup(more_lost_than_sent)), "NDR has a loss ratio of 7.0"),
        (lambda: packed(HEADER, hostile_setup(round_below_zero)), "round 1 found -1000000.0 packets"),
        (lambda: packed(HEADER, hostile_setup(delay_of_less_than_none)), "has -1 packets duplicates"),
        (lambda: b"", "it is no JSON from line 1, column 1 on"),
        (lambda: b"\x7fELF\xd0", "it is no text, from byte 4 on"),
        (lambda: b"{}", "Field required"),
        (lambda: b"[" * 100_000, "nested too deeply"),
        (lambda: b'{"a":' * 100_000, "nested too deeply"),
        (packed, "no result of Weir"),
        (lambda: packed([]), "no export of Weir"),
        (lambda: packed({"weir_export": 2, "runs": 1}), "a newer Weir wrote it"),
        (lambda: packed(HEADER), "has 0 of 1 runs: it was cut off"),
        (lambda: packed(HEADER, hostile(), hostile()), "has 2 of 1 runs"),
        (lambda: packed(HEADER, hostile())[:-200], "it was cut off"),
        (lambda: packed(HEADER, hostile()) + b"more", "something follows its end"),
        (lambda: packed(HEADER, hostile(id="../../../etc/cron.d/x")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(lab="a/b")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(id="x\x1b[2J")), "expected letters, digits"),
        (lambda: packed(HEADER, hostile(started_at="<script>")), "expected a time in RFC 3339"),
        (
            lambda: packed(HEADER, hostile(started_at="0001-01-01T00:00:00+23:59")),
            "expected a time in RFC 3339",
        ),
        (lambda: packed(HEADER, hostile(finished_at="9999-12-31T23:59:59-23:59")), "finished_at '9999"),
        (lambda: packed(HEADER, hostile(finished_at="banana")), "finished_at 'banana': expected a time"),
        (lambda: packed(HEADER, hostile(version=99)), "a newer Weir wrote it"),
        (lambda: packed(HEADER, hostile(setups=3)), "no result of Weir"),
        (lambda: packed(HEADER, hostile(duration_s=float("nan"))), "NaN is no number of a result"),
        (lambda: json.dumps(fine() | {"duration_s": float("-inf")}).encode(), "-Infinity is no number of"),
        (lambda: json.dumps(fine()).encode()[:-1] + b', "more": 1e999}', "1e999 is no number of"),
        (lambda: packed(HEADER, hostile(duration_s=10**49)), "10000000000000000000… is no number of"),
        (lambda: json.dumps(fine() | {"version": 1 << 64}).encode(), "it has more than 64 bits"),
        (lambda: packed(HEADER, hostile(version=1, setups=[{"topology": 7}])), "no result of Weir"),
        (lambda: packed(HEADER, hostile(title="\x1b]0;owned")), "its title is '.x1b"),
        (lambda: packed(HEADER, {"tags": [], "result": None}), "no result of Weir"),
        (lambda: packed(HEADER, {"tags": "baseline", "result": {}}), "expected tags and a result"),
        (lambda: packed(HEADER, hostile() | {"tags": ["a b"]}), "tag 'a b'"),
        (lambda: packed(HEADER, hostile(started_at="9999-01-01T00:00:00Z")), "is in the future"),
        (lambda: gzip.compress(b"[" * 200_000 + b"\n"), "nested too deeply"),
        (lambda: b"\x1f\x8b" + b"\x00" * 100, "damaged"),
    ],
)
def test_a_file_that_is_no_export_is_refused_and_nothing_is_stored(
    content: Callable[[], bytes], hint: str, tmp_path: Path
) -> None:
    file = tmp_path / "runs.weir"
    file.write_bytes(content())
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(StoreError, match=hint) as refused:
            read_import(store, file)
        assert refused.value.exit_code == exits.USAGE
    assert listed(store=str(tmp_path / "results.db")) == []


def test_runs_that_are_older_than_those_that_are_there_are_not_the_newest(tmp_path: Path) -> None:
    place, files = tmp_path / "results.db", []
    for name, began in (("autumn-1", "2025-11-01T00:00:00Z"), ("summer-1", "2025-07-01T00:00:00Z")):
        run = fine() | {"id": name, "started_at": began, "lab": "switching"}
        files.append(tmp_path / name)
        files[-1].write_bytes(packed(HEADER, {"tags": [], "result": run}))
    with Store(place) as store:
        for file in files:
            read_import(store, file)
        latest = store.latest()
        assert latest is not None
        assert latest.id == "autumn-1"
        (lab,) = listing.labs(store)
        assert (lab.newest, lab.runs) == ("autumn-1", 2)
        assert [one.id for one in listing.runs(store, limit=1)] == ["autumn-1"]


def test_a_file_that_is_damaged_behind_good_runs_is_refused_whole(tmp_path: Path) -> None:
    file = tmp_path / "runs.weir"
    file.write_bytes(packed({"weir_export": 1, "runs": 2}, hostile(), hostile(id="b", seed="no")))
    with Store(tmp_path / "results.db") as store, pytest.raises(ImportFileError, match="run 2: no result"):
        read_import(store, file)
    assert listed(store=str(tmp_path / "results.db")) == []


@pytest.mark.parametrize(("before", "said"), [(0, "0 runs imported"), (2, "2 runs imported")])
def test_an_import_that_is_interrupted_says_how_many_runs_got_in(
    before: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "runs.weir"
    whole.write_bytes(packed({**HEADER, "runs": 3}, *(hostile(id=f"run-{at}") for at in range(3))))
    added: list[str] = []

    def add(session: Session, result: Result, tags: Sequence[str]) -> None:
        if len(added) == before:
            raise KeyboardInterrupt
        added.append(result.id)
        add_run(session, result, tags)

    monkeypatch.setattr("weir.store.exchange.add_run", add)
    place = str(tmp_path / "results.db")
    done = runner.invoke(app, ["import", str(whole), "--store", place])
    assert (done.exit_code, done.stderr) == (exits.INTERRUPTED, f"weir: interrupted: {said}\n")
    assert sorted(listed(store=place)) == added


def test_a_result_takes_the_memory_of_its_file_however_large_it_might_be(tmp_path: Path) -> None:
    plain = tmp_path / "result.json"
    plain.write_text(json.dumps(fine()))
    with Store(tmp_path / "results.db") as store:
        tracemalloc.start()
        try:
            read_import(store, plain, run_bytes_max=FILE_MIB << 20)
            _, most_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most_bytes < RUN_BYTES_MAX


def test_a_run_may_be_allowed_to_be_as_large_as_a_whole_export() -> None:
    assert FILE_MIB << 20 == ALL_BYTES_MAX


def test_what_was_made_to_grow_is_refused_before_it_has(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.weir"
    bomb.write_bytes(gzip.compress(json.dumps(HEADER).encode() + b"\n" + b" " * (40 << 20)))
    assert bomb.stat().st_size < 1 << 20
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(ImportFileError, match="no export of Weir grows so far"):
            read_import(store, bomb)
        large = tmp_path / "large.weir"
        large.write_bytes(packed(HEADER, hostile(title="x" * (2 << 20))))
        with pytest.raises(ImportFileError, match=r"more than 1 MiB as JSON; .* --max-mib"):
            read_import(store, large, run_bytes_max=1 << 20)
        plain = tmp_path / "result.json"
        plain.write_bytes(b" " * (2 << 20))
        with pytest.raises(ImportFileError, match="more than 1 MiB as JSON"):
            read_import(store, plain, run_bytes_max=1 << 20)
        assert read_import(store, large).added == ["fine"]
