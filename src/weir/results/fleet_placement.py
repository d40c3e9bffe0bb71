# SPDX-License-Identifier: Apache-2.0
"""What `weir fleet plan` answers: who stands where, what is left over and why, and what is proved of it."""

from __future__ import annotations

from typing import Any, Literal

from weir.base.record import FixedRecord, document_schema

PLACEMENT_VERSION = 1


class Use(FixedRecord):
    """Of one resource."""

    used: float
    available: float
    """0 with `limited` false."""
    limited: bool = True


class Uses(FixedRecord):
    """Of all resources."""

    cores: Use
    memory_gb: Use
    hugepages_gb: Use
    link_gbps: Use


class PlacedNode(FixedRecord):
    """One NUMA node of a host in use."""

    uses: Uses
    chains: dict[str, tuple[int, ...]]
    """Class of chains → numbers of its chains that stand here, from 1."""


class PlacedHost(FixedRecord):
    """One host in use."""

    host: str
    """Class of hosts."""
    number: int
    """Which of its class, from 1."""
    nodes: tuple[PlacedNode, ...]


class HostClassUse(FixedRecord):
    """One class of hosts."""

    host: str
    zone: str
    used: int
    count: int
    cost: float
    """Of those in use."""


class Unplaced(FixedRecord):
    """Chains of one class that have no place."""

    chain: str
    count: int
    of: int
    """How many the class has."""
    binds: str
    """What is short: cores, memory, hugepages, link, host link, hosts, anti-affinity."""
    reason: str


class Placement(FixedRecord):
    """The answer."""

    placement: int = PLACEMENT_VERSION
    """Version of this format."""
    fleet: str
    """Name of the fleet."""
    chains: int
    placed: int
    placed_bound: int
    """No placement has more: proved."""
    hosts_used: int
    cost: float
    """Of the hosts in use."""
    cost_bound: float
    """No placement of as many chains costs less: proved."""
    gap: float
    """(cost - cost_bound) / cost."""
    ended: Literal["gap", "time", "interrupted", "rounds"]
    """Why the search ended: the gap asked for is proved, time was up, Ctrl-C, or nothing more to try."""
    seconds: float
    seed: int
    uses: Uses
    """Of the hosts in use."""
    fullest_node: float
    """Share of the scarcest resource of the fullest NUMA node."""
    classes: tuple[HostClassUse, ...]
    unplaced: tuple[Unplaced, ...]
    hosts: tuple[PlacedHost, ...]


def schema() -> dict[str, Any]:
    """The JSON Schema."""
    return document_schema(Placement, "Weir placement")
