# SPDX-License-Identifier: Apache-2.0
"""store-100k: `weir ls` of a store of 100,000 trials, whole process, against a limit. The store is made
from the user's newest finished run: its rows are copied, under other names, labs, hosts and days."""

from __future__ import annotations

import math
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.pairs import Line, SkipError, of_ratios
from weir.base.error import WeirError
from weir.results.result import Result
from weir.store import listing
from weir.store.rows import add_run
from weir.store.store import Store

TRIALS = 100_000
LIMIT_S = 1.0
TIMES = 7
LABS, HOSTS = 10, 3
DAY_S = 86_400
WEIR = [sys.executable, "-c", "from weir.cli.main import main; main()"]
STEP = 10_000_000
"""Between the numbers of a row and of its copy: more than a run has of anything."""
KEYS: dict[str, tuple[str, ...]] = {
    "run": ("number",),
    "setup": ("number", "run"),
    "case": ("number", "setup"),
    "trial": ("number", "case_number"),
    "trial_fact": ("trial", "case_number"),
    "figure": ("number", "case_number"),
}


def run() -> list[Line]:
    """Ratios of the limit to the seconds: all runs; those of some filters; trials of a case of one lab."""
    original = newest_run()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = Path(folder) / "results.db"
        copies = fill(path, original)
        case = original.setups[0]
        ways = {
            "store-100k-list": ["ls"],
            "store-100k-filter": [
                *("ls", "--lab", "lab3", "--host", "host1", "--since", "2026-01-05", "--until", "2030-01-01"),
                *("--factor", f"technology={case.technology}", "--factor", f"chain={case.chain}"),
            ],
            "store-100k-key": ["ls", "--factor", f"name={original.lab}", "--limit", "20"],
            "store-100k-trials": [
                "ls",
                "--trials",
                "--lab",
                "lab3",
                "--factor",
                f"technology={case.technology}",
            ],
        }
        size = path.stat().st_size
        return [_line(name, words, path, copies, size) for name, words in ways.items()]


def newest_run() -> Result:
    """Of the user's store, finished and with many trials. SkipError."""
    try:
        with Store(reading=True) as store:
            for one in listing.runs(store):
                if one.finished_at and not one.interrupted and not one.unreadable and one.trials >= 100:
                    return store.load(one.id)
    except WeirError as error:
        raise SkipError(str(error)) from error
    raise SkipError(
        "the store has no finished run of 100 trials: `weir run labs/switching --quick` makes one"
    )


def fill(path: Path, original: Result) -> int:
    """A new store with as many copies of the run as have TRIALS together; how many."""
    trials = sum(len(case.trials) + len(case.curve) for _, case in original.cases())
    copies = math.ceil(TRIALS / trials)
    with copied(path, original, copies) as connection:
        connection.execute(
            "UPDATE weir_run SET id = id || '-' || number, lab = 'lab' || (number / :step % :labs),"
            " host = 'host' || (number / :step % :hosts), started_s = 1767225600 + number / :step * :day",
            {"step": STEP, "labs": LABS, "hosts": HOSTS, "day": DAY_S},
        )
    return copies


@contextmanager
def copied(
    path: Path, original: Result, copies: int, tables: Iterable[str] = KEYS
) -> Iterator[sqlite3.Connection]:
    """A new store in which rows of these tables are there so often; the body makes them differ."""
    with Store(path) as store, store.session(writing=True) as session:
        add_run(session, original, [])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        for table in tables:
            _copy(connection, f"weir_{table}", KEYS[table], copies)
        yield connection
        connection.execute("ANALYZE")
    connection.close()


def _copy(connection: sqlite3.Connection, table: str, keys: tuple[str, ...], copies: int) -> None:
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    values = [f"{one} + copy.n * {STEP}" if one in keys else one for one in columns]
    if table == "weir_run":
        values[columns.index("id")] = "id || copy.n"
    connection.execute(
        f"WITH RECURSIVE copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < {copies - 1})"
        f" INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM copy, {table}"
        f" WHERE {columns[0]} < {STEP}"
        if copies > 1
        else "SELECT 1"
    )


def _line(name: str, words: list[str], path: Path, copies: int, size: int) -> Line:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    seconds = [_took_s(words, path) for _ in range(TIMES)]
    busy = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    detail: dict[str, object] = {
        "trials": TRIALS,
        "runs": copies,
        "store_bytes": size,
        "command": " ".join(words),
        "seconds": [round(one, 3) for one in seconds],
        "cpu_seconds_each": round(busy / TIMES, 3),
        "limit_s": LIMIT_S,
    }
    return of_ratios(name, [LIMIT_S / one for one in seconds], target=1.0, detail=detail)


def _took_s(words: list[str], path: Path) -> float:
    begin = time.perf_counter()
    environment = {**os.environ, "WEIR_STORE": str(path)}
    done = subprocess.run([*WEIR, *words], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0 or len(done.stdout.splitlines()) < 1 or "no run fits" in done.stdout:
        raise SkipError(f"weir {words[0]} failed: {(done.stderr or done.stdout).strip()[-200:]}")
    return time.perf_counter() - begin
