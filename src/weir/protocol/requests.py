# SPDX-License-Identifier: Apache-2.0
"""What weir-dp can be asked, as Python shapes: the arguments of its commands. Unknown keys are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Mac = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$")]
QueueSize = Annotated[int, Field(ge=32, le=32768)]
L4Port = Annotated[int, Field(ge=1, le=32767)]
NANOSECONDS_MAX = 7 * 24 * 3600 * 10**9
RATE_MAX_PPS = 1e10
PACKETS_MAX = 1 << 40


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Nothing(_Arguments):
    """No arguments."""


class PortConfig(_Arguments):
    """One port. Either `devargs`, or a `kind` with what that kind needs."""

    name: str
    kind: Literal["null", "memory", "packet_socket", "af_packet", "af_xdp", "tap", "physical"] | None = None
    devargs: str | None = None
    """DPDK device arguments, such as "net_virtio_user0,path=/run/x.sock,server=1"."""
    interface: str | None = None
    """Kernel interface, or PCI address of a physical port."""
    netns: str | None = None
    """Path of the network namespace in which the port is opened."""
    mac: Mac | None = None
    """Its own address; only ports with one take part in `teach`."""
    peer: str | None = None
    """The other end of an in-memory port."""
    wire: Literal["virtual", "physical"] = "virtual"
    """What a full queue means: on a virtual wire that the system under test had no room."""
    timestamps: Literal["counter", "auto", "hardware"] = "counter"
    """What times arrivals at a receiver: the time-stamp counter; a network card's stamps where it has some
    and its clock can be read; or these, or the port is refused."""
    rx_queue_size: QueueSize = 1024
    """Descriptors."""
    tx_queue_size: QueueSize = 1024
    """Descriptors."""


class RingConfig(_Arguments):
    """A queue between two areas."""

    name: str
    size: int = Field(default=4096, ge=2, le=1 << 20)
    """Packets that it holds, exactly."""


class StageConfig(_Arguments):
    """One network function in a path."""

    nf: str
    """A name that `--describe` lists."""
    name: str | None = Field(default=None, max_length=31)
    """A second stage of this name in the area is the same function, with the same state, on another path."""
    options: dict[str, str | int | bool] = {}
    worker: int = Field(default=0, ge=0, le=15)
    """Which of the instances of this function this is, where a dispatcher shares flows out."""
    workers: int = Field(default=1, ge=1, le=16)
    """How many instances there are: each takes its share of what cannot be shared."""


class PathConfig(_Arguments):
    """What an area does with the packets of one port or ring."""

    name: str
    direction: Literal["outbound", "inbound"] = "outbound"
    """Through the functions from their inside to their outside, or back."""
    in_: str = Field(alias="in")
    """Name of the port or ring that it reads."""
    stages: Annotated[tuple[StageConfig, ...], Field(max_length=16)] = ()
    out: str | Annotated[tuple[str, ...], Field(min_length=1, max_length=16)] | None = None
    """The port or ring that it writes, or several for functions that choose; absent only after a function
    that passes nothing on."""


class ChainArea(_Arguments):
    """An area that runs functions.

    An owner leaves the rewriting to appliers: each path deals its packets to its outputs in turn, all rings,
    and the functions must be such that decide.
    """

    name: str
    core: int = Field(ge=0, le=4095)
    kind: Literal["chain", "owner"]
    paths: Annotated[tuple[PathConfig, ...], Field(min_length=1, max_length=8)]
    fastpath_flows: int | None = Field(default=None, ge=1, le=1 << 24)
    """Room of the fast path; absent: none. All functions must be such that decide."""


class DispatchPath(_Arguments):
    """Where the dispatcher brings the packets of one port."""

    name: str
    direction: Literal["outbound", "inbound"] = "outbound"
    """Through the functions from their inside to their outside, or back."""
    in_: str = Field(alias="in")
    """Name of the port or ring that it reads."""
    out: str | Annotated[tuple[str, ...], Field(min_length=1, max_length=16)]
    """Names of rings, one a worker."""


class Steer(_Arguments):
    """A stage whose function says which packets must meet."""

    area: str
    stage: str
    """The stage's name, or its function's where it has none."""


class DispatcherArea(_Arguments):
    """An area that assigns each flow, both directions of it, to one of its workers.

    Later fragments follow the first one, ICMP errors the flow that they are about.
    """

    name: str
    core: int = Field(ge=0, le=4095)
    kind: Literal["dispatcher"]
    paths: Annotated[tuple[DispatchPath, ...], Field(min_length=1, max_length=64)]
    steer: Steer | None = None
    """Whom to ask; absent: by addresses, protocol and ports."""


class HopPath(_Arguments):
    """A way through an area that has no functions."""

    name: str
    in_: str | Annotated[tuple[str, ...], Field(min_length=1, max_length=16)] = Field(alias="in")
    """An applier's ring; a collector's rings, from which it takes one packet each in turn."""
    out: str | Annotated[tuple[str, ...], Field(min_length=1, max_length=16)]
    """An applier's ring; a collector's outputs, of which the owner's functions chose one."""


class HopArea(_Arguments):
    """An applier rewrites packets as an owner decided; a collector restores the order in which it did."""

    name: str
    core: int = Field(ge=0, le=4095)
    kind: Literal["applier", "collector"]
    paths: Annotated[tuple[HopPath, ...], Field(min_length=1, max_length=64)]


class NfCommand(_Arguments):
    """A change of a function while packets flow, of all its workers or of none."""

    area: str
    """That of the functions; or of their dispatcher, which stands for all its workers."""
    stage: str
    """The stage's name, or its function's where it has none."""
    command: str
    """A name that `--describe` lists for the function."""
    args: dict[str, str | int | bool] = {}


class NfReportAsked(_Arguments):
    """Which function, and which of its counters: they may be many."""

    area: str
    """That of the functions; or of their dispatcher, which stands for all its workers."""
    stage: str
    """The stage's name, or its function's where it has none."""
    from_: int = Field(default=0, ge=0, alias="from")
    """Index of the first counter."""
    limit: int = Field(default=1000, ge=0, le=65_536)
    """Counters at most."""


class Trace(_Arguments):
    """Frames through one path of functions, one at a time."""

    area: str
    path: str
    frames: Annotated[tuple[str, ...], Field(max_length=4096)]
    """Bytes without FCS, as small hexadecimal digits."""
    at_us: int | None = Field(default=None, ge=0)
    """The time that the functions see; absent: now. Only while the loops are stopped."""


class Exchange(_Arguments):
    """Frames at ports that no area uses, while the loops run."""

    frames: dict[str, Annotated[tuple[str, ...], Field(max_length=4096)]] = Field(min_length=1, max_length=16)
    """Port → what it sends, bytes without FCS as small hexadecimal digits; nothing: it only receives."""
    quiet_ms: int = Field(default=0, ge=0, le=10_000)
    """How long nothing must move before it is over, for functions that keep packets."""


class TesterArea(_Arguments):
    """An area that generates or receives at one port."""

    name: str
    core: int = Field(ge=0, le=4095)
    kind: Literal["generator", "receiver"]
    port: str


class Configure(_Arguments):
    """Everything that this process is to have. On an error nothing of it stays."""

    ports: tuple[PortConfig, ...] = ()
    rings: Annotated[tuple[RingConfig, ...], Field(max_length=1024)] = ()
    areas: tuple[ChainArea | DispatcherArea | HopArea | TesterArea, ...] = ()
    stall_threshold_us: dict[str, Annotated[int, Field(ge=1, le=10**7)]] = {}
    """Core → shortest gap of its loop that counts as a stall; 50 where absent."""
    ledger: bool = True
    """Whether areas and stages count cycles."""
    mbufs: int | None = Field(default=None, ge=1024, le=1 << 24)
    """Packet buffers; absent: by the number of ports."""


class Teach(_Arguments):
    """RARP frames from each port with an address of its own."""

    count: int = Field(default=3, ge=1, le=100)
    """Frames from each port."""


class FrameSize(_Arguments):
    """Either a size or a mix."""

    bytes: int | None = Field(default=None, ge=64, le=1522)
    """L2 size with FCS."""
    imix: str | None = None
    """Genome of RFC 6985."""


class Template(_Arguments):
    """Headers of the first flow."""

    ip: Literal[4, 6] = 4
    l4: Literal["udp", "tcp"] = "udp"
    src_mac: Mac
    dst_mac: Mac
    vlan: int | None = Field(default=None, ge=1, le=4094)
    src_ip: str
    dst_ip: str
    src_port: L4Port = 1024
    dst_port: L4Port = 1024


class FlowConfig(_Arguments):
    """The five-tuples of a stream."""

    count: int = Field(default=1, ge=1, le=1_000_000)
    distribution: Literal["uniform", "zipf"] = "uniform"
    zipf_s: float = Field(default=1.0, gt=0, le=10)
    seed: int = Field(default=1, ge=0)
    vary: tuple[Literal["src_ip", "dst_ip", "src_port", "dst_port"], ...] = ()
    """Fields in which flows differ."""


class StreamConfig(_Arguments):
    """One direction of traffic."""

    id: int = Field(ge=0, le=63)
    port: str
    """Where it is sent."""
    to: str | None = None
    """Where it is received; absent: it is only sent, and nobody counts what arrives."""
    frame: FrameSize
    template: Template
    flows: FlowConfig | None = None
    pacing: Literal["constant", "poisson"] = "constant"


class TrafficConfigure(_Arguments):
    """The streams of the runs that follow."""

    streams: Annotated[tuple[StreamConfig, ...], Field(min_length=1, max_length=64)]


class DelayWanted(_Arguments):
    """Which packets' delays a run measures."""

    settle_ns: int = Field(default=0, ge=0, le=NANOSECONDS_MAX)
    """Packets sent in this time from the start are counted, but not measured."""
    first_packets: bool = False
    """The first packet of each flow alone, of streams whose flows are sent in turn; not with settle_ns."""
    variation: bool = False
    """IPDV and jitter too."""
    tag_ns: int | None = Field(default=None, ge=0, le=NANOSECONDS_MAX)
    """The first packet that each stream sends from this time on is tagged: its delay is told singly, too."""


class LaterRates(_Arguments):
    """Other rates from some time on."""

    after_ns: int = Field(ge=1, le=NANOSECONDS_MAX)
    rates_pps: dict[str, Annotated[float, Field(gt=0, le=RATE_MAX_PPS)]]
    """Stream → packets a second, for each stream; constant pacing, before and after."""


class TrafficStart(_Arguments):
    """One run."""

    duration_ns: int = Field(ge=10**6, le=NANOSECONDS_MAX)
    rates_pps: dict[str, Annotated[float, Field(ge=0, le=RATE_MAX_PPS)] | Literal["max"]]
    """Stream → packets a second, for each stream; 0 or "max": as fast as the core can."""
    drain_ns: int = Field(default=100_000_000, ge=0, le=NANOSECONDS_MAX)
    """Longest wait for the last packets."""
    packets: int | None = Field(default=None, ge=1, le=PACKETS_MAX)
    """Each stream ends after that many packets, or with the duration; absent: with the duration."""
    then: LaterRates | None = None
    """Absent: the same rates to the end."""
    slice_ns: int | None = Field(default=None, ge=10_000, le=NANOSECONDS_MAX)
    """Length of the slices of time that the result has, 16,384 at most; absent: none."""
    skip: bool = False
    """What is due at a constant rate while the host has the generator's core is not sent; of runs in
    slices."""
    others: tuple[Annotated[int, Field(ge=0, le=1023)], ...] = Field(default=(), max_length=16)
    """CPUs of others, whose distance from the first polling core is measured beside that of ours."""
    delay: DelayWanted | None = None
    """Absent: the latency of all packets."""


@dataclass(frozen=True)
class Shape:
    """What is special about a run that is not one rate for one time; nothing by default."""

    packets: int | None = None
    """Each stream ends after that many, or with the duration."""
    then_pps: Mapping[int, float] | None = None
    """Stream → its rate from `then_after_s` on."""
    then_after_s: float = 0.0
    meanwhile: Callable[[], None] | None = None
    """What happens to the system under test, once, `meanwhile_after_s` after the start."""
    meanwhile_after_s: float = 0.0


class DelaysAsked(_Arguments):
    """Which histogram of the last run, or of the one that goes on."""

    stream: int = Field(ge=0, le=63)
    of: Literal["latency", "ipdv"] = "latency"
    """IPDV without its sign."""


class TrafficWait(_Arguments):
    """How long to wait for the end of the run."""

    wait_ms: int = Field(default=0, ge=0, le=60_000)
