# SPDX-License-Identifier: Apache-2.0
"""Set-ups that the cost model is about, built and measured: for calibration, and for what was held out of it.

The one place that knows fabric, data plane and measure together for them; none of them knows the others.
"""

from __future__ import annotations

import math
import secrets
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from weir import fabric, plan
from weir.built import built
from weir.dataplane.messages import Hello
from weir.fabric import interrupts
from weir.fabric import lean as process
from weir.measure.costs import NEAR, USED_MIN, Costs, HostPace, Window, costs, settle, windows
from weir.plan.execution import execution
from weir.spec import Chain, Lab
from weir.spec.execution import Execution

VISITS = 3
"""How often each set-up is built: the host's mood differs from one minute to the next."""
LONGEST_S = 30
EXTRA_ROUNDS = 4
"""More visits to set-ups that were hardly seen on an undisturbed host."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Measurement:
    """What was measured of a set-up while its cores were so far from each other."""

    execution: Execution
    costs: Costs


@dataclass
class Visited:
    """A set-up and what it was found to do, over all visits."""

    name: str
    lab: Lab
    chain: Chain
    frame: str
    execution: Execution
    windows: list[Window] = field(default_factory=list)
    pace_cycles: float = math.inf
    """The best that a core was seen to have, while any set-up was measured."""
    settled: bool = True
    hello: Hello | None = None

    def clean(self) -> list[Window]:
        """Those in which the host did nothing that is seen."""
        return [one for one in self.windows if one.clean(self.pace_cycles)]

    def enough(self) -> bool:
        """Whether some distance of the cores was seen often enough."""
        return any(len(group) >= USED_MIN for group in _by_distance(self.clean()))

    def measurements(self) -> list[Measurement]:
        """One for each distance at which clean windows suffice; of all windows if there is none."""
        groups = [group for group in _by_distance(self.clean()) if len(group) >= USED_MIN]
        return [Measurement(self._at(group), costs(group)) for group in groups or [self.windows]]

    def undisturbed(self) -> Measurement:
        """The fastest."""
        return max(self.measurements(), key=lambda one: one.costs.pps)

    def _at(self, group: Sequence[Window]) -> Execution:
        distances = [found for one in group if (found := one.distance_cycles()) is not None]
        if not distances:
            return self.execution
        return replace(self.execution, core_distance_cycles=statistics.mean(distances))


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


def setup(lab: Lab, chain: Chain, frame: str, name: str) -> Visited:
    """To be visited. PlanError for what the model cannot describe."""
    topology = plan.build_topology(lab, "direct", chain, plan.deployment_id(lab.name, "00000000"))
    return Visited(name, lab, chain, frame, execution(topology, lab, chain, frame))


def pace(cpus: Sequence[int]) -> HostPace:
    """Of these CPUs, at this moment; the distance is that of the first two."""
    found = process.measure_pace(process.lean_binary(), cpus[:2])
    return HostPace(tuple(found["pace_cycles"]), found.get("distance_cycles"))


def visit(one: Visited) -> None:
    """Builds it, waits until it has settled, and reads its ledgers."""
    topology = plan.build_topology(
        one.lab, "direct", one.chain, plan.deployment_id(one.lab.name, secrets.token_hex(4))
    )
    cores = one.execution.cores()
    with built(one.lab, topology) as (_, client, hello):
        client.configure_traffic(plan.streams(topology, one.lab, one.frame))
        streams = 2 if one.lab.tester.direction == "bidirectional" else 1
        client.start_traffic(dict.fromkeys(range(streams), 0.0), LONGEST_S * 10**9, 0)
        one.settled &= settle(client, time.sleep)
        one.windows += windows(client, time.sleep, lambda: pace(cores))
        one.hello = hello


def visited(setups: Sequence[Visited], say: Say) -> None:
    """All of them in turn, again and again: what drifts, drifts for all. Ctrl-C takes down what stands."""
    with interrupts.held():
        for name in fabric.clean_leftovers():
            say(f"took down {name}, which a killed run had left")
        for number in range(VISITS):
            _round(setups, f"round {number + 1} of {VISITS}", say)
        for number in range(EXTRA_ROUNDS):
            disturbed = [one for one in setups if not one.enough()]
            _round(disturbed, f"extra round {number + 1}, since the host was disturbed", say)


def _round(setups: Sequence[Visited], name: str, say: Say) -> None:
    for number, one in enumerate(setups, 1):
        interrupts.check()
        say(f"{name}, {number} of {len(setups)}: {one.name}")
        visit(one)
    compare_paces(setups)


def compare_paces(setups: Sequence[Visited]) -> None:
    """Tells all of them how fast the cores were at their best."""
    best = min((window.fastest() for one in setups for window in one.windows), default=math.inf)
    for one in setups:
        one.pace_cycles = min(best, one.pace_cycles)
