# SPDX-License-Identifier: Apache-2.0
"""What packets cost functions that are outside weir-dp: of their own time on a core, at one load. Units are
in the names."""

from __future__ import annotations

from typing import Any, ClassVar

from weir.base.record import Record, document_schema
from weir.results.document import OUTSIDE_LEAN_VERSION, Document
from weir.results.fingerprint import Fingerprint
from weir.results.lean import Spread


class OutsideArea(Record):
    """A thread of a function, those of one role on one core together; or the kernel's receive path there."""

    name: str
    """Of a program or container "program:f1.main"; of the kernel "softirq.0"."""
    kind: str
    """As in the account of a trial: guest, softirq, pmd, thread."""
    core: int
    tsc_cycles_per_packet: Spread | None
    """Of the packets that were sent, over the repeats: its time on the core at the load, less what it has
    without load. Absent: it polls."""
    most_tsc_cycles_per_packet: float
    """The same with what it has without load: of one that polls the whole of its time."""
    busy_without_load: float
    """Share of the time that it runs at next to no load."""


class OutsideFunction(Record):
    """One function of the chain that is outside weir-dp."""

    node: str
    """f1, f2, …"""
    title: str
    """What forwards."""
    kind: str


class OutsideLean(Document):
    """One chain under one technology."""

    VERSION: ClassVar[int] = OUTSIDE_LEAN_VERSION

    version: int = OUTSIDE_LEAN_VERSION
    lab: str
    chain: str
    technology: str
    frame: str
    load_pps: float
    """Both directions together."""
    duration_s: float
    """Of each trial."""
    repeats: int
    tsc_hz: float
    functions: list[OutsideFunction]
    areas: list[OutsideArea]
    """All that worked for the chain outside weir-dp, most first: switch and kernel are not told apart from
    functions that the kernel is."""
    loss_ratio: float
    """Of all of its packets."""
    fidelity: list[str]
    fingerprint: Fingerprint
    notes: list[str]


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `weir lean --json` writes of functions outside weir-dp."""
    return document_schema(OutsideLean, f"Weir lean outside, version {OUTSIDE_LEAN_VERSION}")
