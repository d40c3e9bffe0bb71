# SPDX-License-Identifier: Apache-2.0
"""`traffic.connections` of a lab: what clients ask of servers, and what is searched for."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from weir.base.record import LabSection
from weir.base.si import MS_PER_S
from weir.lab.frames import BITS_PER_BYTE
from weir.lab.units import IN_SECONDS, Milliseconds

SOURCES_MAX = 1 << 24
# Of one packet of 1,500 bytes, by version of IP.
SEGMENT_BYTES_MAX = {4: 1460, 6: 1440}
DATAGRAM_BYTES_MAX = {4: 1472, 6: 1452}
ConnectionGoal = Literal["new-connections", "concurrent-connections", "transactions", "throughput"]
_BESIDE_THINKING_S = 0.1  # each packet's way, and timers that expire a little late
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
        if self.l4 == "udp" and longest > DATAGRAM_BYTES_MAX[4]:
            raise ValueError(
                f"a datagram of {longest} bytes; expected at most {DATAGRAM_BYTES_MAX[4]} with udp"
            )
        return self


class Connections(LabSection):
    """Connections from clients at the left end to servers at the right end, packet by packet, and the goals
    of RFC 9411 that are searched for. Addresses are those of the ends, of the version of IP that `traffic.ip`
    says; clients have more from there on."""

    services: tuple[Service, ...] = Field(
        default=(Service(),), min_length=1, max_length=16, description="what connections are for"
    )
    goals: tuple[ConnectionGoal, ...] = Field(
        default=("new-connections",),
        min_length=1,
        max_length=4,
        description="what is searched for: the highest rate of new connections a second; the most that are "
        "open at the same time; or, on `held` connections that stay open, the highest rate of transactions, "
        "or of their payload in bit/s. The others and all times are told at what was found",
    )
    success_ratio: float = Field(
        default=0.99999,
        gt=0,
        le=1,
        description="share of the connections that must be completed, all their answers received; others "
        "failed or were still open. For transactions and throughput the share of the transactions",
    )
    held: int = Field(
        default=1000,
        ge=1,
        le=SOURCES_MAX,
        description="connections that stay open for the goals transactions and throughput, or as many as "
        "there are client addresses and ports; a transaction begins on the one that is idle for longest",
    )
    clients: _Addresses = Field(default=16, description="addresses of clients, from the left end's on")
    client_ports: tuple[_Port, _Port] = Field(
        default=(1024, 65_535), description="first and last port of each client"
    )
    servers: _Addresses = Field(
        default=1, description="addresses that clients connect to, from the one that the left end sends to on"
    )
    mss: int | None = Field(
        default=None,
        ge=64,
        le=SEGMENT_BYTES_MAX[4],
        description="most payload of a TCP segment; absent: what fits a packet of 1,500 bytes, 1460 or with "
        "IPv6 1440",
    )
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
    max_transaction_rate: float | None = Field(
        default=None,
        gt=0,
        le=1e8,
        description="likewise, in transactions a second",
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
        thinking_s = max((one.transactions - 1) * one.think_ms for one in self.services) / MS_PER_S
        needed_s = round(thinking_s + _BESIDE_THINKING_S, 3)
        if "new-connections" in self.goals and thinking_s and needed_s > self.drain_s:
            said = f"{thinking_s:g} s to think, and what is opened last has drain_s, {self.drain_s:g} s"
            raise ValueError(f"{said}; expected a drain_s of at least {needed_s:g}, or less to think")
        return self

    @property
    def transaction_bits(self) -> float:
        """Payload of a request and its answer in the mean of the services, by their weights."""
        weights = sum(one.weight for one in self.services)
        whole = sum(one.weight * (one.request_bytes + one.answer_bytes) for one in self.services)
        return BITS_PER_BYTE * whole / weights

    @property
    def sources(self) -> int:
        """Addresses and ports of the clients: so many connections can be open."""
        first, last = self.client_ports
        return self.clients * (last - first + 1)
