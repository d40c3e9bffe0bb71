# SPDX-License-Identifier: Apache-2.0
"""An explanation, as `weir explain --json` prints it. Units are in the names."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from weir.base.record import Record, document_schema
from weir.results.document import EXPLANATION_VERSION, Document

LimitKind = Literal[
    "stage",
    "ports",
    "queue",
    "switch",
    "kernel",
    "tester",
    "link",
    "program",
    "own-stall",
    "host-stall",
    "oversubscription",
    "decision",
    "nothing",
    "unknown",
]
Factor = Literal["f_t", "f_a", "f_s", "f_i"]


class Limit(Record):
    """What limits."""

    kind: LimitKind
    """stage: a function on a full core. ports: what its area needs to receive and send. queue: too short for
    bursts, no core is full. switch: its thread, or the way there. kernel: its receive path, on a full core.
    program: one of the user's does not take what waits for it. tester, link. own-stall: a function lets
    packets wait, now and then. host-stall: others had a core for a moment; oversubscription: for a
    good part of the time. decision: a function drops by its rules. nothing: all was carried. unknown: the
    evidence does not do."""
    name: str
    """The stage as "f1/nat", the queue, the core, "pmd.1", "softirq.0", "generator.left" …"""
    core: int | None = None
    sentence: str


class Evidence(Record):
    """One observation behind the verdict."""

    what: str
    """What was observed: "core 1 busy"."""
    value: float
    unit: Literal["share", "cycles/packet", "packets", "pps", "bit/s", "us", "times"]
    note: str = ""
    """Where it was counted, or what it means."""


class AreaFigures(Record):
    """One execution area in the trial that was explained."""

    name: str
    core: int
    kind: str
    busy: float
    """Share of the time in which packets were sent; the kernel's areas in its system calls are not in it."""
    packets: int
    """That came to it; 0 of the tester's."""
    offloaded: int = 0
    """Of those, forwarded below weir-dp, and not on its core."""
    cycles_per_packet: float | None
    """Of those that it handled itself."""
    dropped: int
    away: float = 0.0
    """Share of the time for which others had its core. Where that is much, `busy` and the cycles have some of
    it in them, as a loop cannot tell all of it from its own work."""


class Second(Record):
    """What limits next."""

    name: str
    core: int
    cycles_per_packet: float
    share_of_limit: float
    """Its cycles to those of the limit: at 1 both limit."""
    sentence: str


class Advice(Record):
    """One measure that can help here."""

    measure: str
    factor: Factor | None
    """Of the speed-up model, equation (3): which one it lowers."""
    metric: str
    """What will show whether it helped."""
    gain_at_most: float | None = None
    """Share of the rate: 0.4 is 40 % more, by rate = min over cores of f / cycles a packet; None: no such
    number."""
    gain_is: str
    """What the number takes for granted, or why there is none."""
    when_not: str


class CaseExplanation(Record):
    """One chain under one technology with one frame size."""

    technology: str
    """Or the variant, of a lab that compares variants."""
    chain: str
    frame: str
    carried_pps: float | None = None
    """In the trial that was explained, both directions together: what was delivered, by the time until the
    last of it came; None: there is no such trial."""
    offered_pps: float | None = None
    purpose: str | None = None
    """What that trial was for."""
    not_used: list[str] = []
    """Why that trial was not used: only where all that could be explained were invalid."""
    limit: Limit
    evidence: list[Evidence] = []
    areas: list[AreaFigures] = []
    """All, in and outside weir-dp."""
    second: Second | None = None
    advice: list[Advice] = []


class Explanation(Document):
    """Of a whole result."""

    VERSION: ClassVar[int] = EXPLANATION_VERSION

    version: int = EXPLANATION_VERSION
    result: str
    """The run's id."""
    cases: list[CaseExplanation]


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12)."""
    return document_schema(Explanation, f"Weir explanation, version {EXPLANATION_VERSION}")
