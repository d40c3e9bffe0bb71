# SPDX-License-Identifier: Apache-2.0
"""The result of a run: what `weir run` stores and every report reads. Units are in the names.

Shapes follow MLRsearch and RFC 2544 terms: a *trial* offers packets for a duration; a *throughput* is the
conditional throughput of one search goal; rates are totals over both directions unless a field says otherwise.
L2 bit/s counts the frame with FCS; L1 adds 20 B of preamble and gap.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from weir.spec.topology import Topology

RESULT_VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Drop(_Record):
    """Packets lost at one place for one reason, counted there (not inferred)."""

    place: str  # "tester.left", "net0:f1.left", "area f1"
    reason: str  # symbol: "tx_queue_full", "rx_backlog_full", …
    packets: int


class Stall(_Record):
    """A gap of a polling loop: the host took the core away."""

    core: int
    count: int
    total_us: float
    longest_us: float


class Latency(_Record):
    """One-way latency by software timestamps (time-stamp counter), over delivered packets."""

    packets: int
    min_us: float
    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float


class StreamCount(_Record):
    """Counters of one stream (one direction) in one trial."""

    stream: int
    direction: str  # "left-to-right" | "right-to-left"
    intended: int
    offered: int
    delivered: int
    duplicates: int
    reordered: int
    latency: Latency | None = None


class Trial(_Record):
    """One trial. `offered` = `delivered` + Σ `drops` + `unaccounted`, exactly; valid only if unaccounted is 0."""

    purpose: Literal["calibration", "search", "curve", "confirm"]
    intended_load_pps: float
    intended_duration_s: float
    duration_s: float
    intended: int
    offered: int
    delivered: int
    loss_ratio: float  # 1 - delivered / offered
    drops: list[Drop] = []
    unaccounted: int = 0
    duplicates: int = 0
    reordered: int = 0
    stalls: list[Stall] = []
    loss_during_stall: bool = False  # loss, and a stall was seen: the label of design rule "host stalls"
    valid: bool
    invalid_because: list[str] = []
    streams: list[StreamCount] = []


class Throughput(_Record):
    """What one search goal found."""

    goal: str  # "NDR" | "PDR" | a user's name
    goal_loss_ratio: float
    status: Literal["found", "irregular"]
    why: str | None = None  # sentence for irregular
    load_pps: float | None = None  # conditional throughput: median over repeats, both directions together
    load_min_pps: float | None = None
    load_max_pps: float | None = None
    lower_bound_pps: float | None = None  # relevant lower bound: intended load, median over repeats
    upper_bound_pps: float | None = None  # relevant upper bound, likewise; None: no load was too much
    repeats: int = 0
    l2_bps: float | None = None
    l1_bps: float | None = None
    loss_ratio: float | None = None  # measured again at lower_bound_pps
    tester_bound: bool = False
    stall_labelled: bool = False


class Ceiling(_Record):
    """The tester alone, in loopback over the same kind of port (design rule 2)."""

    max_pps: float  # both directions together
    latency_floor_us: float | None
    timestamp_resolution_ns: float
    limited_by: str  # sentence


class Case(_Record):
    """One frame size (or IMIX) on one built chain."""

    frame: str  # "64", "imix:aaaaaaaddddg"
    mean_frame_bytes: float
    ceiling: Ceiling | None = None
    throughput: list[Throughput] = []
    curve: list[Trial] = []
    trials: list[Trial] = []
    problem: str | None = None  # the case was given up; why
    seconds: float = 0.0


class Setup(_Record):
    """One technology and chain, deployed once."""

    technology: str
    chain: str
    datapath: str  # "Linux bridge (kernel)", "Open vSwitch 3.1.0 (userspace datapath)", "none"
    topology: Topology | None = None
    fidelity: list[str] = []  # sentences, design rule 5
    refused: str | None = None  # why this machine cannot run it, with what is missing
    bring_up_s: float | None = None
    cases: list[Case] = []


class Fingerprint(_Record):
    """Where and with what (design rule 6)."""

    cpu: str
    cores: int
    kernel: str
    cmdline: str
    governor: str
    smt: str
    isolated: str
    numa_nodes: int
    hugepages_2m: int
    memory: str
    hypervisor: str
    tsc_hz: int
    offloads: str
    versions: dict[str, str]


class Result(_Record):
    """A whole run of a lab."""

    version: int = RESULT_VERSION
    weir: str
    id: str
    lab: str
    title: str
    quick: bool
    spec_sha256: str
    seed: int
    started_at: str  # RFC 3339, UTC
    finished_at: str | None = None
    seconds: float = 0.0
    interrupted: bool = False
    baseline: str  # technology that ratios refer to
    fingerprint: Fingerprint
    spec: dict[str, Any]  # the resolved lab
    setups: list[Setup] = []
