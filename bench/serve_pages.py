# SPDX-License-Identifier: Apache-2.0
"""serve-pages: pages of `weir serve` of a lab that was measured every night for five years, against limits.

Each time is of a server that has just begun, so that it remembers nothing: from the request until the page is
there with all that it loads, compressed, over one connection on loopback; what a browser then draws is not
in it. The store is made of the user's newest finished run: its rows are copied, with rates that vary and
trials that are counted; documents of trials, which pages read of one run alone, are there of the newest.

- `serve-pages-front`, `-lab`, `-filter` (of the lab's histories and runs), `-run`, `-compare`;
- `serve-pages-weight`: 300 KB to what the heaviest of them takes on the wire.
"""

from __future__ import annotations

import gzip
import http.client
import json
import random
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bench.pairs import Line, SkipError, of_ratios, one_figure
from bench.store_100k import DAY_S, KEYS, STEP, copied, newest_run
from tests.served_pages import served
from weir.results.result import Result
from weir.web import links

NIGHTS = 5 * 365 + 1
LAB = "nightly"
NOISE, LEVEL_SHARE, LEVEL_NIGHTS = 0.01, 0.05, 40
"""Rates vary by the first; after so many nights they may be on a level that is worse by the second."""
LIMIT_S, LIMIT_BYTES = 1.0, 300_000
TIMES = 5
_BEGAN_S = 1609459200
_LOADS = re.compile(r'(?:src|href)="(/assets/[^"]+)"|data-result="([^"]+)"')


@dataclass(frozen=True)
class Load:
    """Of one page."""

    seconds: float
    bytes: int
    requests: int


def run() -> list[Line]:
    """Ratios of the limits to what it takes."""
    original = newest_run()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = Path(folder) / "results.db"
        runs = fill(path, original, NIGHTS)
        setup, case = next(original.cases())
        pages = {
            "front": links.FRONT,
            "lab": links.lab(LAB),
            "filter": links.lab(LAB, chain=setup.chain, way=setup.name, frame=case.frame, page="73"),
            "run": links.run(runs[-1]),
            "compare": links.compare([runs[0], runs[len(runs) // 2], runs[-1]]),
        }
        loads = {name: [_cold(path, page) for _ in range(TIMES)] for name, page in pages.items()}
        size = path.stat().st_size
    lines = [_line(name, found, pages[name], size) for name, found in loads.items()]
    return [*lines, _weight(loads)]


def fill(path: Path, original: Result, nights: int) -> list[str]:
    """A new store with a run each night; their ids, the oldest first."""
    dice = random.Random(1)
    levels: dict[tuple[int, int], float] = {}

    def varied(number: int, samples: str) -> str:
        night, figure = divmod(number, STEP)
        worse = 1 - LEVEL_SHARE * dice.choice((0, 0, 1))
        level = levels.setdefault((night // LEVEL_NIGHTS, figure), worse)
        return json.dumps([one * level * dice.gauss(1, NOISE) for one in json.loads(samples)])

    with copied(path, original, nights, [one for one in KEYS if one != "trial"]) as connection:
        connection.create_function("varied", 2, varied)
        connection.execute("UPDATE weir_figure SET samples = varied(number, samples)")
        connection.execute(
            "UPDATE weir_run SET id = printf('night-%04d', number / :step), lab = :lab,"
            " started_s = :began + number / :step * :day, finished_s = :began + number / :step * :day + 3600",
            {"lab": LAB, "began": _BEGAN_S, "day": DAY_S, "step": STEP},
        )
        connection.execute("UPDATE weir_run SET document = json_set(document, '$.id', id, '$.lab', lab)")
        newest = (nights - 1) * STEP
        connection.execute(
            "UPDATE weir_trial SET number = number + :newest, case_number = case_number + :newest",
            {"newest": newest},
        )
    return [f"night-{night:04}" for night in range(nights)]


def _cold(path: Path, page: str) -> Load:
    """By a server that was just started. SkipError where the page is not as it should be."""
    with served(path) as (url, _):
        where = urlsplit(url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        connection.connect()
        begin = time.perf_counter()
        of = [_got(connection, page)]
        texts = gzip.decompress(of[0]).decode()
        rest = dict.fromkeys(asset or data for asset, data in _LOADS.findall(texts))
        of += [_got(connection, one.replace("&amp;", "&")) for one in rest]
        took_s = time.perf_counter() - begin
        connection.close()
    return Load(took_s, sum(map(len, of)), len(of))


def _got(connection: http.client.HTTPConnection, page: str) -> bytes:
    """As it comes over the wire."""
    connection.request("GET", page, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != http.client.OK:
        raise SkipError(f"{page} answered {answer.status}")
    return body if answer.headers["Content-Encoding"] == "gzip" else gzip.compress(body, mtime=0)


def _line(name: str, loads: Sequence[Load], page: str, store_bytes: int) -> Line:
    detail: dict[str, object] = {
        "page": page,
        "runs": NIGHTS,
        "store_bytes": store_bytes,
        "seconds": [round(one.seconds, 3) for one in loads],
        "bytes": loads[0].bytes,
        "requests": loads[0].requests,
        "limit_s": LIMIT_S,
    }
    ratios = [LIMIT_S / one.seconds for one in loads]
    return of_ratios(f"serve-pages-{name}", ratios, target=1.0, detail=detail)


def _weight(loads: dict[str, list[Load]]) -> Line:
    """Of the heaviest; bytes are the same each time."""
    weights = {name: found[0].bytes for name, found in loads.items()}
    detail: dict[str, object] = {"bytes": weights, "limit_bytes": LIMIT_BYTES}
    ratio = LIMIT_BYTES / max(weights.values())
    return one_figure("serve-pages-weight", ratio, n=len(weights), target=1.0, detail=detail)
