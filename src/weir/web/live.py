# SPDX-License-Identifier: Apache-2.0
"""A run that is still measured, as events that its page shows as they come (server-sent events).

A stream looks every half a second whether the store was written to, which for a file needs no database; only
then it reads, from columns. Nothing is asked of the program that measures.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime

import anyio
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from weir.report import numbers
from weir.report.summary import sizes
from weir.store.connection import StoreError
from weir.store.listing import RunSummary, TrialSummary
from weir.store.progress import Progress, progress
from weir.web.reading import Reading

LOOK_S = 0.5
ALIVE_S = 10.0
"""Without anything new so long a comment is sent: who is gone is noticed."""
STREAMS_MOST = 16
SERVICE_UNAVAILABLE = 503


class Live:
    """All streams of a server."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._streams = 0
        self._ended = False

    def end(self) -> None:
        """All streams end at their next look: the server is ended."""
        self._ended = True

    def answer(self, run: RunSummary) -> StreamingResponse:
        """HTTPException where there are too many already."""
        if self._streams >= STREAMS_MOST:
            raise HTTPException(SERVICE_UNAVAILABLE, f"{STREAMS_MOST} live pages are open already.")
        return StreamingResponse(self._events(run), media_type="text/event-stream")

    async def _events(self, run: RunSummary) -> AsyncIterator[str]:
        if self._streams >= STREAMS_MOST:  # others were answered since, and have begun before
            return
        self._streams += 1
        try:
            async for event in _events(self._reading, run, lambda: self._ended):
                yield event
        finally:
            self._streams -= 1


async def _events(reading: Reading, run: RunSummary, ended: Callable[[], bool]) -> AsyncIterator[str]:
    known: Progress | None = None
    stamp: object = None
    sent_s = time.monotonic()
    while not ended():
        now = await run_sync(reading.stamp)
        if known is None or now != stamp or now == ():  # a server does not tell
            stamp = now
            with suppress(StoreError):  # locked just now: at the next look
                found = await run_sync(_progress, reading, run.number)
                if found != known:
                    known, sent_s = found, time.monotonic()
                    yield f"event: progress\ndata: {json.dumps(said(found, run.started_at))}\n\n"
                if found.finished:
                    yield "event: finished\ndata:\n\n"
                    return
        if time.monotonic() - sent_s > ALIVE_S:
            sent_s = time.monotonic()
            yield ": still here\n\n"
        await anyio.sleep(LOOK_S)


def _progress(reading: Reading, number: int) -> Progress:
    with reading.store() as store:
        return progress(store, number)


def said(found: Progress, started_at: str) -> dict[str, object]:
    """In words, as the page's script shows them."""
    facts = [("trials", numbers.count(found.trials))]
    if found.newest:
        facts.append(("now", _case(found.newest[0])))
    if found.without_loss_pps is not None:
        facts.append(("highest load without loss", numbers.rate(found.without_loss_pps)))
    if found.with_loss_pps is not None:
        facts.append(("lowest above it with loss", numbers.rate(found.with_loss_pps)))
    if found.usual_s is not None:
        facts.append(("runs of this lab take", numbers.seconds(found.usual_s)))
        with suppress(ValueError):
            end_s = datetime.fromisoformat(started_at).timestamp() + found.usual_s
            facts.append(("would end", f"{datetime.fromtimestamp(end_s, UTC):%H:%M} UTC"))
    return {"facts": facts, "trials": [_row(one) for one in found.newest]}


def _case(of: TrialSummary) -> str:
    return f"{of.variant or of.technology} {of.chain} {sizes(of.frame)}"


def _row(of: TrialSummary) -> list[str]:
    return [
        _case(of),
        of.purpose,
        numbers.mpps(of.load_pps),
        numbers.time_s(of.duration_s),
        numbers.share(of.loss_ratio) if of.valid else "invalid",
    ]
