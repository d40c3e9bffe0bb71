# SPDX-License-Identifier: Apache-2.0
"""serve-cost: what `weir serve` costs a trial on its host while somebody reads pages without a pause.

The trial is weir-dp alone on one CPU. On the other side it is the same, while server and reader are stopped
by a signal; both take turns. Four lines: packets a second that a generator sends, and the median latency of
tester and wire at a light load; `-beside` with server and reader on CPU 0 alone, `-shared` with both on all
CPUs, that of weir-dp among them. Every page is of the user's newest finished run.

- `pages_per_s`: that were read while trials ran.

`python -m bench.serve_cost URL …` is the reader: it says a line for each page that it has read.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.data_plane import generator, offered_pps, stream, weir_dp
from bench.pairs import Line, SkipError, interleave, line
from bench.self_loop_floor import WIRES, configure, p50_ns
from bench.store_100k import newest_run
from tests.served_pages import served
from weir.protocol import DataPlaneClient
from weir.store.rows import add_run
from weir.store.store import Store
from weir.web import links

CORE, OTHER = 1, "0"
SECONDS = 0.5
PAIRS = 20
TARGET = 0.99


class Reading:
    """A server and who reads its pages, which stop and go on together."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]], told: Path) -> None:
        self._processes = processes
        self._told = told
        self.read_s = 0.0

    @property
    def pages(self) -> int:
        """Read so far."""
        return self._told.read_bytes().count(b"\n")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Nobody reads, and nothing is served."""
        self._tell(signal.SIGSTOP)
        try:
            yield
        finally:
            self._tell(signal.SIGCONT)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Counts for how long."""
        begin = time.monotonic()
        yield
        self.read_s += time.monotonic() - begin

    def _tell(self, what: signal.Signals) -> None:
        for one in self._processes:
            os.kill(one.pid, what)


def run() -> list[Line]:
    """Ratios of packets a second, and of latencies."""
    if len(os.sched_getaffinity(0)) < 2:
        raise SkipError("needs two cores")
    result = newest_run()
    with tempfile.TemporaryDirectory(prefix="weir-serve-cost-") as folder:
        path = Path(folder) / "results.db"
        with Store(path) as store, store.session(writing=True) as session:
            add_run(session, result, [])
        pages = [links.FRONT, links.lab(result.lab), links.run(result.id)]
        found: list[Line] = []
        for where, before in (("beside", ["taskset", "-c", OTHER]), ("shared", [])):
            with _reading(path, pages, before) as reading:
                lines = [_rate(where, reading), _latency(where, reading)]
            target = TARGET if where == "beside" else None
            found += [replace(one, target=target) for one in lines]
    return found


@contextmanager
def _reading(path: Path, pages: Sequence[str], before: Sequence[str]) -> Iterator[Reading]:
    with served(path, before=before) as (url, server):
        told = path.with_name("told")
        words = [*before, sys.executable, "-m", "bench.serve_cost", *(url.rstrip("/") + one for one in pages)]
        with told.open("w") as out:
            reader = subprocess.Popen(words, stdout=out, text=True)
        try:
            reading = Reading([server, reader], told)
            until_s = time.monotonic() + 60
            while reading.pages < len(pages) and time.monotonic() < until_s:  # remembered from then on
                time.sleep(0.2)
            if reading.pages < len(pages):
                raise SkipError("the pages could not be read within a minute")
            yield reading
        finally:
            reader.kill()
            reader.wait()


def _rate(where: str, reading: Reading) -> Line:
    with weir_dp(CORE) as client:
        generator(client, CORE, flows=1)
        client.configure_traffic(stream("out", frame_bytes=64, flows=1))
        return _line(f"serve-cost-{where}-rate", client, reading, latency=False)


def _latency(where: str, reading: Reading) -> Line:
    with weir_dp(CORE) as client:
        configure(client, WIRES["memory"], (CORE, CORE))
        return _line(f"serve-cost-{where}-latency", client, reading, latency=True)


def _line(name: str, client: DataPlaneClient, reading: Reading, *, latency: bool) -> Line:
    def measured() -> float:
        return p50_ns(client) if latency else offered_pps(client, SECONDS)

    def served_too() -> float:
        with reading.going_on():
            return measured()

    def alone() -> float:
        with reading.stopped():
            return measured()

    pages, read_s = reading.pages, reading.read_s
    taken = interleave(served_too, alone, PAIRS)
    per_s = (reading.pages - pages) / (reading.read_s - read_s)
    found = line(name, taken, target=TARGET, unit="ns" if latency else "pps", less_is_better=latency)
    return replace(found, detail={**found.detail, "pages_per_s": round(per_s, 1)})


def main(pages: Sequence[str]) -> None:
    """Reads them in turn, until it is killed."""
    for page in itertools.cycle(pages):
        with urllib.request.urlopen(page, timeout=60) as answer:
            print(len(answer.read()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
