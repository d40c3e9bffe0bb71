# SPDX-License-Identifier: Apache-2.0
"""A soak: a load for hours, looked at every interval. Units are in the names.

Offsets are seconds of wall clock since the soak began, so that the gap of an interruption is part of the
time axis. Counts of an interval are differences of counters that are never reset: no packet falls between
two intervals.
"""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record
from weir.results.delay import Ipdv, Jitter, Latency, Pdv
from weir.results.trial import Drop, Stall, Trial


class SoakStream(Record):
    """One stream in one interval, or in all of the time up to some point."""

    stream: int
    direction: str
    offered: int
    refused: int
    """Of them the port did not take: the queue of the system under test was full."""
    delivered: int
    lost: int
    """Sent before a packet that arrived, and not arrived; all, as long as none arrived. Below 0: some came
    late after all."""
    duplicates: int
    reordered: int
    latency: Latency | None = None
    """Quantiles from the histogram (0.8 %); least and greatest exactly. Absent while the load settles."""
    pdv: Pdv | None = None
    ipdv: Ipdv | None = None
    jitter: Jitter | None = None
    """`last_us` is the mean too: the value at a moment says nothing about an interval."""
    histogram: list[tuple[float, float, int]] = []
    """Latency: from (us), up to but without (us), packets; in an interval four buckets an octave."""
    ipdv_histogram: list[tuple[float, float, int]] = []
    """IPDV without its sign, likewise; of prefixes only."""


class SoakEvent(Record):
    """Something that happened at a moment: packets went missing, or a loop stood still for long."""

    kind: Literal["loss", "stall"]
    at: str
    """Wall clock, RFC 3339, UTC."""
    offset_s: float
    stream: int | None = None
    """Of a loss, as all up to `during_stall`."""
    direction: str | None = None
    packets: int | None = None
    """Missing when it was noticed."""
    out_of_order: bool = False
    """They came later: of the stream nothing was lost in the interval, and some were reordered."""
    counters: list[Drop] = []
    """What counted drops in the same interval."""
    during_stall: bool | None = None
    """A stall ended no more than 10 ms before, or less than 1 ms after it was noticed."""
    core: int | None = None
    """Of a stall, as all that follow."""
    us: float | None = None
    by: Literal["host", "function", "tester", "loop"] | None = None
    """Who kept the core: the host; a poll with packets, of a function or the tester; the loop as a whole."""
    area: str | None = None
    """Whose poll it was."""
    taker: str | None = None
    """The program that had the core meanwhile, "python3 (4711)", where the kernel tells; "several programs":
    none of them for most of the stall; "who had it was not recorded"."""


class CoreTaken(Record):
    """How long a program that takes no part had a core of the chain, in an interval."""

    core: int
    by: str
    us: float


class CoreUnrecorded(Record):
    """For how long nobody knows who had a core of the chain, in an interval: it went from one thread to
    another more often than is kept."""

    core: int
    us: float


class ProcessFigures(Record):
    """One process at the end of an interval; times and switches since it began."""

    name: str
    pid: int
    rss_kib: int
    """Resident memory without hugepages."""
    hugepages_kib: int
    cpu_s: float
    """User and system, all threads."""
    threads: int
    voluntary_switches: int
    """All threads, as the next."""
    involuntary_switches: int


class PoolFigures(Record):
    """Buffers of one pool."""

    name: str
    size: int
    free: int


class TableFigure(Record):
    """What a function reports of itself, such as the flows in its table."""

    place: str
    """Area and stage."""
    name: str
    value: int


class SoakInterval(Record):
    """One interval, committed to the store at its end."""

    number: int
    """From 1, over the whole soak."""
    segment: int
    """Number of the segment that it is part of."""
    at: str
    """Wall clock at its end, RFC 3339, UTC."""
    from_s: float
    to_s: float
    step: int | None = None
    """Of the schedule, from 1, in which its middle lies; absent: one load."""
    streams: list[SoakStream]
    drops: list[Drop] = []
    """Counted in it, by place and reason; without packets that functions held at its end."""
    stalls: list[Stall] = []
    """`longest_us` of those that are known singly."""
    taken: list[CoreTaken] = []
    """Of each core those that had it for longest, and "other programs" together; none where the kernel does
    not tell."""
    some_taken_us: float | None = None
    """For how long such programs had one of the cores at least; absent: of an older Weir."""
    unrecorded: list[CoreUnrecorded] = []
    """What `taken` lacks."""
    events: list[SoakEvent] = []
    events_left_out: int = 0
    """Losses and stalls beyond those listed; their packets and times are counted."""
    losses_left_out: int | None = None
    """Of them, losses of packets that did not come later; absent: not known."""
    stalls_left_out: int | None = None
    """Of them, stalls; absent: not known. The rest came out of order."""
    losses_unseen: bool = False
    """There were more losses than weir-dp keeps moments of: 64 a stream."""
    stalls_unseen: bool = False
    """There were more stalls, of any length, than weir-dp keeps moments of: 2,048 a core."""
    processes: list[ProcessFigures] = []
    pools: list[PoolFigures] = []
    tables: list[TableFigure] = []
    look_ms: float = 0.0
    """Time that reading all of this took, while the load went on."""


class SoakSegment(Record):
    """Load without a break. An interrupted soak that goes on has several."""

    number: int
    started_at: str
    from_s: float
    to_s: float | None = None
    """Absent: it was killed, or goes on; then its last interval is its end."""
    ended: Literal["open", "complete", "interrupted", "failed", "killed"] = "open"
    """open: going on, or killed and not gone on with yet; killed: nobody counted its last packets."""
    deployment: str | None = None
    """What was built for it."""
    why: str | None = None
    trial: Trial | None = None
    """Its ledger from beginning to end; absent while it is open."""
    pools_before: list[PoolFigures] = []
    """Before the load and after it, without packets under way."""
    pools_after: list[PoolFigures] = []
    buffers_lost: int | None = None
    """Buffers that did not come back to their pools."""
    buffers_kept_most: int = 0
    """What queues may keep of packets that are sent: drivers free them when they need room, so a few bursts
    a port vary, and places that the warm-up left unused. No more than that is no leak."""
    differs: list[str] = []
    """What is not as it was when the soak began: machine, versions."""


class SoakPrefix(Record):
    """What a shorter run would have shown: the first part of this one, and all parts of that length."""

    name: str
    """ "1 min", "10 min", "1 h", "all"."""
    seconds: float
    """Measured time, without settling."""
    streams: list[SoakStream]
    """Of the first part."""
    windows: int = 0
    """Whole windows of that length, one behind the other."""
    max_us_least: float | None = None
    """The greatest latency in a window, any stream: least, median and greatest over the windows."""
    max_us_median: float | None = None
    max_us_most: float | None = None


class SoakStep(Record):
    """One load of a schedule, and what happened to it whenever its turn came."""

    load: str
    """As it was asked for: "50% PDR", "pause"."""
    load_pps: float
    """Both directions together; 0: a pause."""
    duration_s: float
    """Each time."""
    seconds: float = 0.0
    """Of its intervals."""
    streams: list[SoakStream] = []
    """All of its intervals."""


class Drift(Record):
    """A straight line through the intervals of the longest segment, by least squares."""

    subject: str
    """Process, pool, table or stream."""
    what: str
    unit: str
    points: int
    start: float
    """The line at its beginning."""
    change: float
    """The line at its end, less `start`."""
    change_low: float
    """95 % interval of the change, as if deviations were independent."""
    change_high: float
    share: float | None
    """`change` / `start`; absent where that says nothing: the line may as well begin at 0, or below."""
    share_low: float | None = None
    share_high: float | None = None
    seconds: float
    """Between beginning and end."""


class BrokenLimit(Record):
    """A limit of the service level, and the intervals that broke it."""

    criterion: str
    direction: str | None
    limit: float
    unit: str
    intervals: int
    """How many there are."""
    worst: float
    worst_interval: int
    first_intervals: list[int]
    """Numbers of the first of them."""


class Soak(Record):
    """Load on one built chain: one, or a schedule of them."""

    load: str
    """As it was asked for: "50% PDR", "1Mpps", "schedule"."""
    load_pps: float
    """Both directions together; of a schedule the highest."""
    schedule: list[SoakStep] = []
    """Loads one after the other, and again from the first; none: one load."""
    duration_s: float
    """Asked for."""
    interval_s: float
    settle_s: float
    """At the beginning of each segment: counted, but delays are not measured."""
    started_at: str
    measured_s: float = 0.0
    """Under load, without gaps."""
    offered: int = 0
    delivered: int = 0
    lost: int = 0
    """By the closed ledgers of segments; by sequence numbers in one that is open."""
    unaccounted: int | None = None
    """Of the segments whose ledger was closed; absent: none was."""
    buffers_lost: int | None = None
    """Of the same segments, the most."""
    segments: list[SoakSegment] = []
    prefixes: list[SoakPrefix] = []
    drifts: list[Drift] = []
    broken: list[BrokenLimit] = []
    faults: list[str] = []
    """Why it fails, apart from the service level: sentences."""
    notes: list[str] = []
    intervals: list[SoakInterval] = []
