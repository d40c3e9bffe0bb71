# SPDX-License-Identifier: Apache-2.0
"""A live migration under load: what QEMU says of it, and what the traffic saw, phase by phase.

Times are seconds from the start of the traffic, or milliseconds where the name says so. Outages are derived
from loss, as RFC 6413 (Loss-Derived Method) has it: packets of a stream that went missing, divided by the
rate at which it was sent.
"""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record

Status = Literal["not begun", "running", "completed", "failed", "cancelled", "interrupted", "unknown"]
PhaseName = Literal["primary", "unplugging", "stand-by", "switchover", "replugging", "primary again", "back"]


class PhaseStream(Record):
    """One direction in one phase."""

    stream: int
    direction: str
    offered: int
    """By the first look at the counters after each end of the phase, as `delivered`."""
    delivered: int
    missing: int
    """In gaps that began in this phase, whenever they were noticed; what came late is among them, too."""
    outage_ms: float
    """`missing`, divided by the stream's rate."""
    longest_gap_ms: float
    """The same of the largest single loss."""
    silent_to_the_end: bool = False
    """The last loss began in this phase, and nothing came any more: as long as the traffic lasted."""
    max_delay_ms: float
    """Greatest latency of a packet that arrived in the phase."""


class MigrationPhase(Record):
    """Some part of the time under load."""

    name: PhaseName
    """Primaries carry the traffic; are taken from the guest; stand-bys carry it while memory is copied; the
    guest stands still; it runs in the second QEMU and gets its primaries; they carry the traffic again. back:
    after a migration that failed, until the primaries carry the traffic again where the guest was."""
    from_s: float
    to_s: float
    streams: list[PhaseStream] = []


class QemuFigures(Record):
    """What QEMU says of a migration that was completed (query-migrate)."""

    total_ms: int
    downtime_ms: int
    """From stopping the guest until its state was sent: its start elsewhere and the network come on top."""
    setup_ms: int
    transferred_bytes: int
    """Of memory."""
    memory_bytes: int
    """That the guest has."""
    rounds: int
    """Over the guest's memory (dirty-sync-count)."""


class Migration(Record):
    """Of one function of a chain, from one QEMU to another on the same machine."""

    function: str
    """Its name in the lab."""
    node: str
    """Its name in the chain."""
    load: str
    """As it was asked for."""
    load_pps: float
    """Both directions together."""
    downtime_limit_ms: int
    """Asked of QEMU, as is `bandwidth_bps`."""
    bandwidth_bps: float | None = None
    """None: QEMU's own limit."""
    primary: str
    """What the primary devices are."""
    status: Status = "running"
    """not begun: the run ended before it. running: it is under way, or its run was killed. interrupted: the
    run ended in the middle of it. unknown: QEMU does not say how it ended."""
    why: str | None = None
    """Why it was not completed."""
    restored: bool = False
    """Whether the primaries carried the traffic again in the end."""
    qemu: QemuFigures | None = None
    phases: list[MigrationPhase] = []
    faults: list[str] = []
    """Why its figures are not to be used: sentences."""
