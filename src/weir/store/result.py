# SPDX-License-Identifier: Apache-2.0
"""The result of a run: what `weir run` stores and every report reads. Units are in the names.

Shapes follow MLRsearch and RFC 2544 terms: a *trial* offers packets for a duration; a *throughput* is the
conditional throughput of one search goal; rates are totals over both directions unless a field says
otherwise. L2 bit/s counts the frame with FCS; L1 adds 20 B of preamble and gap.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from weir.spec.topology import Topology

RESULT_VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Drop(_Record):
    """Packets lost at one place for one reason, counted there (not inferred)."""

    place: str
    """Where it was counted: "tester.left", "net0:f1.left", "area f1"."""
    reason: str
    """A symbol: "tx_queue_full", "rx_backlog_full"."""
    packets: int


class Stall(_Record):
    """A gap of a polling loop: the host took the core away."""

    core: int
    """The processor core that was taken away."""
    count: int
    """Gaps longer than the lab's `stall_threshold_us`."""
    total_us: float
    """Their sum."""
    longest_us: float
    host_count: int = 0
    """Those that the host made: the kernel's clock of the thread stood still."""
    host_us: float = 0.0
    """Their sum."""


class Latency(_Record):
    """One-way latency by software timestamps (time-stamp counter), over delivered packets."""

    packets: int
    min_us: float
    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    p9999_us: float = 0.0
    max_us: float


class Pdv(_Record):
    """Delay above the least one of the trial (RFC 5481, 4.2): quantiles of the latency, less its minimum."""

    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    p9999_us: float
    max_us: float


class Ipdv(_Record):
    """Delay less that of the packet sent before it, both received in order (RFC 5481, 4.1)."""

    pairs: int
    min_us: float
    """With its sign, as max_us."""
    max_us: float
    mean_size_us: float
    """Without its sign, as all that follow."""
    p50_size_us: float
    p90_size_us: float
    p99_size_us: float
    p999_size_us: float
    p9999_size_us: float


class Jitter(_Record):
    """Interarrival jitter (RFC 3550, 6.4.1) after each packet, in order of arrival."""

    mean_us: float
    max_us: float
    last_us: float


class StreamCount(_Record):
    """Counters of one stream (one direction) in one trial."""

    stream: int
    """Its number in the traffic."""
    direction: str
    """Either "left-to-right" or "right-to-left"."""
    intended: int
    """Packets that the load asks for in the time."""
    offered: int
    """Packets handed to the port on schedule."""
    delivered: int
    """Packets of this trial received, each counted once."""
    duplicates: int
    """Packets received again."""
    reordered: int
    """Packets received after a later one."""
    latency: Latency | None = None
    pdv: Pdv | None = None
    """Of trials that measure delay, as what follows."""
    ipdv: Ipdv | None = None
    jitter: Jitter | None = None
    histogram: list[tuple[float, float, int]] = []
    """Latency: from (us), up to but without (us), packets; only where there are any."""


class StageLoad(_Record):
    """One stage of a path in one trial."""

    nf: str
    packets_in: int
    cycles: int
    dropped: int
    """By its own decision, for whatever reason."""


class PathLoad(_Record):
    """One path of an area in one trial: packets from its inputs, through its stages, to its outputs."""

    name: str
    inputs: list[str]
    """Ports, or rings, that it empties."""
    outputs: list[str]
    """Ports, or rings, that it fills."""
    packets_in: int
    packets_out: int
    dropped: int
    """Found no room in an output."""
    fastpath_cycles: int = 0
    """Of what the fast path decided; walks through the stages are theirs."""
    stages: list[StageLoad] = []
    """In their order."""


class AreaLoad(_Record):
    """Time and packets of one execution area in one trial. Cycles are of the time-stamp counter."""

    name: str
    core: int
    kind: str
    """chain, dispatcher, owner, applier, collector, generator or receiver."""
    busy_cycles: int
    """Of polls that handled a packet."""
    idle_cycles: int
    """Of polls that found none, from before the trial until its last packets were waited for."""
    long_polls: int = 0
    """With packets, longer than the lab's `stall_threshold_us`, and not because the host had the core."""
    long_cycles: int = 0
    paths: list[PathLoad] = []
    """None of the tester's areas."""


class Trial(_Record):
    """One trial. `offered` = `delivered` + Σ `drops` + `unaccounted`; valid only if unaccounted is 0."""

    purpose: Literal["calibration", "search", "curve", "confirm", "latency", "first-packets"]
    intended_load_pps: float
    """Both directions together; for calibration what was reached."""
    intended_duration_s: float
    duration_s: float
    """Time that sending took."""
    intended: int
    """Packets that the load asks for in the time."""
    offered: int
    """Packets handed to the tester's ports."""
    delivered: int
    """Packets received, each counted once."""
    loss_ratio: float
    """Always 1 - delivered / offered."""
    drops: list[Drop] = []
    """Where and why packets were lost."""
    unaccounted: int = 0
    """Packets that nobody counted; below 0: too many were counted."""
    backlog: int = 0
    """Packets still queued when sending ended, by the growth of latency; a search takes them for lost."""
    duplicates: int = 0
    reordered: int = 0
    stalls: list[Stall] = []
    """Stalls of the host seen while it ran."""
    loss_during_stall: bool = False
    """Packets were lost, and a stall was seen in the same trial."""
    valid: bool
    """Whether the trial may be used."""
    invalid_because: list[str] = []
    """Sentences with numbers; empty for a valid trial."""
    streams: list[StreamCount] = []
    """The same for each direction."""
    areas: list[AreaLoad] = []
    """Where the time went; of the warm-up ("calibration"), curve and confirming trials."""


class Throughput(_Record):
    """What one search goal found."""

    goal: str
    """NDR, PDR, or a name that the lab gives."""
    goal_loss_ratio: float
    """What the goal allows."""
    status: Literal["found", "irregular"]
    why: str | None = None
    """Why it is irregular, or what to bear in mind though it was found."""
    load_pps: float | None = None
    """Conditional throughput: median over the repeats, both directions together."""
    load_min_pps: float | None = None
    """Lowest of the repeats."""
    load_max_pps: float | None = None
    """Highest of the repeats."""
    lower_bound_pps: float | None = None
    """Relevant lower bound: intended load, median over repeats."""
    upper_bound_pps: float | None = None
    """Relevant upper bound, likewise; None: no load was too much."""
    repeats: int = 0
    """Searches that found a throughput."""
    l2_bps: float | None = None
    """The same rate in bit/s of frames with FCS."""
    l1_bps: float | None = None
    """The same with 20 B a frame of preamble and gap."""
    loss_ratio: float | None = None
    """Measured again at `lower_bound_pps`."""
    tester_bound: bool = False
    """Within 10 % of the tester's own ceiling: the system under test may do more."""
    stall_labelled: bool = False
    """Stalls of the host can explain the loss of a trial at a load that bounds it."""


class Ceiling(_Record):
    """The tester alone, in loopback over the same kind of port."""

    max_pps: float
    """Highest rate, both directions together."""
    latency_floor_us: float | None
    """Latency of the tester and its wire alone."""
    timestamp_resolution_ns: float
    """Smallest difference that a timestamp can show."""
    limited_by: str
    """A sentence: what stops it."""


class DelayPoint(_Record):
    """Delay at one load."""

    load: str
    """As the lab says it: "50% PDR"."""
    load_pps: float
    """Both directions together."""
    first_packets: bool = False
    """Only the first packet of each flow was measured."""
    trials: list[Trial] = []
    """One for each repeat, the last of its retries; `streams` have the distributions."""
    worst_direction: str | None = None
    """The one with the highest P99 over all trials."""


class Verdict(_Record):
    """One limit of the service level, judged."""

    criterion: str
    """What is limited: "latency P99"."""
    load: str | None = None
    """The latency load; none for a throughput."""
    direction: str | None = None
    limit: float
    found: float | None
    """None: it could not be measured, and so is not met."""
    unit: str
    share: float | None
    """Of the limit that is used up: above 1 it is not met. None where there is no such number."""
    met: bool


class Case(_Record):
    """One frame size (or IMIX) on one built chain."""

    frame: str
    """Size in bytes with FCS, or "imix:" and a genome of RFC 6985."""
    mean_frame_bytes: float
    """Mean size over the mix, with FCS."""
    ceiling: Ceiling | None = None
    throughput: list[Throughput] = []
    """One for each search goal."""
    curve: list[Trial] = []
    """Received against offered."""
    trials: list[Trial] = []
    """All others, valid or not, in order."""
    delays: list[DelayPoint] = []
    """Latency, PDV, IPDV and jitter at given loads."""
    verdicts: list[Verdict] = []
    """One for each limit of the lab's service level."""
    problem: str | None = None
    """Why the case was given up."""
    seconds: float = 0.0
    """Time that it took."""


class Setup(_Record):
    """One technology and chain, deployed once."""

    technology: str
    """As the lab names it."""
    chain: str
    """PVP, PVVP, or the function names joined by hyphens."""
    datapath: str
    """What switches: "Linux bridge (kernel)", "Open vSwitch 3.1.0 (userspace datapath)", "none"."""
    topology: Topology | None = None
    """What was built."""
    fidelity: list[str] = []
    """What the numbers rest on, in sentences."""
    refused: str | None = None
    """Why this machine cannot run it, with what is missing."""
    bring_up_s: float | None = None
    """Time to build it."""
    cases: list[Case] = []
    """One for each frame size."""


class Fingerprint(_Record):
    """The machine and its software. Two results compare only if these agree."""

    cpu: str
    """Model of the processor."""
    cores: int
    """Cores that the run could use."""
    kernel: str
    cmdline: str
    """Command line of the kernel."""
    governor: str
    """Frequency governor."""
    smt: str
    """Simultaneous multithreading."""
    isolated: str
    """Isolated cores, as the kernel lists them."""
    numa_nodes: int
    hugepages_2m: int
    """Hugepages of 2 MiB."""
    memory: str
    """Hugepages or not: what weir-dp had."""
    hypervisor: str
    """Empty on bare metal."""
    tsc_hz: int
    """Rate of the time-stamp counter."""
    offloads: str
    """Offloads of the kernel's interfaces."""
    versions: dict[str, str]
    """Versions of the software that took part."""


class Result(_Record):
    """A whole run of a lab."""

    version: int = RESULT_VERSION
    """Version of this format."""
    weir: str
    """Version of Weir."""
    id: str
    """Unique name of the run."""
    lab: str
    """Name of the lab."""
    title: str
    """Its title."""
    quick: bool
    """The lab's quick overlay was used."""
    spec_sha256: str
    """Hash of the resolved lab."""
    seed: int
    """Seed of everything random."""
    started_at: str
    """Time in RFC 3339, UTC."""
    finished_at: str | None = None
    seconds: float = 0.0
    """Time that the run took."""
    interrupted: bool = False
    """Stopped early; what had finished is here."""
    baseline: str
    """The technology that ratios refer to."""
    fingerprint: Fingerprint
    spec: dict[str, Any]
    """The resolved lab."""
    setups: list[Setup] = []
    """One for each technology and chain."""
