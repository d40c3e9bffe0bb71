# SPDX-License-Identifier: Apache-2.0
"""Set-ups that the cost model is about, built and measured: for calibration, and for what was held out of it.

The one place that knows fabric, data plane and measure together for them; none of them knows the others.
"""

from __future__ import annotations

import secrets
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from weir import fabric, plan
from weir.built import built
from weir.dataplane.messages import Hello, Ledger
from weir.fabric import interrupts
from weir.fabric import lean as process
from weir.measure.costs import Costs, costs, settle, windows
from weir.plan.execution import execution
from weir.spec import Chain, Lab
from weir.spec.execution import Execution

VISITS = 3
"""How often each set-up is built: the host's mood differs from one minute to the next."""
LONGEST_S = 30
NEAR = 0.2
"""Distances of cores that differ by less than this share are the same."""
EXTRA_ROUNDS = 4
"""More visits to set-ups that were never seen steady."""
_PROBE_BYTES = 4096

Say = Callable[[str], None]


@dataclass(frozen=True)
class Visit:
    """Ledgers of one visit."""

    ledgers: tuple[Ledger, ...]
    distances: tuple[float, ...]
    """Of the cores, in cycles, before and after; none on one core."""

    @property
    def steady(self) -> bool:
        """The cores were as far from each other after it as before: no hypervisor moved them."""
        return not self.distances or max(self.distances) <= (1 + NEAR) * min(self.distances)


@dataclass(frozen=True)
class Measurement:
    """What one visit measured, of the set-up as it was then."""

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
    visits: list[Visit] = field(default_factory=list)
    settled: bool = True
    hello: Hello | None = None

    def measurements(self) -> list[Measurement]:
        """One for each visit that was steady; for all if none was."""
        chosen = [one for one in self.visits if one.steady] or self.visits
        return [Measurement(self._at(one), costs([one.ledgers])) for one in chosen]

    def undisturbed(self) -> Measurement:
        """Of the fastest visit."""
        return max(self.measurements(), key=lambda one: one.costs.pps)

    def _at(self, visit: Visit) -> Execution:
        if not visit.distances:
            return self.execution
        return replace(self.execution, core_distance_cycles=statistics.mean(visit.distances))


def setup(lab: Lab, chain: Chain, frame: str, name: str) -> Visited:
    """To be visited. PlanError for what the model cannot describe."""
    topology = plan.build_topology(lab, "direct", chain, plan.deployment_id(lab.name, "00000000"))
    return Visited(name, lab, chain, frame, execution(topology, lab, chain, frame))


def distance_cycles(cpus: Sequence[int]) -> float:
    """Cycles of the time-stamp counter to read a cache line that another of these cores has."""
    lines = process.measure_machine(process.lean_binary(), [_PROBE_BYTES], cpus[:2])
    return statistics.median(float(one) for line in lines for one in line.get("clean", ()))


def _distances(cores: Sequence[int]) -> tuple[float, ...]:
    return (distance_cycles(cores),) if len(cores) > 1 else ()


def visit(one: Visited) -> None:
    """Builds it, waits until it has settled, and reads its ledgers."""
    topology = plan.build_topology(
        one.lab, "direct", one.chain, plan.deployment_id(one.lab.name, secrets.token_hex(4))
    )
    cores = one.execution.cores()
    before = _distances(cores)
    with built(one.lab, topology) as (_, client, hello):
        client.configure_traffic(plan.streams(topology, one.lab, one.frame))
        streams = 2 if one.lab.tester.direction == "bidirectional" else 1
        client.start_traffic(dict.fromkeys(range(streams), 0.0), LONGEST_S * 10**9, 0)
        one.settled &= settle(client, time.sleep)
        ledgers = tuple(windows(client, time.sleep))
        one.hello = hello
    one.visits.append(Visit(ledgers, before + _distances(cores)))


def visited(setups: Sequence[Visited], say: Say) -> None:
    """All of them in turn, again and again: what drifts, drifts for all. Ctrl-C takes down what stands."""
    with interrupts.held():
        for name in fabric.clean_leftovers():
            say(f"took down {name}, which a killed run had left")
        for number in range(VISITS):
            _round(setups, f"round {number + 1} of {VISITS}", say)
        for number in range(EXTRA_ROUNDS):
            moved = [one for one in setups if not any(visit.steady for visit in one.visits)]
            _round(moved, f"extra round {number + 1}, since the host moved the cores", say)


def _round(setups: Sequence[Visited], name: str, say: Say) -> None:
    for number, one in enumerate(setups, 1):
        interrupts.check()
        say(f"{name}, {number} of {len(setups)}: {one.name}")
        visit(one)
