# SPDX-License-Identifier: Apache-2.0
"""The parts of the HTML report: one module a section, `document` puts them together.

What a page carries in itself: styles, scripts, data; and the policy by which it may load nothing else.

The data are what the page's scripts draw of a result: its JSON without what they do not read, which is most
of a noisy run. The whole result is in result.json. How long each core was away is told for pieces of a trial,
narrower than what a plot of all trials can show, as `away` in place of each absence (`left_out`):
`{core, by, from_us, to_us, us}`, where `by` is without a thread's number and `us` is how much of it the
core was away.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

from weir.base.si import US_PER_S
from weir.results import slices
from weir.results.result import Case, Result, Trial

HERE = "weir.report.page"
PIECES = 1000
"""Of the time of all trials that the page lists: plots have a column for three pixels."""
_UNREAD = {"slices", "areas", "cores", "core_speeds", "distances_cycles", "left_out", "streams"}
"""Of a trial; stalls too, but of results whose trials' time was not divided."""


def asset(name: str, room: str = HERE) -> str:
    """A file of a room's assets."""
    return (files(room) / "assets" / name).read_text(encoding="utf-8")


def joined(names: Sequence[str], room: str = HERE) -> str:
    """Several, one after the other."""
    return "\n".join(asset(name, room) for name in names)


def packed(json_text: str) -> str:
    """Data as pages carry them (unpacked.js reads them)."""
    return base64.b64encode(gzip.compress(json_text.encode(), 9, mtime=0)).decode()


def drawn(result: Result) -> str:
    """JSON of the shape of a result, with `away` in place of `left_out`."""
    whole_s = sum(trial.duration_s for _, case in result.cases() for trial in _trials(case))
    piece_us = max(1.0, whole_s * US_PER_S / PIECES)
    document = result.model_dump(mode="json", exclude={"setups": {"__all__": {"cases"}}})
    for setup, shown in zip(result.setups, document["setups"], strict=True):
        shown["cases"] = [_case(case, piece_us) for case in setup.cases]
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def _trials(case: Case) -> Iterator[Trial]:
    """All that the page lists, those ahead of the search among them."""
    yield from (*case.trials, *case.curve)
    for point in case.delays:
        yield from point.trials


def _case(case: Case, piece_us: float) -> dict[str, Any]:
    shown = case.model_dump(
        mode="json", exclude={"trials": True, "curve": True, "delays": True, "records": True}
    )
    shown["trials"] = [_trial(trial, piece_us, with_latency=False) for trial in case.trials]
    shown["curve"] = [_trial(trial, piece_us, with_latency=True) for trial in case.curve]
    shown["delays"] = [
        point.model_dump(mode="json", exclude={"trials"})
        | {"trials": [_trial(trial, piece_us, with_latency=False) for trial in point.trials]}
        for point in case.delays
    ]
    return shown


def _trial(trial: Trial, piece_us: float, *, with_latency: bool) -> dict[str, Any]:
    """`with_latency`: of a curve, whose latencies are drawn; of others only histograms are."""
    unread = _UNREAD | ({"stalls"} if trial.counted is not None else set())
    shown = trial.model_dump(mode="json", exclude=unread)
    read = {"direction", "histogram", *(["latency"] if with_latency else [])}
    streams = [one for one in trial.streams if with_latency or one.histogram]
    shown["streams"] = [one.model_dump(mode="json", include=read) for one in streams]
    shown["away"] = list(_away(trial, piece_us))
    return shown


def _away(trial: Trial, piece_us: float) -> Iterator[dict[str, Any]]:
    """In order of time."""
    end_us = trial.duration_s * US_PER_S
    sums: defaultdict[tuple[int, int, str], float] = defaultdict(float)
    for one in trial.left_out:
        from_us, to_us = max(0.0, one.from_us), min(end_us, one.to_us)
        while from_us < to_us:
            piece = int(from_us / piece_us)
            until_us = max(min(to_us, (piece + 1) * piece_us), from_us + 0.1)
            sums[piece, one.core, slices.program(one.by)] += min(to_us, until_us) - from_us
            from_us = until_us
    for (piece, core, by), us in sorted(sums.items()):
        bounds = {"from_us": round(piece * piece_us), "to_us": round(min(end_us, (piece + 1) * piece_us))}
        yield {"core": core, "by": by, **bounds, "us": round(us, 1)}


def policy(script: str, connect: str = "") -> str:
    """No request at all, and only this script. `connect`: sources that it may ask for data."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    asks = f"connect-src {connect}; " if connect else ""
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; {asks}"
        "base-uri 'none'; form-action 'none'"
    )
