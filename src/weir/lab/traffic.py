# SPDX-License-Identifier: Apache-2.0
"""`traffic` and `tester` of a lab: which frames in which flows, between which ends and in which direction;
captures and connections have rooms of their own."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from weir.base.node import Direction
from weir.base.record import ONE_OR_MANY, LabSection, listed
from weir.lab.capture import Capture
from weir.lab.connections import Connections
from weir.lab.frames import CAPTURE, CONNECTIONS, Frame, smallest_usual_frame
from weir.lab.packet_fields import PacketFields

MAX_FLOWS = 1_000_000
# Those set aside for benchmarks: 198.18.0.0/15 (RFC 2544, RFC 6815) and 2001:2::/48 (RFC 5180).
_ADDRESSES = {4: ("198.18.0.1", "198.19.0.1"), 6: ("2001:2:0:1::1", "2001:2:0:2::1")}
IpVersion = Literal[4, 6]
TupleField = Literal["src_ip", "dst_ip", "src_port", "dst_port"]
EXCHANGED: dict[TupleField, TupleField] = {
    "src_ip": "dst_ip",
    "dst_ip": "src_ip",
    "src_port": "dst_port",
    "dst_port": "src_port",
}
"""What each field is in a packet that answers."""
PciAddress = Annotated[
    str, Field(pattern=r"^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$", examples=["0000:03:00.0"])
]


class Flows(LabSection):
    """How many different five-tuples, and how often each is sent."""

    count: int = Field(default=100, ge=1, le=MAX_FLOWS, description="number of different five-tuples")
    distribution: Literal["uniform", "zipf"] = Field(
        default="uniform", description="how packets are spread over the flows"
    )
    zipf_s: float = Field(default=1.0, gt=0, le=10, description="exponent of the Zipf distribution")
    vary: tuple[TupleField, ...] = Field(
        default=("src_ip", "dst_ip", "src_port", "dst_port"),
        min_length=1,
        max_length=4,
        description="fields in which flows differ, as the left end sends them; what runs back answers them: "
        "it differs in these, exchanged",
    )


# RFC 4814: source ports from 1024 on, destination ports from 1 to 49151.
L4Port = Annotated[int, Field(ge=1, le=32767)]


class End(LabSection):
    """Who one of the tester's ends is to the chain. Flows that vary count up from here."""

    address: str | None = Field(
        default=None,
        description="IP address; absent: one of those set aside for benchmarks (RFC 6815, RFC 5180)",
    )
    port: L4Port = Field(default=1024, description="UDP or TCP port")
    to_address: str | None = Field(
        default=None,
        description="whom it sends to, where a function translates addresses; absent: the other end's, or of "
        "the right end what arrives there, where a function may translate",
    )
    to_port: L4Port | None = Field(default=None, description="likewise, the port")

    def sent_to(self) -> tuple[TupleField, ...]:
        """The fields of what it sends that `to_address` and `to_port` say."""
        address: tuple[TupleField, ...] = ("dst_ip",) if self.to_address is not None else ()
        port: tuple[TupleField, ...] = ("dst_port",) if self.to_port is not None else ()
        return address + port


class Traffic(LabSection):
    """What the tester sends."""

    frames: Annotated[tuple[Frame, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=("64",),
        min_length=1,
        max_length=64,
        description="frame sizes in L2 bytes with FCS, at most 9216 (with a VLAN tag 9220); IMIX: 7 of 64, 4 "
        "of 570, 1 of 1518; jumbo: 9018; or mixes as IMIX genomes (RFC 6985), imix:aaaaaaaddddg or, with "
        "sizes of your own, imix:aaA:A=570; capture: the frames of `capture`, and these alone where this is "
        "absent; connections: those of `connections`, likewise; one result each. Absent otherwise: 64, or "
        "128 where headers and stamp need more than 64 (IPv6, TCP, a VLAN tag)",
    )
    ip: IpVersion = Field(default=4, description="version of IP")
    l4: Literal["udp", "tcp"] = Field(default="udp", description="transport protocol")
    flows: Flows = Field(default=Flows(), description="the five-tuples")
    fields: PacketFields = Field(
        default=PacketFields(), description="fields that change from packet to packet, at random or in turn"
    )
    left: End = Field(default=End(), description="the left end: source of what runs left to right")
    right: End = Field(default=End(), description="the right end: its destination")
    pacing: Literal["constant", "poisson", "recorded"] = Field(
        default="constant",
        description="gaps between packets; `recorded`: the capture's, scaled so that the whole file has the "
        "rate of the trial; where the capture is replayed, always",
    )
    capture: Capture | None = Field(
        default=None,
        description="frames of capture files, such as {left: {file: clients.pcap}}; absent: all are "
        "generated",
    )
    connections: Connections | None = Field(
        default=None,
        description="TCP sessions and UDP exchanges in place of frames of given sizes; absent: none",
    )
    vlan: int | None = Field(
        default=None, ge=1, le=4094, description="802.1Q tag of each frame; absent: none"
    )

    @model_validator(mode="after")
    def _of_what_is_named(self) -> Self:
        if self.connections is not None and "frames" not in self.model_fields_set:
            object.__setattr__(self, "frames", (CONNECTIONS,))
        elif self.capture is not None and "frames" not in self.model_fields_set:
            object.__setattr__(self, "frames", (CAPTURE,))  # frozen, and not handed to anybody yet
        elif "frames" not in self.model_fields_set:
            smallest = smallest_usual_frame(self.ip, self.l4, self.vlan is not None)
            object.__setattr__(self, "frames", (smallest,))
        replayed = self.capture is not None and self.capture.rate is not None
        if replayed and "pacing" not in self.model_fields_set:
            object.__setattr__(self, "pacing", "recorded")
        return self

    @property
    def arrivals(self) -> Literal["constant", "poisson"]:
        """The pacing of generated frames, which are never `recorded`."""
        return "poisson" if self.pacing == "poisson" else "constant"

    def addresses(self, ip: IpVersion | None = None) -> tuple[str, str]:
        """Of the left end and of the right one; of the other version of IP those set aside for benchmarks."""
        left, right = _ADDRESSES[ip or self.ip]
        if ip not in (None, self.ip):
            return left, right
        return self.left.address or left, self.right.address or right

    def sent(self, *, back: bool = False) -> tuple[tuple[str, int], tuple[str, int]]:
        """Source and destination, address and port each, of what runs left to right; or `back`."""
        way = -1 if back else 1
        (source, other), (end, peer) = self.addresses()[::way], (self.left, self.right)[::way]
        return (source, end.port), (end.to_address or other, end.to_port or peer.port)

    def varied(self, *, back: bool = False) -> tuple[TupleField, ...]:
        """The fields in which flows of that direction differ. Whom an end sends to by `to_address` or
        `to_port` stays; none: there is one flow."""
        there = tuple(field for field in self.flows.vary if field not in self.left.sent_to())
        if not back:
            return there
        answered = (EXCHANGED[field] for field in there)
        return tuple(field for field in answered if field not in self.right.sent_to())


class TesterOptions(LabSection):
    """The traffic generator and receiver at the two ends of the chain."""

    direction: Literal["left-to-right", "bidirectional"] = Field(
        default="bidirectional", description="where traffic comes from"
    )
    ports: tuple[PciAddress, PciAddress] | None = Field(
        default=None,
        description="with sr-iov only: PCI addresses of the tester's own network ports, left and right, "
        "cabled to the parent device; absent: the tester uses virtual functions as well",
    )
    timestamps: Literal["auto", "counter", "hardware"] = Field(
        default="auto",
        description="what times arrivals: `counter`, the time-stamp counter when a loop takes the packet; "
        "`hardware`, the network card's stamps (never run on hardware), or the lab is refused; `auto`, these "
        "where the card has them and its clock can be read",
    )

    @property
    def directions(self) -> tuple[Direction, ...]:
        """In which it sends: one, or both."""
        return ("left-to-right", "right-to-left") if self.direction == "bidirectional" else (self.direction,)
