# SPDX-License-Identifier: Apache-2.0
"""Parts of a chain on other hosts than this one, as whoever measures it sees them. `weir.procedures.parts`
has some; of a chain on one machine there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from weir.base.error import ChainError
from weir.base.topology import Topology
from weir.measure.tester import Counter
from weir.plan.spanning import tested_here
from weir.results.setup import OtherHost


class StandingElsewhere(Protocol):
    """All other parts of a chain, which stand."""

    def counters(self, own: Callable[[], Sequence[Counter]]) -> Sequence[Counter]:
        """What all parts count, and what is lost between hosts; `own`: what this part counts now.
        ChainError."""

    def fidelity(self) -> Sequence[str]:
        """What is said of them, in sentences."""

    def other_hosts(self) -> Sequence[OtherHost]:
        """Their machines."""


class Elsewhere(Protocol):
    """What has them built."""

    def standing(self, topology: Topology) -> AbstractContextManager[StandingElsewhere]:
        """All other parts, or none, for the body; taken down after it, however it ends. `topology`: this
        host's part. ChainError."""


class Nothing:
    """Nothing stands elsewhere."""

    def counters(self, own: Callable[[], Sequence[Counter]]) -> Sequence[Counter]:
        return own()

    def fidelity(self) -> Sequence[str]:
        return ()

    def other_hosts(self) -> Sequence[OtherHost]:
        return ()


class Alone:
    """One machine, or a host that builds what it is told."""

    @contextmanager
    def standing(self, topology: Topology) -> Iterator[StandingElsewhere]:
        if topology.spans and tested_here(topology):
            hosts = ", ".join(dict.fromkeys(node.host for node in topology.nodes))
            raise ChainError(
                f"the chain spans hosts ({hosts}), and this measures on one machine: see `weir run --on`"
            )
        yield NOTHING


NOTHING = Nothing()
ALONE = Alone()
