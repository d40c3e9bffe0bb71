# SPDX-License-Identifier: Apache-2.0
"""One trial of connections: a load for a time, every connection accounted for; and as a search asks it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from weir.base.si import NS_PER_S
from weir.lab.connections import ConnectionGoal, Connections
from weir.measure.accounting import RECEIVER_REASONS, Counts, area_loads, counted
from weir.measure.delay_figures import latency
from weir.measure.outside import NOTHING, Outside, Own, joined
from weir.measure.tester import CoreWatch, SutCounters, Taken
from weir.measure.trial import Outcome, PortGoneError
from weir.measure.validity import Fault
from weir.protocol.client import DataPlaneClient
from weir.protocol.connections import ConnectionsResult, ConnectionsStart, ConnectionsWait, SideResult
from weir.protocol.errors import DataPlaneTimeoutError
from weir.protocol.ledger import Ledger
from weir.results.connections import ConnectionLedger, ConnectionTrial
from weir.results.trial import Drop, Purpose, Trial

WAIT_MS = 100
LATE_S = 10.0
"""How long after its planned end a run may still be under way."""
SHORT_RATIO = 0.001
"""Of the connections: with more than that opened too late the tester is too slow."""
TAKEN_SHARE = 0.02
"""Of a trial's time: with others on a core for longer, its connections say nothing of the chain."""
EXPLAINED_TIMES = 10
"""Unless they failed by far: in a tenth of the time, others do not make all of them fail."""
RAMP_SHARE = 0.5
"""Of a trial of concurrent connections, in which they are opened."""
HELD_RAMP_S = 0.25
"""In which those that stay open for transactions are opened, before the time of the trial; as long again is
for their handshakes."""
HOLDING: frozenset[ConnectionGoal] = frozenset({"concurrent-connections", "transactions", "throughput"})
PACED: frozenset[ConnectionGoal] = frozenset({"transactions", "throughput"})
"""Goals whose transactions have a rate."""


class ConnectionRunner:
    """Trials of one goal on one built chain; each is handed to `on_trial`, valid or not."""

    def __init__(
        self,
        client: DataPlaneClient,
        counters: SutCounters,
        options: Connections,
        goal: ConnectionGoal,
        *,
        poisson: bool,
        retries: int,
        cores: CoreWatch,
        on_trial: Callable[[ConnectionTrial], None],
        outside: Outside = NOTHING,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        """`forget`: ends what functions remember of the trials before."""
        self._client = client
        self._counters = counters
        self._options = options
        self._goal = goal
        self._poisson = poisson
        self._retries = retries
        self._cores = cores
        self._on_trial = on_trial
        self._outside = outside
        self._forget = forget
        self._ledger = Ledger(tsc=0, tsc_hz=1)  # the last one read

    def valid(self, purpose: Purpose, load: float, duration_s: float) -> Outcome:
        """A trial repeated while it is invalid, as often as the lab says; connections in place of packets.

        Once is enough where the tester was too slow.
        """
        for _ in range(self._retries + 1):
            outcome = self.run(purpose, load, duration_s)
            if outcome.trial.valid or outcome.has("tester"):
                break
        return outcome

    def run(self, purpose: Purpose, load: float, duration_s: float) -> Outcome:
        """One trial. PortGoneError after it was handed on, when a port disappeared during it."""
        self._forget()
        before, began = self._counted(), self._ledger
        self._outside.begin()
        self._cores.begin()
        watched_at = time.monotonic()
        result = self._made(load, duration_s)
        watched_s = max(duration_s, time.monotonic() - watched_at)
        taken = self._cores.end()
        areas, cores = self._outside.end(began.tsc_hz)
        after = self._counted()
        drops = _drops(before, after)
        ended = self._ledger
        own = Own(area_loads(began, ended), ended.tsc - began.tsc, began.tsc_hz)
        found = self._faults(result, drops, taken, watched_s)
        trial = ConnectionTrial(
            goal=self._goal,
            load=load,
            intended_duration_s=duration_s,
            duration_s=result.duration_ns / NS_PER_S,
            intended=result.intended,
            **_paced(result, duration_s if self._goal in PACED else None),
            open_most=result.open_most,
            clients=_ledger(result.clients),
            servers=_ledger(result.servers),
            connect=latency(result.connect),
            first_byte=latency(result.first_byte),
            transaction=latency(result.transaction),
            drops=drops,
            areas=joined(own, areas, cores, drops)[0],
            valid=not found,
            invalid_because=[fault.sentence for fault in found],
        )
        self._on_trial(trial)
        gone = [fault for fault in found if fault.kind == "gone"]
        if gone:
            raise PortGoneError(gone[0].sentence)
        return Outcome(as_searched(purpose, trial), tuple(found))

    def _made(self, load: float, duration_s: float) -> ConnectionsResult:
        """Asleep meanwhile: weir-dp polls on the same cores."""
        drain_s = self._options.drain_s
        run = self._start(load, duration_s)
        duration_s = run.duration_ns / NS_PER_S
        self._client.call("connections.start", run.arguments())
        ends = time.monotonic() + duration_s + drain_s
        self._client.wait(duration_s)
        while time.monotonic() < ends + LATE_S:
            wait = ConnectionsWait(wait_ms=WAIT_MS)
            result = self._client.ask("connections.result", ConnectionsResult, wait)
            if result.state != "running":
                return result
        raise DataPlaneTimeoutError(
            "timeout", f"connections did not end {LATE_S:.0f} s late", fix=self._client.log_hint
        )

    def _start(self, load: float, duration_s: float) -> ConnectionsStart:
        """What weir-dp is asked for."""
        paced, ramp_s, rate, number = self._goal in PACED, 0.0, load, 0
        if paced:
            number, ramp_s = min(self._options.held, self._options.sources), 2 * HELD_RAMP_S
            rate = number / HELD_RAMP_S
        elif self._goal in HOLDING:
            number = max(1, round(load))
            rate = number / (RAMP_SHARE * duration_s)
        return ConnectionsStart(
            rate=rate,
            arrivals="poisson" if self._poisson else "constant",
            duration_ns=round((ramp_s + duration_s) * NS_PER_S),
            connections=number or None,
            hold=self._goal in HOLDING,
            transaction_rate=self.transactions_of(load) if paced else 0,
            transactions_after_ns=round(ramp_s * NS_PER_S),
            drain_ns=round(self._options.drain_s * NS_PER_S),
        )

    def transactions_of(self, load: float) -> float:
        """So many a second are that load of a paced goal."""
        return load / self._options.transaction_bits if self._goal == "throughput" else load

    def _counted(self) -> Counts:
        self._ledger = self._client.ledger()
        return counted(self._ledger, self._counters())

    def _faults(
        self,
        result: ConnectionsResult,
        drops: Sequence[Drop],
        taken: Sequence[Taken],
        watched_s: float,
    ) -> list[Fault]:
        """`taken` in so much time: that of the trial and of its drain."""
        clients = result.clients
        found = [Fault("gone", f"Nothing is behind port {port} any more.") for port in result.gone_ports]
        for name, side in (("clients", result.clients), ("servers", result.servers)):
            if not _ledger(side).balanced:
                found.append(Fault("accounting", f"The {name}' connections do not add up: {side}."))
        short, asked, what = result.intended - clients.opened, result.intended, "connections"
        if self._goal in PACED and short <= SHORT_RATIO * asked:
            short, asked, what = _late(result), result.transactions_intended, "transactions"
        away_s, taker = _away(taken)
        failed_ratio = _failed_ratio(result)
        by_far = failed_ratio > EXPLAINED_TIMES * away_s / watched_s and short <= SHORT_RATIO * asked
        by_far = by_far or _no_room_for(result, drops)
        if (failed_ratio > 0 or short > 0) and away_s > TAKEN_SHARE * watched_s and not by_far:
            said = f"Others had a core for {away_s * 1e3:.0f} ms of it, most of them {taker}."
            found.append(Fault("host", said))
        elif short > SHORT_RATIO * asked:
            found.append(
                Fault(
                    "tester",
                    f"The tester opened {short} of {asked} {what} too late to count: lower "
                    "the load, or give it cores of its own.",
                )
            )
        if clients.failed.out_of_ports and clients.completed + clients.failed.out_of_ports == clients.opened:
            found.append(
                Fault(
                    "tester",
                    f"{clients.failed.out_of_ports} connections had no free port, and all others were "
                    "completed: more traffic.connections.clients, or less time to think.",
                )
            )
        missed = sum(
            one.packets for one in drops if one.place.startswith("tester.") and one.reason in RECEIVER_REASONS
        )
        if missed > 0:
            found.append(Fault("tester", f"The tester's ports lost {missed} packets before they were read."))
        return found


def _away(taken: Sequence[Taken]) -> tuple[float, str]:
    """Seconds that others had the core for that they had longest, and who had it for most of them."""
    by_core: dict[int, Counter[str]] = {}
    for one in taken:
        if not one.takes_part:
            by_core.setdefault(one.core, Counter())[one.by] += one.to_raw_ns - one.from_raw_ns
    worst = max(by_core.values(), key=Counter.total, default=Counter())
    return worst.total() / NS_PER_S, next((by for by, _ in worst.most_common(1)), "nobody")


def _failed_ratio(result: ConnectionsResult) -> float:
    """Of the connections opened, or of the transactions due: what is larger."""
    opened, due = result.clients.opened, result.transactions_intended
    unfinished = (opened - result.clients.completed) / opened if opened else 0.0
    return max(unfinished, result.transactions_missed / due if due else 0.0)


def _no_room_for(result: ConnectionsResult, drops: Sequence[Drop]) -> bool:
    """Whether a table that was full explains each connection that was not completed."""
    clients = result.clients
    refused = sum(drop.packets for drop in drops if drop.table_full)
    unfinished = clients.opened - clients.completed
    return result.transactions_intended == 0 and 0 < unfinished <= refused


def _late(result: ConnectionsResult) -> int:
    """Transactions that the tester did not begin in time, though a connection may have been idle."""
    return result.transactions_intended - result.transactions_begun - result.transactions_missed


def _paced(result: ConnectionsResult, seconds: float | None) -> dict[str, Any]:
    """Of a trial whose transactions had a rate for so long; nothing of others."""
    if seconds is None:
        return {}
    return {
        "transactions_s": seconds,
        "transactions_intended": result.transactions_intended,
        "transactions_missed": result.transactions_missed,
        "transactions_late": _late(result),
    }


def _ledger(side: SideResult) -> ConnectionLedger:
    said = side.model_dump(exclude={"no_room"})
    return ConnectionLedger.model_validate(said)


def _drops(before: Counts, after: Counts) -> list[Drop]:
    lost = {key: value - before.get(key, 0) for key, value in after.items()}
    return [
        Drop(place=place, reason=reason, packets=packets)
        for (place, reason), packets in sorted(lost.items())
        if packets > 0
    ]


def as_searched(purpose: Purpose, trial: ConnectionTrial) -> Trial:
    """Connections, or paced transactions, in place of packets, as searches and progress have them: what was
    not completed is lost."""
    intended, opened, completed = trial.intended, trial.clients.opened, trial.clients.completed
    if trial.transactions_intended is not None:
        intended, completed = trial.transactions_intended, trial.clients.transactions
        opened = intended - (trial.transactions_late or 0)
    return Trial(
        purpose=purpose,
        intended_load_pps=trial.load,
        intended_duration_s=trial.intended_duration_s,
        duration_s=trial.duration_s,
        intended=intended,
        offered=opened,
        delivered=completed,
        loss_ratio=1 - completed / opened if opened else 0.0,
        valid=trial.valid,
        invalid_because=trial.invalid_because,
    )
