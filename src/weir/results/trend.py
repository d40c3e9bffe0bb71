# SPDX-License-Identifier: Apache-2.0
"""How rates and delays of a lab went from run to run: what `weir trend --json` prints."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.document import TREND_VERSION, Document
from weir.results.figures import Unit


class TrendChange(Record):
    """Where a level ended and another one began."""

    run: str
    """The first of the new level."""
    started_at: str
    """When it began; RFC 3339, UTC."""
    weir: str
    """Version that it was measured with, with its revision."""
    weir_before: str
    """That of the run before."""
    before: float
    """The level that ended, and the one that began."""
    after: float
    change: float
    """Always after / before - 1."""
    p_value: float
    """That noise alone makes such a step between these runs."""
    outcome: Literal["worse", "better", "lab changed"]
    """The last: keys of the lab changed there, too, and the step may be of them."""
    lab_keys: list[str] = []
    """Which, dotted."""


class Series(Record):
    """One rate or delay on one host, run after run."""

    chain: str
    way: str
    """The technology or variant."""
    frame: str
    what: str
    """A goal, "NDR"; or a delay with its load, "latency P99 at 50% PDR"."""
    unit: Unit
    """Of "us" less is better, of all others more."""
    host: str
    """Empty in runs of older versions."""
    quick: bool
    runs: int
    left_out: int = 0
    """Runs whose value is of a worse state of the machine, or a bound since the tester was the limit."""
    latest: float
    """Of the newest run."""
    latest_bound: bool = False
    """`latest` is only a bound: the tester was the limit."""
    latest_left_out: bool = False
    level: float
    """That the newest runs are on which count. Where none does, or few that a newer bound is beyond,
    `latest`."""
    noise: float | None = None
    """Robust standard deviation around the levels, as a share; None: too few runs."""
    band_low: float | None = None
    """Of 100 runs without a change 95 are inside."""
    band_high: float | None = None
    smallest_seen: float | None = None
    """The least step, as a share, that would be seen by now if it was in the middle of the newest level."""
    changes: list[TrendChange] = []
    """Oldest first."""

    @property
    def regressed(self) -> bool:
        """The newest level is worse than the one before it, of the same lab."""
        return bool(self.changes) and self.changes[-1].outcome == "worse"

    @property
    def improved(self) -> bool:
        """The newest level is better than the one before it, of the same lab."""
        return bool(self.changes) and self.changes[-1].outcome == "better"


class LabChange(Record):
    """Where keys of the lab changed."""

    run: str
    """The first with the new keys."""
    started_at: str
    """When it began; RFC 3339, UTC."""
    host: str
    quick: bool
    keys: list[str]
    """Dotted."""


class Trend(Document):
    """A lab's history, regressions first."""

    VERSION: ClassVar[int] = TREND_VERSION

    version: int = TREND_VERSION
    """Version of this format."""
    lab: str
    runs: int
    """That found one of the figures."""
    without_figures: int = 0
    """Other finished ones: of a kind without figures, as soaks, or irregular or out of time in all."""
    smallest: float
    """Steps below that share do not matter to whoever asked."""
    lab_changes: list[LabChange] = []
    """Oldest first; of keys that figures may depend on."""
    series: list[Series] = []


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12)."""
    return document_schema(Trend, f"Weir trend, version {TREND_VERSION}")
