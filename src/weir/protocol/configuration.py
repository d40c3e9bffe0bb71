# SPDX-License-Identifier: Apache-2.0
"""What weir-dp is configured with, and asked of its functions: ports, rings, areas.

Plans make these shapes, the client sends them, and weir-dp checks them again: schema/dataplane.schema.json is
generated from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weir.base.node import MAX_FRAME_BYTES, STANDARD_FRAME_BYTES

Mac = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$")]
QueueSize = Annotated[int, Field(ge=32, le=32768)]
Options = dict[str, str | int | bool]
Names = Annotated[tuple[str, ...], Field(min_length=1, max_length=16)]
Frames = Annotated[tuple[str, ...], Field(max_length=4096)]
NativePortKind = Literal["null", "memory", "packet_socket", "af_packet", "af_xdp", "tap", "physical"]
CoreNumber = Annotated[int, Field(ge=0, le=4095)]


class Request(BaseModel):
    """Arguments of a command, or a part of them. Unknown keys are refused.

    Validators are built at their first use: most commands need a few of the shapes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, defer_build=True)

    def arguments(self) -> dict[str, Any]:
        """As they are sent: keys as weir-dp knows them, and those alone that were set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


class Nothing(Request):
    """No arguments."""


class PortConfig(Request):
    """One port. Either `devargs`, or a `kind` with what that kind needs."""

    name: str
    kind: NativePortKind | None = None
    devargs: str | None = None
    """DPDK device arguments, such as "net_virtio_user0,path=/run/x.sock,server=1"."""
    interface: str | None = None
    """Kernel interface, or PCI address of a physical port."""
    netns: str | None = None
    """Path of the network namespace in which the port is opened."""
    mac: Mac | None = None
    """Its own address; only ports with one take part in `announce`."""
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


class RingConfig(Request):
    """A queue between two areas."""

    name: str
    size: int = Field(default=4096, ge=2, le=1 << 20)
    """Packets that it holds, exactly."""


class StageConfig(Request):
    """One network function in a path."""

    nf: str
    """A name that `--describe` lists."""
    name: str | None = Field(default=None, max_length=31)
    """A second stage of this name in the area is the same function, with the same state, on another path."""
    options: Options = {}
    worker: int = Field(default=0, ge=0, le=15)
    """Which of the instances of this function this is, where a dispatcher shares flows out."""
    workers: int = Field(default=1, ge=1, le=16)
    """How many instances there are: each takes its share of what cannot be shared."""


class _Path(Request):
    """One way through an area, from its inputs to its outputs."""

    name: str
    in_: str | Names = Field(validation_alias="in", serialization_alias="in")
    out: str | Names | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Ports or rings that it reads."""
        return (self.in_,) if isinstance(self.in_, str) else self.in_

    @property
    def outputs(self) -> tuple[str, ...]:
        """Ports or rings that it writes."""
        return (self.out,) if isinstance(self.out, str) else self.out or ()


class PathConfig(_Path):
    """What an area does with the packets of one port or ring."""

    direction: Literal["outbound", "inbound"] = "outbound"
    """Through the functions from their inside to their outside, or back."""
    in_: str = Field(validation_alias="in", serialization_alias="in")
    """Name of the port or ring that it reads."""
    stages: Annotated[tuple[StageConfig, ...], Field(max_length=16)] = ()
    out: str | Names | None = None
    """The port or ring that it writes, or several for functions that choose; absent only after a function
    that passes nothing on."""


class OffloadConfig(Request):
    """Where entries of a fast path may live below the data plane. What went down forwards on while the loops
    are stopped, until `reset`."""

    kind: Literal["none", "xdp", "rte_flow"]
    """`xdp`: in a program at each input's interface; inputs and outputs must be packet sockets on ends of
    veth pairs. `rte_flow`: as rules in a network card; they must be ports of DPDK."""
    flows: int = Field(default=4096, ge=1, le=1 << 20)
    """Entries at each input, at most."""
    packets: int = Field(default=64, ge=1, le=(1 << 32) - 1)
    """An entry goes down once its flow had so many within a quarter of a second."""


class ChainArea(Request):
    """An area that runs functions.

    A state core (`state_core`) leaves the rewriting to rewrite workers (`rewrite_worker`): each path gives
    its packets to its outputs round-robin, all rings, and the functions must be such that decide.
    """

    name: str
    core: CoreNumber
    kind: Literal["chain", "state_core"]
    paths: Annotated[tuple[PathConfig, ...], Field(min_length=1, max_length=8)]
    fastpath_flows: int | None = Field(default=None, ge=1, le=1 << 24)
    """Capacity of the fast path, in flows; absent: none. All functions must be such that decide."""
    offload: OffloadConfig | None = None
    """Of the fast path's entries; absent: they stay in it."""


class DispatchPath(_Path):
    """Where the dispatcher brings the packets of one port."""

    direction: Literal["outbound", "inbound"] = "outbound"
    """Through the functions from their inside to their outside, or back."""
    in_: str = Field(validation_alias="in", serialization_alias="in")
    """Name of the port or ring that it reads."""
    out: str | Names
    """Names of rings, one a worker."""


class Steer(Request):
    """A stage whose function says which packets go to the same worker."""

    area: str
    stage: str
    """The stage's name, or its function's where it has none."""


class DispatcherArea(Request):
    """An area that assigns each flow, both directions of it, to one of its workers.

    Later fragments follow the first one, ICMP errors the flow that they are about.
    """

    name: str
    core: CoreNumber
    kind: Literal["dispatcher"]
    paths: Annotated[tuple[DispatchPath, ...], Field(min_length=1, max_length=64)]
    steer: Steer | None = None
    """Stage whose function chooses the worker; absent: by addresses, protocol and ports."""


class HopPath(_Path):
    """A way through an area that has no functions."""

    in_: str | Names = Field(validation_alias="in", serialization_alias="in")
    """A rewrite worker's ring; a collector's rings, from which it takes one packet each in turn."""
    out: str | Names
    """A rewrite worker's ring; a collector's outputs, of which the state core's functions chose one."""


class HopArea(Request):
    """A rewrite worker (`rewrite_worker`) rewrites packets as a state core decided.

    A collector restores their order.
    """

    name: str
    core: CoreNumber
    kind: Literal["rewrite_worker", "collector"]
    paths: Annotated[tuple[HopPath, ...], Field(min_length=1, max_length=64)]


TesterKind = Literal["generator", "receiver", "clients", "servers"]


class TesterArea(Request):
    """An area that generates or receives at one port; or clients or servers of connections, one of each."""

    name: str
    core: CoreNumber
    kind: TesterKind
    port: str


FunctionArea = ChainArea | DispatcherArea | HopArea
AreaConfig = FunctionArea | TesterArea


class Configure(Request):
    """Everything that this process is to have. On an error nothing of it stays."""

    ports: tuple[PortConfig, ...] = ()
    rings: Annotated[tuple[RingConfig, ...], Field(max_length=1024)] = ()
    areas: tuple[AreaConfig, ...] = ()
    stall_threshold_us: dict[str, Annotated[int, Field(ge=1, le=10**7)]] = {}
    """Core → shortest gap of its loop that counts as a stall; 50 where absent."""
    ledger: bool = True
    """Whether areas and stages count cycles."""
    mbufs: int | None = Field(default=None, ge=1024, le=1 << 24)
    """Packet buffers; absent: by the number of ports."""
    frame_bytes_max: int = Field(default=STANDARD_FRAME_BYTES, ge=STANDARD_FRAME_BYTES, le=MAX_FRAME_BYTES)
    """The largest frame, with FCS, without a VLAN tag: what packet buffers, rings and MTUs are made for."""


class Announce(Request):
    """RARP frames from each port with an address of its own."""

    count: int = Field(default=3, ge=1, le=100)
    """Frames from each port."""


class NfCommand(Request):
    """A change of a function while packets flow, of all its workers or of none."""

    area: str
    """That of the functions; or of their dispatcher, which stands for all its workers."""
    stage: str
    """The stage's name, or its function's where it has none."""
    command: str
    """A name that `--describe` lists for the function."""
    args: Options = {}


class NfListen(Request):
    """A function that others control by a protocol of its own from now on, until `reset`: a upf by N4."""

    area: str
    """That of the functions; or of their dispatcher, which stands for all its workers."""
    stage: str
    """The stage's name, or its function's where it has none."""
    netns: str | None = None
    """Path of the network namespace in which it listens; absent: weir-dp's."""


class NfReportAsked(Request):
    """Which function, and which of its counters: they may be many."""

    area: str
    """That of the functions; or of their dispatcher, which stands for all its workers."""
    stage: str
    """The stage's name, or its function's where it has none."""
    from_: int = Field(default=0, ge=0, validation_alias="from", serialization_alias="from")
    """Index of the first counter."""
    limit: int = Field(default=1000, ge=0, le=65_536)
    """Counters at most."""


class Trace(Request):
    """Frames through one path of functions, one at a time."""

    area: str
    path: str
    frames: Frames
    """Bytes without FCS, as small hexadecimal digits."""
    at_us: int | None = Field(default=None, ge=0)
    """The time that the functions see; absent: now. Only while the loops are stopped."""


class Exchange(Request):
    """Frames at ports that no area uses, while the loops run."""

    frames: dict[str, Frames] = Field(min_length=1, max_length=16)
    """Port → what it sends, bytes without FCS as small hexadecimal digits; nothing: it only receives."""
    quiet_ms: int = Field(default=0, ge=0, le=10_000)
    """How long nothing must move before it is over, for functions that keep packets."""
