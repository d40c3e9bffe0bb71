# SPDX-License-Identifier: Apache-2.0
"""`traffic` and `tester` of a lab: which frames, in which flows, in which direction."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weir.base.record import LabSection
from weir.lab.frames import Frame

MAX_FLOWS = 1_000_000
TupleField = Literal["src_ip", "dst_ip", "src_port", "dst_port"]
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
        description="fields in which flows differ",
    )


class Traffic(LabSection):
    """What the tester sends."""

    frames: tuple[Frame, ...] = Field(
        default=("64",),
        min_length=1,
        max_length=64,
        description="frame sizes in L2 bytes with FCS, or mixes as IMIX genomes (RFC 6985); one result each",
    )
    ip: Literal[4, 6] = Field(default=4, description="version of IP")
    l4: Literal["udp", "tcp"] = Field(default="udp", description="transport protocol")
    flows: Flows = Field(default=Flows(), description="the five-tuples")
    pacing: Literal["constant", "poisson"] = Field(default="constant", description="gaps between packets")
    vlan: int | None = Field(
        default=None, ge=1, le=4094, description="802.1Q tag of each frame; absent: none"
    )


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
