# SPDX-License-Identifier: Apache-2.0
"""What connections through a chain came to: every one accounted for, goals of RFC 9411, times.

A load is new connections a second, connections that are open at the same time, transactions a second or bits
of their payload a second, as its goal says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.base.record import Record
from weir.results.delay import Latency
from weir.results.loads import AreaLoad
from weir.results.trial import Drop

NAME = "connections"
"""Of the record of a case."""


class ConnectionLedger(Record):
    """The connections of one end in one trial. `opened` = `completed` + Σ `failed` + `open`."""

    opened: int
    """Of the clients: begun, or due without a free port. Of the servers: first SYNs that came."""
    established: int
    """TCP handshakes."""
    completed: int
    """All answers received, and closed."""
    failed: dict[str, int]
    """By reason: no_answer, reset, closed_early, bad_payload, out_of_ports."""
    open: int
    """Still, when the trial's drain was over."""
    transactions: int
    retransmissions: int
    """Packets sent again."""
    tx_packets: int
    tx_bytes: int
    """L2 with FCS."""
    rx_packets: int
    rx_bytes: int
    payload_bytes: int
    """Received in order, each once."""
    out_of_order: int
    bad_checksum: int
    not_ours: int
    """Packets of no connection."""
    tx_refused: int
    """Packets that the port did not take."""

    @property
    def balanced(self) -> bool:
        """Whether every connection is accounted for."""
        return self.opened == self.completed + sum(self.failed.values()) + self.open


class ConnectionTrial(Record):
    """One load for one time."""

    goal: str
    load: float
    intended_duration_s: float
    duration_s: float
    """From the start until the last connection was opened."""
    intended: int
    """Connections that the load asks for in the time."""
    transactions_s: float | None = None
    """Time in which transactions were due at a rate; None: each connection began them as it had time."""
    transactions_intended: int | None = None
    """Due in that time, of which some were begun."""
    transactions_missed: int | None = None
    """Due while no connection was idle; the rest that was not begun was too late, by the tester's fault."""
    transactions_late: int | None = None
    open_most: int
    """At the same time."""
    clients: ConnectionLedger
    servers: ConnectionLedger
    connect: Latency | None = None
    """From the first SYN to the SYN-ACK; in `packets` how many of them."""
    first_byte: Latency | None = None
    """From the beginning of a request to the first byte of its answer (RFC 9411: TTFB)."""
    transaction: Latency | None = None
    """To the last byte (TTLB)."""
    drops: list[Drop] = []
    """Packets that functions, ports, switch and kernel counted as dropped; they were sent again."""
    areas: list[AreaLoad] = []
    """Of the functions, the tester, and what runs beside weir-dp, from before the trial to its end."""
    valid: bool = True
    invalid_because: list[str] = []

    @property
    def success_ratio(self) -> float:
        """Completed of those opened, or of the transactions due where they have a rate; 1 of none."""
        if self.transactions_intended:
            return self.clients.transactions / self.transactions_intended
        return self.clients.completed / self.clients.opened if self.clients.opened else 1.0


class ConnectionsFound(Record):
    """What the searches for one goal found: medians, as the rates beside them."""

    goal: str
    """One of "new-connections", "concurrent-connections", "transactions", "throughput"."""
    success_ratio: float
    """That was asked for."""
    load: float | None = None
    """The highest that had it; None: irregular."""
    load_min: float | None = None
    """Over the repeats, as load_max."""
    load_max: float | None = None
    loads: list[float] = []
    """Of each search that found one; none in results of older versions."""
    searches: int = 1
    tester_bound: bool = False
    """The tester can do little more: the chain may carry more than this."""
    lab_bound: bool = False
    """It carried all that `max_rate` or `max_transaction_rate` allows: the chain may carry more."""
    full_table: str | None = None
    """Of new connections a second: the function, and its reason, that had no room for more sessions in the
    least load that was too much, "f1/firewall (session_table_full)". Then this is what its table holds,
    divided by the time of a trial: a longer trial finds less, however fast the function is."""
    why: str | None = None
    """Why there is none, or what to bear in mind."""
    connections_per_s: float | None = None
    """New ones, in the trial of the highest load, as all that follows."""
    transactions_per_s: float | None = None
    goodput_bps: float | None = None
    """Payload of requests and answers, received in order, each byte once."""
    l2_bps: float | None = None
    """Of all packets, both ways, as the clients sent and received them."""
    open_most: int | None = None
    connect: Latency | None = None
    first_byte: Latency | None = None
    transaction: Latency | None = None
    retransmission_ratio: float | None = None
    """Packets sent again, of all that clients and servers sent."""

    @property
    def samples(self) -> tuple[float, ...]:
        """What was found: of each search, as far as that is known."""
        return tuple(self.loads) or (() if self.load is None else (self.load,))


class Connections(Record):
    """The connections of one built chain."""

    services: list[str]
    """In words."""
    tester_per_s: float | None = None
    """New connections a second that the tester alone makes and completes, in loopback; None: not measured."""
    tester_transactions_per_s: float | None = None
    """Likewise, on connections that stay open."""
    sources: int
    """Addresses and ports of the clients."""
    found: list[ConnectionsFound] = []
    trials: list[ConnectionTrial] = []

    def too_much(self, found: ConnectionsFound) -> ConnectionTrial | None:
        """The trial of the least load above what was found whose share of success was too small; None: no
        load was too much."""
        failed = [
            one
            for one in self.trials
            if one.goal == found.goal
            and one.valid
            and one.load > (found.load or 0)
            and one.success_ratio < found.success_ratio
        ]
        return min(failed, key=lambda one: one.load, default=None)

    def full_table(self, found: ConnectionsFound) -> str | None:
        """Who had no room for another session, and so for most of what failed in `too_much`."""
        trial = self.too_much(found)
        drops = [one for one in trial.drops if one.table_full] if trial is not None else []
        worst = max(drops, key=lambda one: one.packets, default=None)
        if trial is None or worst is None:
            return None
        failed = (1 - trial.success_ratio) * trial.clients.opened
        return f"{worst.decided_by} ({worst.reason})" if 2 * worst.packets >= failed else None

    def confirming(self, found: ConnectionsFound) -> ConnectionTrial | None:
        """The last trial at what was found."""
        alike = (one for one in reversed(self.trials) if one.goal == found.goal and one.load == found.load)
        return next(alike, None)


def of_case(records: Mapping[str, Any]) -> Connections | None:
    """Among the records of a case; None: it is of packets."""
    return Connections.model_validate(records[NAME]) if NAME in records else None
