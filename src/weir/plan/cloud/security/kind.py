# SPDX-License-Identifier: Apache-2.0
"""What a way to filter says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weir.base.cloud import CloudNode, CloudTopology, Instance, Network
from weir.base.step import Step
from weir.plan.cloud.names import InstancePort


def _nothing(*_topology_and_whose: object) -> Iterator[Step]:
    return iter(())


@dataclass(frozen=True)
class SecurityKind:
    """One way."""

    sentence: str
    """For those who read what was measured."""
    at_integration: Callable[[InstancePort], str]
    """The instance's interface at br-int."""
    instance_steps: Callable[[CloudTopology, Network, Instance], Iterator[Step]] = _nothing
    """Between its tap and br-int."""
    node_steps: Callable[[CloudTopology, CloudNode], Iterator[Step]] = _nothing
    """Rules of a node, once all its instances are there."""
    flows: Callable[[CloudTopology, CloudNode], Iterator[str]] | None = None
    """Of br-int at nodes with instances; None: it forwards as any switch."""
    bridged_netfilter: bool = False
    """Whether bridged packets pass netfilter at nodes with instances."""
    beside_switch: tuple[str, ...] = ("qvb",)
    """Beginnings of the names of a node's interfaces at which its Open vSwitch is not."""
    drops_in_switch: bool = False
    """Whether what it drops came into the switch, and does not come out of it."""
