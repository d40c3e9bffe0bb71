# SPDX-License-Identifier: Apache-2.0
"""Connections that weir-dp makes from clients at one port to servers at another: TCP sessions and UDP
exchanges."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weir.protocol.configuration import Mac, Request
from weir.protocol.ledger import Reply
from weir.protocol.traffic_results import LatencySummary

DURATION_MAX_NS = 24 * 3600 * 10**9
RATE_MAX = 1e8
PortNumber = Annotated[int, Field(ge=1, le=65_535)]
AddressCount = Annotated[int, Field(ge=1, le=65_536)]


class Clients(Request):
    """Who opens connections: 2^24 addresses and ports at most, each of which has one connection at a time."""

    port: str
    """Where they are: that of an area of clients."""
    src_mac: Mac
    dst_mac: Mac
    address: str
    """The first one, IPv4 or IPv6. Of IPv6 all of them have the same first 96 bits."""
    addresses: AddressCount = 1
    first_port: PortNumber = 1024
    last_port: PortNumber = 65_535


class Servers(Request):
    """Whom clients connect to, one address after the other. Servers answer at any address."""

    port: str
    """Where they are: that of an area of servers."""
    src_mac: Mac
    dst_mac: Mac
    address: str
    """The first one, as clients know it; of the same version of IP."""
    addresses: AddressCount = 1


class Service(Request):
    """What a connection is for."""

    l4: Literal["tcp", "udp"] = "tcp"
    port: PortNumber
    """The servers'."""
    weight: int = Field(default=1, ge=1, le=1_000_000)
    """Share of the connections, by that of all services together."""
    transactions: int = Field(default=1, ge=1, le=65_535)
    """Requests of one connection, one after the other."""
    request_bytes: int = Field(ge=16, le=1 << 30)
    """Of UDP 1472 at most, over IPv6 1452, as the answer: one datagram."""
    answer_bytes: int = Field(ge=1, le=1 << 30)
    think_ns: int = Field(default=0, ge=0, le=3600 * 10**9)
    """Between an answer and the next request."""
    close: Literal["fin", "reset"] = "fin"
    """How the client ends a TCP connection."""


class ConnectionsConfigure(Request):
    """The connections of the runs that follow."""

    clients: Clients
    servers: Servers
    vlan: int | None = Field(default=None, ge=1, le=4094)
    mss: int | None = Field(default=None, ge=64, le=1460)
    """Most payload of one segment; absent: 1460, over IPv6 1440, which is the most there."""
    retries: int = Field(default=3, ge=0, le=7)
    """Of one packet, before the connection has failed."""
    retransmit_ns: int = Field(default=10**9, ge=10**6, le=60 * 10**9)
    """First time-out; each further one is twice as long."""
    seed: int = Field(default=1, ge=0)
    services: Annotated[tuple[Service, ...], Field(min_length=1, max_length=16)]


class ConnectionsStart(Request):
    """One run."""

    rate: float = Field(ge=0, le=RATE_MAX)
    """New connections a second; 0: as fast as the core can."""
    arrivals: Literal["constant", "poisson"] = "constant"
    duration_ns: int = Field(ge=10**6, le=DURATION_MAX_NS)
    connections: int | None = Field(default=None, ge=1, le=1 << 40)
    """No more than these; absent: the duration decides."""
    hold: bool = False
    """Connections go on with transactions until the duration is over, so that all are open at once."""
    transaction_rate: float = Field(default=0, ge=0, le=RATE_MAX)
    """With `hold`: transactions a second, begun as they are due, each on the connection that is idle for
    longest; one that is due while none is idle is missed. 0: each connection begins its next as its service
    says."""
    transactions_after_ns: int = Field(default=0, ge=0, le=DURATION_MAX_NS)
    """From when on they are due, to the end of the duration."""
    drain_ns: int = Field(default=10**9, ge=0, le=DURATION_MAX_NS)
    """Longest wait for what is open after the duration; then it stays open, and is counted so."""


class ConnectionsWait(Request):
    """How long to wait for the end of the run."""

    wait_ms: int = Field(default=0, ge=0, le=60_000)


class FailedConnections(Reply):
    """Connections that failed, by reason."""

    no_answer: int
    """One packet was sent again as often as allowed, or an answer did not come for as long."""
    reset: int
    """RST came."""
    closed_early: int
    """FIN came before the last answer."""
    bad_payload: int
    """Bytes came that the other side did not send."""
    out_of_ports: int
    """Never begun: every address and port of the clients had a connection."""


class SideResult(Reply):
    """What clients, or servers, counted. `opened` = `completed` + all `failed` + `open`."""

    opened: int
    """Connections begun, or, of clients, due without a free port; of servers: first SYNs that came."""
    established: int
    """TCP handshakes."""
    completed: int
    failed: FailedConnections
    open: int
    transactions: int
    retransmissions: int
    """Packets sent again."""
    tx_packets: int
    tx_bytes: int
    """L2 with FCS, as all bytes of packets."""
    rx_packets: int
    rx_bytes: int
    tx_refused: int
    """Of the packets sent: the port took them not."""
    payload_bytes: int
    """Received in order, each once."""
    out_of_order: int
    """Packets with data that came before or after their turn, or again."""
    bad_checksum: int
    """Of IP, TCP or UDP."""
    not_ours: int
    """Packets of no connection."""
    no_room: int
    """Servers: SYNs for which the table had no place; of IPv6 also packets between prefixes of 96 bits, of
    which 255 pairs had been seen before."""


class ServiceResult(Reply):
    """Connections of one service."""

    opened: int
    completed: int
    failed: int
    transactions: int


class ConnectionsResult(Reply):
    """The run up to now, or the one that has ended."""

    state: Literal["running", "done", "stopped"]
    intended: int
    """Connections that the rate asks for in the time; 0 while it goes on."""
    duration_ns: int
    """From the start until the last one was opened."""
    open_most: int
    """At the same time."""
    transactions_intended: int
    """Of a run with a rate of transactions those that are due in all; 0 while it goes on."""
    transactions_begun: int
    transactions_missed: int
    """Due while no connection was idle."""
    clients: SideResult
    servers: SideResult
    services: tuple[ServiceResult, ...]
    connect: LatencySummary
    """From the first SYN to the SYN-ACK."""
    first_byte: LatencySummary
    """From the beginning of a request to the first byte of its answer; retransmissions are in it."""
    transaction: LatencySummary
    """To the last byte."""
    gone_ports: tuple[str, ...] = ()
