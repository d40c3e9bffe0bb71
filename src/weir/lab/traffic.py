# SPDX-License-Identifier: Apache-2.0
"""`traffic` and `tester` of a lab: which frames, generated or captured, in which flows and direction; or
which connections."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from weir.base.record import LabSection
from weir.lab.frames import CAPTURE, CONNECTIONS, Frame
from weir.lab.units import IN_SECONDS, Milliseconds

MAX_FLOWS = 1_000_000
MAX_CAPTURE_ADDRESSES = 16
Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = ("left", "right")
# Those set aside for benchmarks: 198.18.0.0/15 (RFC 2544, RFC 6815) and 2001:2::/48 (RFC 5180).
_ADDRESSES = {4: ("198.18.0.1", "198.19.0.1"), 6: ("2001:2:0:1::1", "2001:2:0:2::1")}
IpVersion = Literal[4, 6]
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


FIELD_VALUES_MAX = 64
PacketFieldName = Literal[
    "src_ip", "dst_ip", "src_port", "dst_port", "vlan", "priority", "dscp", "ttl", "payload_byte"
]
PACKET_FIELDS: tuple[PacketFieldName, ...] = get_args(PacketFieldName)
_LIMITS: dict[str, tuple[int, int]] = {
    "src_port": (0, 65535),
    "dst_port": (0, 65535),
    "vlan": (1, 4094),
    "priority": (0, 7),
    "dscp": (0, 63),
    "ttl": (1, 255),
    "payload_byte": (0, 255),
}
_Weight = Annotated[int, Field(ge=0, le=1_000_000)]


class _FieldValues(LabSection):
    order: Literal["random", "in-turn"] = Field(
        default="random",
        description="`random`: drawn for each packet by `measure.seed`; `in-turn`: packet n of a trial has "
        "value n, and round again",
    )
    weights: tuple[_Weight, ...] = Field(
        default=(),
        max_length=FIELD_VALUES_MAX,
        description="of `values` in random order: how often each comes; absent: equally often",
    )

    def _check(self, *said: bool) -> None:
        if sum(said) != 1:
            raise ValueError(f"says its values in {sum(said)} ways; expected one of the ways it has")

    def _check_weights(self, values: int) -> None:
        if self.weights and (len(self.weights) != values or self.order != "random"):
            raise ValueError(
                f"has {len(self.weights)} weights; expected one for each of `values`, in random order"
            )
        if self.weights and not any(self.weights):
            raise ValueError("has weights of 0 alone; expected one above 0")


class NumberField(_FieldValues):
    """A number that changes from packet to packet: a range or a list."""

    first: int | None = Field(default=None, description="least value of a range, with `last`")
    last: int | None = Field(default=None, description="greatest value of a range")
    values: tuple[int, ...] = Field(
        default=(), max_length=FIELD_VALUES_MAX, description="a list, in place of a range"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        self._check(self.first is not None or self.last is not None, bool(self.values))
        if not self.values and (self.first is None or self.last is None or self.first > self.last):
            raise ValueError("is a range without an end; expected `first` and `last`, the greater one last")
        self._check_weights(len(self.values))
        return self

    def numbers(self) -> tuple[int, ...]:
        """The listed values; of a range its first and its last."""
        return self.values or (self.first or 0, self.last or 0)


class AddressField(_FieldValues):
    """An IP address that changes from packet to packet: of a prefix, a range or a list."""

    prefix: str | None = Field(default=None, description="all addresses of it; of IPv6 /96 or longer")
    first: str | None = Field(default=None, description="first address of a range, with `last`")
    last: str | None = Field(default=None, description="last address of a range")
    values: tuple[str, ...] = Field(
        default=(), max_length=FIELD_VALUES_MAX, description="a list, in place of prefix and range"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        self._check(
            self.prefix is not None, self.first is not None or self.last is not None, bool(self.values)
        )
        if not self.values and self.prefix is None and (self.first is None or self.last is None):
            raise ValueError("is a range without an end; expected `first` and `last`")
        self._check_weights(len(self.values))
        found = self.addresses()
        if len({one.version for one in found}) > 1:
            raise ValueError("has addresses of IPv4 and of IPv6; expected one version")
        if not self.values and int(found[0]) > int(found[1]):
            raise ValueError(f"goes from {found[0]} to {found[1]}; expected the greater one last")
        if len({int(one) >> 32 for one in found}) > 1:
            raise ValueError("differs above its last 32 bits; expected addresses of one /96")
        return self

    def addresses(self) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, ...]:
        """The listed values; of a range or prefix its first and its last."""
        if self.prefix is not None:
            try:
                network = ipaddress.ip_network(self.prefix)
            except ValueError:
                raise ValueError(
                    f"{self.prefix!r} is no prefix; expected one without host bits, such as 198.18.0.0/16"
                ) from None
            return network[0], network[-1]
        try:
            return tuple(
                ipaddress.ip_address(one) for one in self.values or (self.first or "", self.last or "")
            )
        except ValueError as error:
            raise ValueError(f"{error}; expected IP addresses") from None

    def numbers(self) -> tuple[int, ...]:
        """The last 32 bits of these."""
        return tuple(int(one) & 0xFFFFFFFF for one in self.addresses())


def _constant(value: Any) -> Any:
    if isinstance(
        value, dict
    ):  # a validator that runs before takes JSON's lists for Python's, which are strict
        return {key: tuple(one) if isinstance(one, list) else one for key, one in value.items()}
    return {"values": (value,)} if isinstance(value, int | str) and not isinstance(value, bool) else value


class _OrConstant:
    """Of which the lab may also just say one value."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": ["integer", "string"]}, handler(core)]}


_Number = Annotated[NumberField, _OrConstant, BeforeValidator(_constant)]
_Address = Annotated[AddressField, _OrConstant, BeforeValidator(_constant)]


class PacketFields(LabSection):
    """Fields whose values change from packet to packet, over what `flows`, `vlan` and the ends say. As what
    runs left to right has them; what runs back has sources and destinations exchanged, packet by packet."""

    src_ip: _Address | None = Field(default=None, description="address of the left end")
    dst_ip: _Address | None = Field(default=None, description="address of the right end")
    src_port: _Number | None = Field(default=None, description="port of the left end, 0 to 65535")
    dst_port: _Number | None = Field(default=None, description="port of the right end, 0 to 65535")
    vlan: _Number | None = Field(default=None, description="VLAN, 1 to 4094, of frames with a tag")
    priority: _Number | None = Field(default=None, description="priority of the tag (PCP), 0 to 7")
    dscp: _Number | None = Field(default=None, description="differentiated services (RFC 2474), 0 to 63")
    ttl: _Number | None = Field(default=None, description="time to live, of IPv6 the hop limit, 1 to 255")
    payload_byte: _Number | None = Field(
        default=None, description="what every byte of the payload behind the stamp is, 0 to 255; absent: 0"
    )

    @model_validator(mode="after")
    def _fit(self) -> Self:
        for name, (least, most) in _LIMITS.items():
            field = getattr(self, name)
            for value in field.numbers() if field is not None else ():
                if not least <= value <= most:
                    raise ValueError(f"{name} cannot be {value}; expected {least} to {most}")
        return self

    def said(self) -> dict[PacketFieldName, NumberField | AddressField]:
        """Those that the lab has."""
        return {name: one for name in PACKET_FIELDS if (one := getattr(self, name)) is not None}


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
        "the right end what arrives there, where sources are translated",
    )
    to_port: L4Port | None = Field(default=None, description="likewise, the port")


class CaptureFile(LabSection):
    """What one end sends."""

    file: str = Field(
        min_length=1,
        max_length=1023,
        description="pcap or pcapng of Ethernet frames, captured whole; relative to the lab file",
    )
    filter: str = Field(
        default="",
        max_length=255,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="only the frames that pass, as tcpdump says it (pcap-filter(7)): `src net 192.0.2.0/24` "
        "takes one direction out of a capture of both",
    )
    addresses: dict[str, str] = Field(
        default={},
        max_length=MAX_CAPTURE_ADDRESSES,
        description="prefixes of IP addresses and what to write in their place, of the same length; the "
        "first that has an address counts. Checksums follow. Absent: addresses as captured",
    )

    @field_validator("addresses")
    @classmethod
    def _exchangeable(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(_exchange(one, other) for one, other in value.items())


def _exchange(one: str, other: str) -> tuple[str, str]:
    networks = []
    for text in (one, other):
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError:
            raise ValueError(
                f"{text!r} is no prefix; expected one without host bits, such as 192.0.2.0/24"
            ) from None
    before, after = networks
    if before.version != after.version or before.prefixlen != after.prefixlen:
        raise ValueError(f"{one} cannot become {other}; expected prefixes of one IP version and length")
    return str(before), str(after)


def _said(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


class _OrItsName:
    """A file of which the lab may also just say the name."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core)]}


_Sent = Annotated[CaptureFile, _OrItsName, BeforeValidator(_said)]


class Capture(LabSection):
    """Frames of files, each in its order, and again from its beginning until the trial ends. A trial begins
    with the first."""

    left: _Sent | None = Field(default=None, description="what the left end sends: a file, or its options")
    right: _Sent | None = Field(
        default=None, description="likewise the right end, where traffic is bidirectional"
    )
    macs: Literal["chain", "file"] = Field(
        default="chain",
        description="MAC addresses: `chain`, those of the ports, as a switch needs them; `file`, as captured",
    )
    stamp: bool = Field(
        default=False,
        description="Weir's stamp over the first 18 bytes of each payload, for delays, order and when frames "
        "were lost: every frame needs room for it. Without it frames stay whole, and are just counted",
    )

    def files(self) -> dict[Side, CaptureFile]:
        """By the end that sends it."""
        found = {"left": self.left, "right": self.right}
        return {side: one for side in SIDES if (one := found[side]) is not None}


SOURCES_MAX = 1 << 24
DATAGRAM_BYTES_MAX = 1472
ConnectionGoal = Literal["new-connections", "concurrent-connections"]
_Port = Annotated[int, Field(ge=1, le=65_535)]
_Addresses = Annotated[int, Field(ge=1, le=65_536)]


class Service(LabSection):
    """What a connection is for: requests of a client, each with its answer, one after the other."""

    l4: Literal["tcp", "udp"] = Field(default="tcp", description="TCP sessions, or one datagram each way")
    port: _Port = Field(default=80, description="the servers' port")
    weight: int = Field(default=1, ge=1, le=1_000_000, description="its share of the new connections")
    transactions: int = Field(
        default=1, ge=1, le=65_535, description="requests of one connection, each with its answer"
    )
    request_bytes: int = Field(default=200, ge=16, le=1 << 30, description="payload of a request")
    answer_bytes: int = Field(
        default=1024, ge=1, le=1 << 30, description="payload of its answer: the object size of RFC 9411"
    )
    think_ms: Milliseconds = Field(
        default=0, ge=0, le=3_600_000, description="from an answer to the next request"
    )
    close: Literal["fin", "reset"] = Field(default="fin", description="how the client ends a TCP session")

    @model_validator(mode="after")
    def _in_a_datagram(self) -> Self:
        longest = max(self.request_bytes, self.answer_bytes)
        if self.l4 == "udp" and longest > DATAGRAM_BYTES_MAX:
            raise ValueError(f"a datagram of {longest} bytes; expected at most {DATAGRAM_BYTES_MAX} with udp")
        return self


class Connections(LabSection):
    """Connections from clients at the left end to servers at the right end, packet by packet, and the goals
    of RFC 9411 that are searched for. Addresses are those of the ends; clients have more from there on."""

    services: tuple[Service, ...] = Field(
        default=(Service(),), min_length=1, max_length=16, description="what connections are for"
    )
    goals: tuple[ConnectionGoal, ...] = Field(
        default=("new-connections",),
        min_length=1,
        max_length=2,
        description="what is searched for: the highest rate of new connections a second, or the most that "
        "are open at the same time. Throughput, transactions and their times are told at what was found",
    )
    success_ratio: float = Field(
        default=0.99999,
        gt=0,
        le=1,
        description="share of the connections that must be completed, all their answers received; others "
        "failed or were still open",
    )
    clients: _Addresses = Field(default=16, description="addresses of clients, from the left end's on")
    client_ports: tuple[_Port, _Port] = Field(
        default=(1024, 65_535), description="first and last port of each client"
    )
    servers: _Addresses = Field(
        default=1, description="addresses that clients connect to, from the one that the left end sends to on"
    )
    mss: int = Field(default=1460, ge=64, le=1460, description="most payload of a TCP segment")
    retransmit_ms: Milliseconds = Field(
        default=1000,
        ge=1,
        le=60_000,
        description="first time-out of a packet that is not answered; each further one is twice as long",
    )
    retries: int = Field(default=3, ge=0, le=7, description="of one packet, before the connection has failed")
    trial_s: Annotated[float, Field(gt=0, le=3600), IN_SECONDS] = Field(
        default=2.0, description="length of a trial"
    )
    drain_s: Annotated[float, Field(ge=0, le=3600), IN_SECONDS] = Field(
        default=2.0, description="longest wait for the connections that are open when a trial ends"
    )
    max_rate: float | None = Field(
        default=None,
        gt=0,
        le=1e8,
        description="highest rate tried, in new connections a second; absent: what the tester itself can do",
    )

    @model_validator(mode="after")
    def _sources(self) -> Self:
        first, last = self.client_ports
        if first > last:
            raise ValueError(f"client_ports from {first} to {last}; expected the first one first")
        if self.sources > SOURCES_MAX:
            raise ValueError(
                f"{self.clients} clients of {last - first + 1} ports; "
                f"expected at most {SOURCES_MAX:,} of both"
            )
        if len(set(self.goals)) < len(self.goals):
            raise ValueError("a goal twice; expected each once")
        return self

    @property
    def sources(self) -> int:
        """Addresses and ports of the clients: so many connections can be open."""
        first, last = self.client_ports
        return self.clients * (last - first + 1)


class Traffic(LabSection):
    """What the tester sends."""

    frames: tuple[Frame, ...] = Field(
        default=("64",),
        min_length=1,
        max_length=64,
        description="frame sizes in L2 bytes with FCS, at most 9216 (with a VLAN tag 9220); IMIX: 7 of 64, 4 "
        "of 570, 1 of 1518; jumbo: 9018; or mixes as IMIX genomes (RFC 6985), imix:aaaaaaaddddg or, with "
        "sizes of your own, imix:aaA:A=570; capture: the frames of `capture`, and these alone where this is "
        "absent; connections: those of `connections`, likewise; one result each",
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
        description="gaps between packets; `recorded`: the capture's, in the mean at the rate of the trial",
    )
    capture: Capture | None = Field(
        default=None, description="frames of capture files; absent: all frames are generated"
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
