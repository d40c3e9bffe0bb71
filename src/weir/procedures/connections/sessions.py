# SPDX-License-Identifier: Apache-2.0
"""What functions remember of connections that are over. A trial begins without it: sessions of trials before,
which RFC 5382 keeps for minutes, would fill tables that the trial's own connections are to fill."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from weir.lab.nf import network_functions
from weir.protocol.client import DataPlaneClient
from weir.protocol.errors import DataPlaneTimeoutError

FLUSH = "flush"
"""The command that ends sessions."""
FIGURES = frozenset({"sessions", "connections", "flows"})
"""What functions call those that they remember."""
WITHIN_S = 15.0
"""Functions say that they need four seconds."""
POLL_S = 0.01


class Sessions:
    """Of one chain that is deployed: of its functions in weir-dp, and what `outside` ends besides."""

    def __init__(self, client: DataPlaneClient, outside: Callable[[], None]) -> None:
        self._client = client
        self._outside = outside
        self._stages: list[tuple[str, str]] | None = None

    def forget(self) -> None:
        """Returns when there are none. DataPlaneTimeoutError where packets go on to make some."""
        self._outside()
        asked = [place for place in self._places() if self._remembered(*place)]
        for area, stage in asked:
            self._client.command(area, stage, FLUSH)
        deadline = time.monotonic() + WITHIN_S
        while left := next((place for place in asked if self._remembered(*place)), None):
            if time.monotonic() > deadline:
                area, stage = left
                raise DataPlaneTimeoutError(
                    "timeout",
                    f"{area} ({stage}) has sessions {WITHIN_S:.0f} s after it was asked to end them",
                    fix="look for what else sends packets through the chain",
                )
            time.sleep(POLL_S)

    def _remembered(self, area: str, stage: str) -> int:
        figures = self._client.report(area, stage, limit=0).figures.values()
        return sum(value for each in figures for name, value in each.items() if name in FIGURES)

    def _places(self) -> list[tuple[str, str]]:
        """Functions do not change: asked once."""
        if self._stages is None:
            self._stages = list(dict.fromkeys(self._flushable()))
        return self._stages

    def _flushable(self) -> Iterator[tuple[str, str]]:
        known = network_functions()
        for area in self._client.ledger().areas:
            for path in area.paths:
                for stage in path.stages:
                    nf = known.get(stage.nf)
                    if nf is not None and any(command.name == FLUSH for command in nf.commands):
                        yield area.name, stage.nf
