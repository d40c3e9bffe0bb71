# SPDX-License-Identifier: Apache-2.0
"""What `weir run` is about to do, or has left to do: which points, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weir.procedures.order import Asked, Order, Visit

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.ways import Way


@dataclass(frozen=True)
class Planned:
    """A run that is about to begin, or to go on."""

    lab: Lab
    compared: Sequence[Way]
    asked: Asked
    done: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Rounds that are measured already: by technology or variant, chain and frame."""
    quick: bool = False
    """Of a run that goes on."""
    repeated: bool = False
    """How many rounds was said beside the lab."""

    @property
    def possible(self) -> list[tuple[str, str]]:
        """Set-ups that this machine can run, as far as is known beforehand."""
        return [
            (way.name, chain.name)
            for way in self.compared
            if way.refused is None
            for chain in way.lab.chains()
        ]

    @property
    def cases(self) -> int:
        """Each frame size of each set-up."""
        return len(self.possible) * len(self.lab.traffic.frames)

    @property
    def left_share(self) -> float:
        """Of all points."""
        points = self.cases * self.lab.measure.rounds
        frames = [str(frame) for frame in self.lab.traffic.frames]
        most = self.lab.measure.rounds
        done = sum(min(most, self.done.get((*key, one), 0)) for key in self.possible for one in frames)
        return 1 - done / points if points else 0.0

    @property
    def order(self) -> Order:
        """The whole, as the run has it."""
        keys = [(way.name, chain.name) for way in self.compared for chain in way.lab.chains()]
        rounds, limited = self.lab.measure.rounds, self.asked.budget_s is not None
        return Order(keys, rounds, seed=self.asked.seed, widest_first=limited)

    def visits(self) -> Iterator[Visit]:
        """Those that are left, as far as their order is known."""
        frames = [str(frame) for frame in self.lab.traffic.frames]
        for visit in self.order.blocks():
            if visit.setup in self.possible and any(
                self.done.get((*visit.setup, frame), 0) <= visit.round for frame in frames
            ):
                yield visit
