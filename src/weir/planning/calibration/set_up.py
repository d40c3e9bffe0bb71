# SPDX-License-Identifier: Apache-2.0
"""A set-up that the cost model is about, and what it was found to do over all visits."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weir.base.error import WeirError
from weir.lab import Chain, Lab
from weir.lab.execution import Execution
from weir.measure.core_speed import Slowing
from weir.measure.costs import USED_MIN, Costs, costs
from weir.measure.windows import CALM, LIGHT_USABLE, LIGHT_USED, LIGHT_USED_MIN, NEAR, USABLE, Window
from weir.planning.placement.prediction import execution_of
from weir.protocol.ledger import Hello
from weir.results.model import ModelCoreSpeed, ModelDocument

NEARLY_FULL = 0.9
"""Bursts fuller than this tell nothing of what a short one costs."""


@dataclass(frozen=True)
class Measurement:
    """What was measured of a set-up while its cores were so far from each other."""

    execution: Execution
    costs: Costs

    def as_found(self) -> Execution:
        """The execution with bursts as long as they were. Of a switch as it was planned: it has its own."""
        if self.execution.switched():
            return self.execution
        shares = {area.name: area.share() for area in self.execution.areas}
        fills = {area.name: area.fill(shares.get(area.name, 1.0)) for area in self.costs.areas}
        return self.execution.with_fills(
            {name: 1.0 if fill > NEARLY_FULL else fill for name, fill in fills.items()}
        )


@dataclass
class Visited:
    """A set-up and what it was found to do, over all visits."""

    name: str
    lab: Lab
    chain: Chain
    frame: str
    technology: str
    execution: Execution
    windows: list[Window] = field(default_factory=list)
    light: dict[float, list[Window]] = field(default_factory=dict)
    """Of bursts that are short, by share of the rate."""
    slowing: Slowing = field(default_factory=Slowing)
    """What slow cores cost, as far as was seen while any set-up was measured."""
    settled: bool = True
    visits: int = 0
    """How often it was built and seen."""
    drawn: bool = False
    """At random: its rate is what is wanted, not what its short bursts cost."""
    hello: Hello | None = None

    def streams(self) -> int:
        """Of its traffic."""
        return len(self.lab.tester.directions)

    def usable(self) -> list[list[Window]]:
        """Those in which the host did little that is seen, of each distance at which they suffice."""
        found = [one for one in self.windows if one.stayed() and self._slowness(one) <= USABLE]
        return [group for group in _by_distance(found) if len(group) >= USED_MIN]

    def calm(self, window: Window) -> bool:
        """Whether the host did next to nothing."""
        return window.stayed() and self._slowness(window) <= CALM

    def _slowness(self, window: Window) -> float:
        return self.slowing.slowness(window.piece_cycles())

    def enough(self) -> bool:
        """Whether some distance of the cores was seen often enough."""
        return bool(self.usable())

    def measurements(self) -> list[Measurement]:
        """One for each distance at which usable windows suffice; of all windows if there is none. None at all
        if no packet came back."""
        heard = [group for group in self.usable() if _heard(group)]
        return [self._measurement(group) for group in heard or [self.windows] if _heard(group)]

    def returned(self) -> bool:
        """Whether any packet came back to the tester."""
        return _heard(self.windows)

    def light_measurements(self) -> list[Measurement]:
        """The same at each light load; none where usable windows do not suffice."""

        def slowness(window: Window) -> float:
            # No core is full, so none limits: of the slowest of all.
            return self.slowing.slowness(max(window.piece_cycles_by_core.values(), default=math.inf))

        found = []
        for observed in self.light.values():
            usable = [one for one in observed if one.pps() and one.stayed() and slowness(one) <= LIGHT_USABLE]
            for group in _by_distance(usable):
                if len(group) >= LIGHT_USED_MIN:
                    found.append(self._measurement(sorted(group, key=slowness)[:LIGHT_USED]))
        return found

    def _measurement(self, group: Sequence[Window]) -> Measurement:
        return Measurement(self._at(group), costs(group, self.slowing))

    def slowed(self) -> list[list[tuple[float, float]]]:
        """Slowness and time a packet of usable windows, by distance."""
        return [
            [(self._slowness(one), 1 / one.pps()) for one in group if one.pps() > 0]
            for group in self.usable()
        ]

    def undisturbed(self) -> Measurement:
        """The fastest."""
        return max(self.measurements(), key=lambda one: one.costs.pps)

    def _at(self, group: Sequence[Window]) -> Execution:
        distances = [found for one in group if (found := one.distance_cycles()) is not None]
        if not distances:
            return self.execution
        return replace(self.execution, core_distance_cycles=statistics.mean(distances))


class NothingReturnedError(WeirError):
    """There is nothing to learn from what was measured."""


def returning(setups: Sequence[Visited]) -> list[Visited]:
    """Those of which packets came back to the tester. NothingReturnedError without any."""
    found = [one for one in setups if one.returned()]
    if not found:
        names = "; ".join(one.name for one in setups)
        raise NothingReturnedError(f"{names}: no packet came back to the tester")
    return found


def _heard(windows: Sequence[Window]) -> bool:
    return any(window.pps() for window in windows)


def _by_distance(found: Sequence[Window]) -> list[list[Window]]:
    """Windows whose cores were as far from each other, nearest first."""
    groups: list[list[Window]] = []
    for one in sorted(found, key=lambda each: each.distance_cycles() or 0.0):
        nearest = (groups[-1][0].distance_cycles() or 0.0) if groups else -1.0
        if groups and (one.distance_cycles() or 0.0) <= (1 + NEAR) * nearest:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def setup(lab: Lab, chain: Chain, frame: str, name: str, technology: str = "direct") -> Visited:
    """To be visited. PlanError for what the model cannot describe."""
    return Visited(name, lab, chain, frame, technology, execution_of(lab, chain, frame, technology))


def slowing_of(document: ModelDocument) -> Slowing:
    """What slow cores cost when the model was made."""
    return (
        Slowing(document.core_speed.best_cycles, document.core_speed.slope)
        if document.core_speed
        else Slowing()
    )


def core_speed_of(slowing: Slowing, slowed: float) -> ModelCoreSpeed | None:
    """For the document; None where nothing was timed. `slowed`: what it cost the trials, in the median."""
    if not math.isfinite(slowing.best_cycles):
        return None
    return ModelCoreSpeed(best_cycles=slowing.best_cycles, slope=slowing.slope, slowed=slowed)
