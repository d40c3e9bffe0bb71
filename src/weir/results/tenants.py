# SPDX-License-Identifier: Apache-2.0
"""What tenants' hosts and the host outside sent each other through a cloud, and what arrived. The trials are
those of the case."""

from __future__ import annotations

from weir.base.record import Record
from weir.results.trial import Drop

OUTWARD = "left-to-right"
RECORD, TCP_RECORD = "tenants", "tenants_tcp"
"""What their records are called in cases."""


class TenantShare(Record):
    """One tenant's packets in one direction at one load; medians of the trials that are valid."""

    tenant: str
    direction: str = OUTWARD
    """ "left-to-right": from its host to the host outside; "right-to-left": from there to its host."""
    offered_pps: float
    """That were sent, in the time that counts."""
    delivered_pps: float
    """Of these, that arrived and were not left in a queue."""
    delivered_min_pps: float
    delivered_max_pps: float
    loss_ratio: float
    latency_p99_us: float | None = None
    """From the one host to the other."""


class TenantsPoint(Record):
    """All that send at once, each at the same load in each direction."""

    load_pps: float
    """Of each, in each direction."""
    trials: int
    """That are valid; nothing else is known where there is none."""
    counted_share: float = 1.0
    """Of their time, that counts: of the trial with the least. `drops` and latencies are of all of it."""
    shares: list[TenantShare] = []
    """In the order of the streams: tenant by tenant, and of each the directions."""
    drops: list[Drop] = []
    """Of all valid trials together, where and why, the most first."""
    why: str | None = None
    """Why no trial of it can be used."""


class Senders(Record):
    """So many tenants that send at once through one cloud."""

    tenants: list[str]
    """Those that send."""
    standing: int
    """Tenants that the cloud has."""
    directions: list[str] = [OUTWARD]
    """Of the traffic; rates of goals are of all of them together. Absent in older results."""
    through: dict[str, list[str]] = {}
    """Of each that sends, the functions between its host and the outside, in order: its own by their names,
    shared ones as "shared.dpi". Of none, none is known."""


class TcpShare(Record):
    """What one tenant's TCP connections got through in one direction; medians of the repeats."""

    tenant: str
    direction: str = OUTWARD
    """Of the payload, as of packets."""
    repeats: int
    """That found something; nothing else is known where there is none."""
    goodput_bps: float | None = None
    """Payload that arrived."""
    goodput_min_bps: float | None = None
    goodput_max_bps: float | None = None
    retransmits: int | None = None
    """Segments that were sent again."""
    why: str | None = None
    """Why nothing is known."""


class TenantsTcp(Senders):
    """All of them over TCP."""

    duration_s: int
    connections: int
    """Of each."""
    shares: list[TcpShare] = []
    runs_bps: list[list[float | None]] = []
    """Of each repeat the payload of each of the shares, in their order; None: nothing is known of it then.
    Absent in older results."""
    why: str | None = None
    """Why it was not measured."""


class Tenants(Senders):
    """Each at the same load."""

    background_pps: float = 0.0
    """Of each of the other tenants in each direction meanwhile; rates of goals are of all together, these
    too."""

    points: list[TenantsPoint] = []
    """By load."""
