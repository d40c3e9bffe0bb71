# SPDX-License-Identifier: Apache-2.0
"""The goals of RFC 9411 on one built chain: for each the highest load whose connections are completed.

MLRsearch, as for NDR: its loss ratio is 1 less the success ratio. What is not the goal, and all times, are
those of a trial at what was found.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weir.lab.connections import ConnectionGoal, Service
from weir.lab.connections import Connections as Wanted
from weir.lab.frames import BITS_PER_BYTE
from weir.lab.lab import Lab
from weir.lab.measure import Goal
from weir.measure.outside import NOTHING, Outside
from weir.measure.preflight import where_dropped
from weir.measure.search import GoalResult, search
from weir.measure.tester import CoreWatch, SutCounters
from weir.procedures.connections.trial import PACED, ConnectionRunner
from weir.protocol.client import DataPlaneClient
from weir.results.case import TESTER_BOUND_SHARE
from weir.results.connections import Connections, ConnectionsFound, ConnectionTrial

UNITS: dict[str, str] = {
    "new-connections": "connections a second",
    "concurrent-connections": "connections",
    "transactions": "transactions a second",
    "throughput": "bit/s of payload",
}
INITIAL_SHARE = 0.25
"""Of a trial: what the search looks for the region with."""
LOWEST = 100.0
"""New connections a second that a tester, or a chain, is tried with first."""
LOWEST_OPEN = 10.0
"""Connections open at a time: no table that anybody measures holds fewer."""
PROBE_S = 0.3
PROBES = 3
HALVINGS = 3

Phase = Callable[[int, int], None]


@dataclass(frozen=True)
class Alone:
    """What the tester does in loopback; None: not measured, or not even little."""

    connections_per_s: float | None = None
    transactions_per_s: float | None = None


class ConnectionMeasurer:
    """Of one chain that is deployed and configured, its loops polling."""

    def __init__(
        self,
        lab: Lab,
        client: DataPlaneClient,
        counters: SutCounters,
        cores: CoreWatch,
        phase: Phase,
        *,
        outside: Outside = NOTHING,
        forget: Callable[[], None] = lambda: None,
        on_trial: Callable[[ConnectionTrial], None] = lambda _: None,
    ) -> None:
        wanted = lab.traffic.connections
        assert wanted is not None
        self._wanted: Wanted = wanted
        self._lab = lab
        self._client = client
        self._counters = counters
        self._cores = cores
        self._phase = phase
        self._outside = outside
        self._forget = forget
        self._on_trial = on_trial
        self.record = Connections(
            services=[described(one) for one in wanted.services], sources=wanted.sources
        )

    def measure(self, alone: Alone) -> str | None:
        """Fills the record, goal by goal: what is finished is there when this raises. A sentence, if no
        connection comes through, however few there are; then nothing is searched for.
        """
        self.record.tester_per_s = alone.connections_per_s
        self.record.tester_transactions_per_s = alone.transactions_per_s
        nothing = self._nothing_comes()
        for goal in self._wanted.goals:
            if nothing is not None:
                ratio = self._wanted.success_ratio
                self.record.found.append(
                    ConnectionsFound(goal=goal, success_ratio=ratio, searches=0, why=nothing)
                )
                continue
            self.record.found.append(self._found(goal, self._highest(goal, alone)))
        return nothing

    def _nothing_comes(self) -> str | None:
        """In one of a few tries: as with the tester alone."""
        runner = self._runner("new-connections")
        for _ in range(PROBES):
            runner.valid("preflight", LOWEST, PROBE_S)
            trial = self.record.trials[-1]
            if trial.clients.transactions or trial.clients.completed or not trial.clients.opened:
                return None
        return _nothing(trial)

    def alone(self) -> Alone:
        """What a chain of the tester alone can do, as far as the goals ask for it."""
        goals = set(self._wanted.goals)
        return Alone(
            self.ceiling_per_s("new-connections") if goals - PACED else None,
            self.ceiling_per_s("transactions") if goals & PACED else None,
        )

    def ceiling_per_s(self, goal: ConnectionGoal = "new-connections") -> float | None:
        """New connections, or transactions, a second that all are completed, up to an eighth more; None: not
        even few are."""
        runner = self._runner(goal)
        good, tried = 0.0, LOWEST
        while tried <= 1e8 and self._carries(runner, tried):
            good, tried = tried, 2 * tried
        for _ in range(HALVINGS if good else 0):
            middle = (good + tried) / 2
            good, tried = (middle, tried) if self._carries(runner, middle) else (good, middle)
        return good or None

    def _carries(self, runner: ConnectionRunner, rate: float) -> bool:
        """In one of a few tries: a moment in which somebody had the core is no limit of the tester's."""
        for _ in range(PROBES):
            trial = runner.valid("calibration", rate, PROBE_S).trial
            if trial.valid and trial.delivered == trial.offered > 0:
                return True
        return False

    def _runner(self, goal: ConnectionGoal) -> ConnectionRunner:
        return ConnectionRunner(
            self._client,
            self._counters,
            self._wanted,
            goal,
            poisson=self._lab.traffic.arrivals == "poisson",
            retries=self._lab.measure.trial.retries,
            cores=self._cores,
            on_trial=self._kept,
            outside=self._outside,
            forget=self._forget,
        )

    def _kept(self, trial: ConnectionTrial) -> None:
        self.record.trials.append(trial)
        self._on_trial(trial)

    def _highest(self, goal: ConnectionGoal, alone: Alone) -> float:
        if goal == "concurrent-connections":
            return float(self._wanted.sources)
        if goal in PACED:
            per_s = self._wanted.max_transaction_rate or alone.transactions_per_s or LOWEST
            return per_s * (self._wanted.transaction_bits if goal == "throughput" else 1)
        return self._wanted.max_rate or alone.connections_per_s or LOWEST

    def _limited(self, goal: ConnectionGoal) -> bool:
        """Whether the lab says up to where, not what the tester can do."""
        limit = self._wanted.max_transaction_rate if goal in PACED else self._wanted.max_rate
        return limit is not None

    def _found(self, goal: ConnectionGoal, highest: float) -> ConnectionsFound:
        runner, results = self._runner(goal), []
        repeats = self._lab.measure.repeats
        for number in range(repeats):
            self._phase(number + 1, repeats)
            results.append(self._searched(runner, goal, highest))
        loads = [one.load_pps for one in results if one.load_pps is not None]
        found = ConnectionsFound(
            goal=goal,
            success_ratio=self._wanted.success_ratio,
            searches=len(results),
            why=_why(results, loads),
        )
        if 2 * len(loads) <= len(results):
            lost = self.record.too_much(found)
            if found.why is not None and lost is not None and lost.drops:
                found.why += f" Packets dropped: {where_dropped(lost.drops)}."
            return found
        found.load, found.load_min, found.load_max = statistics.median(loads), min(loads), max(loads)
        found.loads = loads
        found.tester_bound = any(one.tester_limited for one in results) or (
            found.load >= TESTER_BOUND_SHARE * highest and not self._limited(goal)
        )
        middle = [one for one in results if (one.load_pps or math.inf) <= statistics.median_high(loads)]
        found.lab_bound = self._limited(goal) and any(one.upper_pps is None for one in middle)
        if goal == "new-connections":
            found.full_table = self.record.full_table(found)
        runner.valid("confirm", found.load, self._wanted.trial_s)
        _describe(found, self.record.trials[-1])
        return found

    def _searched(self, runner: ConnectionRunner, goal: ConnectionGoal, highest: float) -> GoalResult:
        options, trial_s = self._lab.measure, self._wanted.trial_s
        trial = options.trial.model_copy(
            update={
                "initial_duration_s": INITIAL_SHARE * trial_s,
                "duration_s": trial_s,
                "duration_sum_s": trial_s,
            }
        )
        wanted = options.model_copy(
            update={
                "goals": (Goal.of_successes(goal, self._wanted.success_ratio),),
                "trial": trial,
            }
        )
        # How small a table is has nothing to do with how many ports the clients have.
        concurrent = goal == "concurrent-connections"
        lowest = LOWEST_OPEN if concurrent else max(1.0, options.min_load * highest)
        return search(
            runner,
            wanted,
            (min(lowest, highest / 2), highest),
            clock=time.monotonic,
            deadline=time.monotonic() + options.time_limit_s,
            unit=UNITS[goal],
        )[0]


def described(service: Service) -> str:
    """ "TCP 80: 1 transaction of 200 and 1024 B"."""
    several = "" if service.transactions == 1 else "s"
    think = f", {service.think_ms:g} ms to think" if service.think_ms else ""
    close = ", closed by reset" if service.close == "reset" and service.l4 == "tcp" else ""
    return (
        f"{service.l4.upper()} {service.port}: {service.transactions} transaction{several} of "
        f"{service.request_bytes} and {service.answer_bytes} B{think}{close}"
    )


def _nothing(trial: ConnectionTrial) -> str:
    """Of how many, and where they ended."""
    clients = trial.clients
    ends = {name.replace("_", " "): count for name, count in clients.failed.items()} | {"open": clients.open}
    ended = ", ".join(f"{count} {name}" for name, count in ends.items() if count)
    return (
        f"Nothing comes through: of {clients.opened} connections, {LOWEST:g} a second, none had an answer "
        f"({ended}); {trial.servers.opened} reached the servers. Packets dropped: "
        f"{where_dropped(trial.drops)}."
    )


def _why(results: Sequence[GoalResult], loads: Sequence[float]) -> str | None:
    """Of the first search without a load where there is one, else what the first one remarks."""
    said = [one.why for one in results if one.load_pps is None] or [results[0].why]
    missing = len(results) - len(loads)
    more = f" ({missing} of {len(results)} searches)" if missing and loads else ""
    return f"{said[0]}{more}" if said[0] else None


def _describe(found: ConnectionsFound, trial: ConnectionTrial) -> None:
    """What a trial at the load came to."""
    clients, servers = trial.clients, trial.servers
    seconds = trial.intended_duration_s
    if trial.transactions_s is not None:  # connections are opened before
        seconds = trial.transactions_s
    sent = clients.tx_packets + servers.tx_packets
    found.connections_per_s = clients.opened / seconds if trial.transactions_s is None else 0.0
    found.transactions_per_s = clients.transactions / seconds
    found.goodput_bps = (clients.payload_bytes + servers.payload_bytes) * BITS_PER_BYTE / seconds
    found.l2_bps = (clients.tx_bytes + clients.rx_bytes) * BITS_PER_BYTE / seconds
    found.open_most = trial.open_most
    found.connect, found.first_byte, found.transaction = trial.connect, trial.first_byte, trial.transaction
    found.retransmission_ratio = (clients.retransmissions + servers.retransmissions) / sent if sent else None
