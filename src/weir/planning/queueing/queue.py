# SPDX-License-Identifier: Apache-2.0
"""One queue of a core, as all of this package takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Arrivals = Literal["constant", "poisson"]


@dataclass(frozen=True)
class Queue:
    """An input of an execution area, and what the area does with a packet from it."""

    name: str
    core: int
    service_us: float
    """Of one packet, mean."""
    service_scv: float = 0.0
    """Squared coefficient of variation of it: 0 constant, 1 exponential."""
    outside: float = 0.0
    """Share of the network's packets that come in here."""
    then: Mapping[str, float] = field(default_factory=dict)
    """Where its packets go on, with probabilities; what is left of 1 leaves the network."""
    poll_us: float = 0.0
    """What each poll costs, with packets or without."""
    burst_us: float = 0.0
    """What one with packets costs beside that and its packets."""
    one_by_one: bool = False
    """A packet goes on as soon as it is served, as in the textbook; else with its whole burst."""
    source: bool = False
    """Makes its packets. They are stamped when it has them together: their delay begins behind what the poll
    and the burst cost by themselves."""
    sink: bool = False
    """A packet's delay ends when it is taken."""
    places: int | None = None
    """Packets that it can hold; None: any number."""
