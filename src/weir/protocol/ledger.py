# SPDX-License-Identifier: Apache-2.0
"""What weir-dp answers of itself: who it is, what its ports and functions did, and its ledger.

Fields that a newer weir-dp adds are ignored.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """An answer's result, or a part of it."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, validate_by_name=True, validate_by_alias=True, defer_build=True
    )


class Hello(Reply):
    """Who answers at the socket."""

    version: str
    protocol: int
    dpdk: str
    pid: int
    tsc_hz: int
    cores: tuple[int, ...]
    memory: Literal["hugepages", "no-huge"]


class ConfiguredPort(Reply):
    """A port that `configure` made."""

    name: str
    driver: str
    mac: str


class Configured(Reply):
    """The ports that are open now."""

    ports: tuple[ConfiguredPort, ...]


class Announced(Reply):
    """Frames that were sent."""

    sent: int


class StageLedger(Reply):
    """One stage of a path: packets_in + originated = packets_out + Σ drops + held."""

    nf: str
    packets_in: int = Field(alias="in")
    packets_out: int = Field(alias="out")
    held: int = 0
    """Kept now, to go on later."""
    originated: int = 0
    """Made by the function itself: answers, questions, ICMP errors. Nobody offered them."""
    cycles: int
    long_cycles: int = 0
    """Of these, in batches that took longer than the least of the cores' stall thresholds, the host's time
    included."""
    drops: dict[str, int] = {}


class FastpathLedger(Reply):
    """What a path's fast path did: hits followed an entry, slow packets went through the stages."""

    hits: int
    slow_packets: int
    cycles: int
    """Of look-ups and what entries did; slow packets' are in the stages' cycles."""
    flows: int
    """Known now, on all paths of the area."""


class OffloadLedger(Reply):
    """What of a path's fast path lived below the data plane. Its packets are in the path's `rx_packets` and
    `tx_packets`; those that the output's interface refused are its drops `redirect_failed`."""

    kind: str
    packets: int
    """Forwarded below; all others came up."""
    bytes_: int = Field(alias="bytes")
    """L2 without FCS."""
    flows: int
    """Below now."""
    put: int
    """Flows that went down."""
    revoked: int
    """Flows that came up again: a change, or no packet for two seconds."""
    refused: dict[str, int]
    """Flows that stay in software, by reason: something happens for each packet (`effect`), it is dropped
    (`drops`), its frames are `tagged`, it leaves by an `output` that is not there, all entries are taken
    (`full`), or `failed`."""


class PathLedger(Reply):
    """One path of an area, from a port or ring to another."""

    name: str
    inputs: tuple[str, ...] = ()
    """Ports or rings that it empties; the receiving port's own name."""
    outputs: tuple[str, ...] = ()
    """Ports or rings that it fills."""
    rx_packets: int
    tx_packets: int
    drops: dict[str, int] = {}
    stages: tuple[StageLedger, ...] = ()
    fastpath: FastpathLedger | None = None
    offload: OffloadLedger | None = None

    @property
    def handled(self) -> int:
        """Of the received packets those that the area itself had, not an entry below it."""
        return self.rx_packets - (self.offload.packets if self.offload is not None else 0)


class AreaLedger(Reply):
    """Time and packets of one execution area."""

    name: str
    core: int
    kind: str
    polls: int = 0
    empty_polls: int = 0
    busy_cycles: int = 0
    idle_cycles: int = 0
    long_polls: int = 0
    """With packets, above the core's stall threshold, and not because the host had the core."""
    long_cycles: int = 0
    paths: tuple[PathLedger, ...] = ()


class PortTimestamps(Reply):
    """What times arrivals at a port, if a receiver is there."""

    clock: Literal["counter", "card"]
    """The time-stamp counter when a loop takes the packet, or the network card's clock when it arrives."""
    resolution_ns: float
    uncertainty_ns: float
    """How far the card's time can be off in the counter's time; 0 for the counter."""
    driver: str
    why: str | None = None
    """Why it is the counter where the card's clock was asked for."""


class PortLedger(Reply):
    """Counters of one port, as its driver keeps them."""

    name: str
    rx_packets: int = 0
    rx_bytes: int = 0
    """L2 without FCS."""
    tx_packets: int = 0
    rx_missed: int = 0
    rx_nombuf: int = 0
    tx_errors: int = 0
    rx_too_long: int = 0
    """Longer than a packet buffer."""
    rx_unread: int = 0
    """Longer than a place of a packet socket's ring, and not handed over by the kernel when asked for."""
    rx_unfinished: int = 0
    """Left to the network card, and not finished: tunnels and IP fragments by a packet socket, all by drivers
    of DPDK (`af_packet`, `af_xdp`)."""
    tx_too_long: int = 0
    """Longer than the interface's MTU allows."""
    tx_down: int = 0
    """The interface was down, or gone."""
    gone: bool = False
    foreign: int = 0
    """At a tester's port: packets that are whole and carry no stamp of a stream that arrives there."""
    signals: int = 0
    """Of these: of the kind that functions make themselves: ARP, ICMP, GTP-U's without a user's packet."""
    timestamps: PortTimestamps | None = None


PORT_DROPS = (
    "rx_missed",
    "rx_nombuf",
    "tx_errors",
    "rx_too_long",
    "rx_unread",
    "rx_unfinished",
    "tx_too_long",
    "tx_down",
)
"""Fields of PortLedger that count lost packets."""


class CoreSpeed(Reply):
    """Pieces of the same work that a polling loop timed between its polls, and the cycles that they took:
    more than at best while somebody else works on the other thread of a physical core."""

    pieces: int = 0
    cycles: int = 0


class CoreLedger(Reply):
    """One polling core."""

    core: int
    loops: int = 0
    speed: CoreSpeed = CoreSpeed()


class PoolLedger(Reply):
    """Packet buffers, or other objects, of one pool."""

    name: str
    size: int
    free: int


class Ledger(Reply):
    """Everything counted in weir-dp since it was configured; trials take differences of two."""

    tsc: int
    tsc_hz: int
    cores: tuple[CoreLedger, ...] = ()
    areas: tuple[AreaLedger, ...] = ()
    ports: tuple[PortLedger, ...] = ()
    pools: tuple[PoolLedger, ...] = ()


class NfCounter(Reply):
    """Packets and bytes (L2 without FCS) that a function counted for what the labels say."""

    area: str
    """Whose function counted it: one of several workers, it may be."""
    labels: dict[str, str]
    """Such as {"subscriber": "10.0.0.1", "rule": "1001"}."""
    packets: int
    bytes: int


class NfReport(Reply):
    """What a function counts by itself."""

    figures: dict[str, dict[str, int]]
    """By area, such as {"f1.worker0": {"flows": 17}}."""
    counters: tuple[NfCounter, ...]
    total: int
    """How many counters there are, of which these are a part."""


class Outcome(Reply):
    """What became of one traced frame: it left, or a stage dropped it."""

    frame: str | None = None
    """Bytes as it left, without FCS, hexadecimal."""
    egress: int = 0
    """Index of the output."""
    dropped: str | None = None
    """The reason's symbol."""
    at: str | None = None
    """The function that dropped it."""


class Traced(Reply):
    """What became of each frame, in their order."""

    outcomes: tuple[Outcome, ...]


class Exchanged(Reply):
    """What arrived at each port, in its order."""

    frames: dict[str, tuple[str, ...]]
