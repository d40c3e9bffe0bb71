# SPDX-License-Identifier: Apache-2.0
"""What weir-dp answers of traffic: a run's counts, delays and slices; how far one is that goes on."""

from __future__ import annotations

from typing import Literal

from weir.base.si import NS_PER_US
from weir.protocol.ledger import Reply


class Started(Reply):
    """The run that has begun."""

    run: int


class CaptureFacts(Reply):
    """What a stream sends of its capture."""

    frames: int
    """Those that pass the filter."""
    mean_frame_bytes: float
    """With FCS."""
    frame_bytes_most: int
    """The same of the longest."""
    recorded_pps: float
    """The file's own rate; 0: one frame, or all at one time."""
    lead_ns: float
    """From the file's first frame to the first that passes."""
    span_ns: float
    """From that one to the last."""


class TrafficConfigured(Reply):
    """The streams are set."""

    captures: dict[str, CaptureFacts]
    """By stream, of those that send a capture."""


class RunState(Reply):
    """Still running, stopped by `stop` before its end, or done with the counts of `TrafficResult`."""

    state: Literal["running", "stopped", "done"]
    run: int | None = None


class StallCount(Reply):
    """Gaps above the threshold in one core's loop, during one run."""

    core: int
    count: int
    total_us: float
    longest_us: float
    host_count: int = 0
    """Those of them for which the kernel's clock of the thread stood still: the host had the core."""
    host_us: float = 0.0


class LatencySummary(Reply):
    """Of one stream's packets, in time of the time-stamp counter: latency, from when they were due to their
    arrival, or lateness, from when they were due until they were built."""

    count: int
    min_ns: float
    mean_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p999_ns: float
    p9999_ns: float = 0.0
    max_ns: float


class IpdvSummary(Reply):
    """IPDV (RFC 5481, 4.1): a packet's delay less that of the packet sent before it, both received in order.

    `size` is without the sign.
    """

    pairs: int
    min_ns: float
    max_ns: float
    mean_size_ns: float
    p50_size_ns: float
    p90_size_ns: float
    p99_size_ns: float
    p999_size_ns: float
    p9999_size_ns: float


class JitterSummary(Reply):
    """Interarrival jitter (RFC 3550, 6.4.1) after each packet, in order of arrival."""

    mean_ns: float
    max_ns: float
    last_ns: float


class GapSummary(Reply):
    """Gaps in the sequence that arrived, reordered packets' among them."""

    count: int
    last_lost_ns: float
    """From the start of the run: when the last lost packet can have been sent at latest."""
    longest_ns: float
    """Between the arrivals on the two sides of a gap, at most."""


class FrameChange(Reply):
    """What differed first in a sampled frame."""

    what: Literal["length", "payload", "trailer"]
    """The length of the payload of UDP or TCP, a byte of it, or bytes behind the IP packet."""
    sequence: int
    """Number of the packet in its stream, from 0."""
    offset_bytes: int
    """From the start of the payload, where Weir's stamp is; of a length, the shorter one."""
    expected: int
    received: int
    """Bytes of a length or a trailer, or the value of the byte."""


class FrameSample(Reply):
    """Frames that the receiver compared with what was sent: one of 67, drawn at random, and the first one."""

    sampled: int
    changed: int
    first: FrameChange | None = None
    """Of those that changed."""


class Learned(Reply):
    """Flows of a stream that another one answers, after a run that learns."""

    flows: int
    arrived: int
    translated: int
    """Of these, those that came with another address or port, of either end, than they were sent with."""


class StreamResult(Reply):
    """One stream in one run.

    The port refused `tx_refused` of the `offered` packets that it was handed. `too_late` packets arrived
    after the drain, or after 65,536 later ones, and are not among `delivered`.
    """

    id: int
    intended: int
    offered: int
    offered_bytes: int = 0
    """With FCS, of a capture's frames; 0 of all others."""
    tx_refused: int
    delivered: int
    duplicates: int = 0
    reordered: int = 0
    late_from_earlier_run: int = 0
    too_late: int = 0
    negative: int = 0
    """Arrived before they were sent, as the clocks have it: delivered without a delay."""
    latency: LatencySummary | None = None
    lateness: LatencySummary | None = None
    """Of the generator; None without a rate, where packets are due when they are sent."""
    ipdv: IpdvSummary | None = None
    """Where the run was asked for it, as `jitter`."""
    jitter: JitterSummary | None = None
    tagged_ns: float | None = None
    """Delay of the tagged packet, where one was asked for and arrived."""
    gaps: GapSummary | None = None
    """None where every packet arrived."""
    frame_sample: FrameSample | None = None
    learned: Learned | None = None
    """Of a run that learns, where another stream answers this one."""


class ReceiverResult(Reply):
    """Packets at a receiver that count for no stream: not ours, damaged, or of an earlier run."""

    port: str
    foreign: int = 0
    malformed: int = 0
    stale: int = 0
    untimed: int = 0
    """Delivered without a delay: the network card that times arrivals gave no stamp that can be true."""
    clock_steps: int = 0
    """How often somebody set the card's clock in the run, or it could not be read."""


class Gap(Reply):
    """One gap of a core's loop above its threshold."""

    core: int
    ended_us: float
    """From the run's start."""
    us: float
    host_us: float
    """What of it the host took; 0: not the host's."""
    area: str | None = None
    """Whose poll it was; absent: the host's, or of no one poll."""


class StreamSlices(Reply):
    """The packets of one stream by the slice of time in which they were due."""

    id: int
    due: tuple[int, ...]
    """With a constant rate what the load asks for; else those offered."""
    offered: tuple[int, ...]
    delivered: tuple[int, ...]
    delay_ns: tuple[int, ...]
    """Mean from when they were due; 0 where none was delivered."""
    late_ns: tuple[int, ...]
    """Of it, until they were sent; 0 with drawn gaps."""

    def transit_us(self, at: int) -> float:
        """Mean of a slice from when its packets were sent: what the system under test took."""
        return max(0, self.delay_ns[at] - self.late_ns[at]) / NS_PER_US


class CoreDistance(Reply):
    """How far a core was just before the run."""

    core: int
    distance_cycles: int
    """From the first polling core there and back; 0 of that one, and where it could not be measured."""


class CoreSlices(CoreDistance):
    """One polling core, slice by slice."""

    piece_cycles: tuple[int, ...]
    """Least of the pieces of work that it timed; 0 where it timed none."""


class OtherCore(CoreDistance):
    """A core on which no loop of weir-dp polls."""

    piece_cycles: int = 0
    """Least of sixteen pieces of work that a thread of weir-dp timed there just before the run."""


class Slices(Reply):
    """A run in slices of its time, and when its cores were away."""

    width_ns: int
    start_raw_ns: int
    """CLOCK_MONOTONIC_RAW at the run's start, for what others timed."""
    now_raw_ns: int
    """The same when this was answered, and what the run's own clock said then:"""
    now_us: float
    streams: tuple[StreamSlices, ...]
    cores: tuple[CoreSlices, ...]
    other_cores: tuple[OtherCore, ...] = ()
    gaps: tuple[Gap, ...] = ()
    gaps_left_out: int = 0
    """More than the 2,048 a core that are kept."""

    @property
    def width_us(self) -> float:
        """Of one slice."""
        return self.width_ns / NS_PER_US


class TrafficResult(Reply):
    """A finished run of traffic."""

    run: int
    tx_duration_ns: float
    streams: tuple[StreamResult, ...]
    receivers: tuple[ReceiverResult, ...] = ()
    stalls: tuple[StallCount, ...] = ()
    gone_ports: tuple[str, ...] = ()
    slices: Slices | None = None
    """Where the run was asked for them."""


class TrafficSoFar(Reply):
    """What a run has counted up to now; `intended` is not known before its end."""

    run: int
    streams: tuple[StreamResult, ...]
    stalls: tuple[StallCount, ...] = ()
    gone_ports: tuple[str, ...] = ()


class LatencyInterval(Reply):
    """One-way latency up to now; least and greatest since the last look."""

    count: int
    mean_ns: float
    min_ns: float
    max_ns: float


class VariationInterval(Reply):
    """IPDV and jitter since the last look, but for the mean and the count: these are of the whole run."""

    ipdv_min_ns: float
    ipdv_max_ns: float
    jitter_count: int
    jitter_mean_ns: float
    jitter_max_ns: float


class StreamInterval(Reply):
    """One stream up to now, at one moment of its receiver."""

    id: int
    offered: int
    tx_refused: int
    delivered: int
    duplicates: int = 0
    reordered: int = 0
    too_late: int = 0
    missing: int = 0
    """Sent before one that arrived, and not arrived (yet)."""
    latency: LatencyInterval
    variation: VariationInterval | None = None
    losses: tuple[tuple[int, int], ...] = ()
    """Since the last look: nanoseconds from the run's start until it was noticed, packets."""
    losses_left_out_packets: int = 0
    """Packets of losses beyond the 64 that are kept."""


class TrafficInterval(Reply):
    """A run up to now, and what happened in it since the last look. No counter is reset by looking."""

    run: int
    now_ns: int
    """From the run's start."""
    now_raw_ns: int
    """CLOCK_MONOTONIC_RAW then, for what others timed: an answer may be long under way."""
    streams: tuple[StreamInterval, ...]
    stalls: tuple[StallCount, ...] = ()
    """Since the run's start."""
    gaps: tuple[Gap, ...] = ()
    gaps_left_out: int = 0
    """More than the 2,048 a core that are kept."""
    gone_ports: tuple[str, ...] = ()


class DelayHistogram(Reply):
    """Buckets that are not empty, smallest first: from (ns), up to but without (ns), packets."""

    buckets: tuple[tuple[float, float, int], ...]
