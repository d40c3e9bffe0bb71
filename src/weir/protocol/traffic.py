# SPDX-License-Identifier: Apache-2.0
"""What weir-dp is to send: streams, and runs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from weir.base.packet_rate import MOST_PPS
from weir.protocol.configuration import Mac, Request

L4Port = Annotated[int, Field(ge=1, le=32767)]
NANOSECONDS_MAX = 7 * 24 * 3600 * 10**9
PACKETS_MAX = 1 << 40


class FrameSize(Request):
    """Either a size or a mix."""

    bytes: int | None = Field(default=None, ge=64, le=9220)
    """L2 size with FCS."""
    imix: str | None = None
    """Genome of RFC 6985; capital letters are custom sizes, said behind it: "aaaaaaaAAAAg:A=570"."""


class Template(Request):
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


class FlowConfig(Request):
    """The five-tuples of a stream."""

    count: int = Field(default=1, ge=1, le=1_000_000)
    distribution: Literal["uniform", "zipf"] = "uniform"
    zipf_s: float = Field(default=1.0, gt=0, le=10)
    seed: int = Field(default=1, ge=0)
    vary: tuple[Literal["src_ip", "dst_ip", "src_port", "dst_port"], ...] = ()
    """Fields in which flows differ."""
    exchanged: bool = False
    """Flow n answers flow n of a stream with the ends exchanged, that varies what is varied here at the other
    end."""


class AddressMap(Request):
    """A prefix, and what is written in its place: of the same family and length, without host bits."""

    from_: str = Field(validation_alias="from", serialization_alias="from")
    to: str


class CaptureConfig(Request):
    """A capture file (pcap, pcapng) whose frames are sent in place of the template's, in its order and
    again from its beginning; each run begins with the first."""

    path: str = Field(min_length=1, max_length=1023)
    """As weir-dp can open it."""
    stamp: bool = False
    """Weir's stamp over the first 18 bytes of each payload, and the checksum of UDP or TCP made right: every
    frame must have room for it. Without it frames are counted where they are expected, and their delay and
    order are not known."""
    template_macs: bool = False
    """The template's MAC addresses in place of the file's."""
    once: bool = False
    """A run ends with the file's last frame. With recorded gaps and a rate its first is due as late as it
    came behind the file's first, which the filter may have left out: streams of one file stay in step."""
    filter: str = Field(default="", max_length=255)
    """Only the frames that pass, in the language of pcap-filter(7)."""
    addresses: tuple[AddressMap, ...] = Field(default=(), max_length=16)
    """Of IP and ARP, by the first map that has them; checksums follow."""


class PacketFieldConfig(Request):
    """A field that changes from packet to packet, over what template and flows say. Packet n of every run has
    the same value; checksums follow."""

    field: Literal[
        "src_ip", "dst_ip", "src_port", "dst_port", "vlan", "priority", "dscp", "ttl", "payload_byte"
    ]
    """Of IPv6 addresses the last 32 bits; of IPv6 the hop limit; of a tag its VLAN and its priority; every
    byte of the payload behind the stamp."""
    order: Literal["in-turn", "random"] = "in-turn"
    from_: int = Field(default=0, ge=0, le=0xFFFFFFFF, validation_alias="from", serialization_alias="from")
    count: int = Field(default=1, ge=1, le=1 << 32)
    step: int = Field(default=1, ge=1, le=0xFFFFFFFF)
    """Values are from, from + step, … : `count` of them."""
    values: Annotated[tuple[Annotated[int, Field(ge=0, le=0xFFFFFFFF)], ...], Field(max_length=64)] | None = (
        None
    )
    """In place of a range."""
    weights: (
        Annotated[tuple[Annotated[int, Field(ge=0, le=0xFFFFFFFF)], ...], Field(max_length=64)] | None
    ) = None
    """One for each of `values`, in random order: how often each comes."""
    seed: int = Field(default=1, ge=0)


class StreamConfig(Request):
    """One direction of traffic."""

    id: int = Field(ge=0, le=63)
    port: str
    """Where it is sent."""
    to: str | None = None
    """Where it is received; absent: it is only sent, and nobody counts what arrives."""
    frame: FrameSize
    template: Template
    flows: FlowConfig | None = None
    pacing: Literal["constant", "poisson", "recorded"] = "constant"
    """Recorded: the gaps of the capture, such that the whole file is sent at the rate of the run."""
    capture: CaptureConfig | None = None
    """In place of `frame` and `flows`, which do not count then."""
    fields: Annotated[tuple[PacketFieldConfig, ...], Field(max_length=9)] = ()
    """Each once; not with a capture."""
    answers: int | None = Field(default=None, ge=0, le=63)
    """A stream that arrives at `port`: flow n goes to where its flow n is seen to come from, and comes from
    where that was seen to go, once a run with `learn` found addresses or ports translated. Both of IPv4, of
    one protocol and number of flows."""


class TrafficConfigure(Request):
    """The streams of the runs that follow."""

    streams: Annotated[tuple[StreamConfig, ...], Field(min_length=1, max_length=64)]


class DelayWanted(Request):
    """Which packets' delays a run measures."""

    settle_ns: int = Field(default=0, ge=0, le=NANOSECONDS_MAX)
    """Packets sent in this time from the start are counted, but not measured."""
    first_packets: bool = False
    """The first packet of each flow alone, of streams whose flows are sent in turn; not with settle_ns."""
    variation: bool = False
    """IPDV and jitter too."""
    tag_ns: int | None = Field(default=None, ge=0, le=NANOSECONDS_MAX)
    """The first packet that each stream sends from then on is tagged: the result has its own delay, too."""


RATE_CHANGES_MAX = 255


class RateChange(Request):
    """Another rate from some time on."""

    after_ns: int = Field(ge=0, le=NANOSECONDS_MAX)
    """Behind that of the change before it."""
    factor: float = Field(ge=0, le=MOST_PPS)
    """Of each stream's first rate, which has a limit; 0: a pause."""


class TrafficStart(Request):
    """One run."""

    duration_ns: int = Field(ge=10**6, le=NANOSECONDS_MAX)
    rates_pps: dict[str, Annotated[float, Field(ge=0, le=MOST_PPS)] | Literal["max"]]
    """Stream → packets a second, for each stream; 0 or "max": as fast as the core can."""
    drain_ns: int = Field(default=100_000_000, ge=0, le=NANOSECONDS_MAX)
    """Longest wait for the last packets."""
    packets: int | None = Field(default=None, ge=1, le=PACKETS_MAX)
    """Each stream ends after that many packets, or with the duration; absent: with the duration."""
    then: Annotated[tuple[RateChange, ...], Field(max_length=RATE_CHANGES_MAX)] = ()
    """None: the same rates to the end."""
    slice_ns: int | None = Field(default=None, ge=10_000, le=NANOSECONDS_MAX)
    """Length of the slices of time that the result has, 16,384 at most; absent: none."""
    skip: bool = False
    """What is due at a constant rate while the host has the generator's core is not sent; of runs in
    slices."""
    switch_cpus: tuple[Annotated[int, Field(ge=0, le=1023)], ...] = Field(default=(), max_length=16)
    """CPUs of a switch, whose distance from the first polling core is measured beside that of ours."""
    delay: DelayWanted | None = None
    """Absent: the latency of all packets."""
    learn: bool = False
    """No load: each stream that another one answers sends each of its flows once, in turn; the others send
    nothing, and answer in the runs that follow."""


class TrafficWait(Request):
    """How long to wait for the end of the run."""

    wait_ms: int = Field(default=0, ge=0, le=60_000)


class DelaysAsked(Request):
    """Which histogram of the last run, or of the one that goes on."""

    stream: int = Field(ge=0, le=63)
    of: Literal["latency", "ipdv"] = "latency"
    """IPDV without its sign."""


@dataclass(frozen=True)
class Shape:
    """What is special about a run that is not one rate for one time; nothing by default."""

    packets: int | None = None
    """Each stream ends after that many, or with the duration."""
    then: Sequence[tuple[float, float]] = ()
    """From when on, in s, every stream has which share of its first rate; 0: a pause."""
    meanwhile: Callable[[], None] | None = None
    """What happens to the system under test, once, `meanwhile_after_s` after the start."""
    meanwhile_after_s: float = 0.0
