# SPDX-License-Identifier: Apache-2.0
"""What tenants' hosts sent through a cloud, and what arrived outside. The trials are those of the case."""

from __future__ import annotations

from weir.base.record import Record
from weir.results.trial import Drop


class TenantShare(Record):
    """One tenant's packets at one load; medians of the trials that are valid."""

    tenant: str
    offered_pps: float
    """That its host sent."""
    delivered_pps: float
    """That arrived outside."""
    delivered_min_pps: float
    delivered_max_pps: float
    loss_ratio: float
    latency_p99_us: float | None = None
    """From its host to the host outside."""


class TenantsPoint(Record):
    """All that send at once, each at the same load."""

    load_pps: float
    """Of each."""
    trials: int
    """That are valid; nothing else is known where there is none."""
    shares: list[TenantShare] = []
    """In the order of the streams."""
    drops: list[Drop] = []
    """Of all valid trials together, where and why, the most first."""
    why: str | None = None
    """Why no trial of it can be used."""


class Tenants(Record):
    """So many tenants that send at once through one cloud."""

    tenants: list[str]
    """Those that send."""
    standing: int
    """Tenants that the cloud has."""
    points: list[TenantsPoint] = []
    """By load."""
