# SPDX-License-Identifier: Apache-2.0
"""One trial: offer a load for a time, and account for every packet.

While a trial runs this process sleeps: weir-dp polls on the same cores.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from weir.base.error import ChainError
from weir.base.si import MS_PER_S, NS_PER_S, NS_PER_US, US_PER_S
from weir.lab.measure import TrialOptions
from weir.measure.absences import SLOWED_TIMES, host_us_until
from weir.measure.accounting import Balance, Seen, area_loads, balance, seen
from weir.measure.core_speed import core_speeds
from weir.measure.counting import ENOUGH_SHARE, Counting, Watched, counting
from weir.measure.delay_figures import gaps, in_us, ipdv, jitter, latency, pdv
from weir.measure.emptied import emptied, may_hold, with_later
from weir.measure.outside import NOTHING, Outside, Own, joined
from weir.measure.overload import backlog_packets
from weir.measure.tester import Answers, SutCounters, Taken, Tester, Traffic, arrival_clocks
from weir.measure.validity import Fault, FaultKind, faults
from weir.protocol.ledger import Ledger
from weir.protocol.traffic import DelayWanted, Shape
from weir.protocol.traffic_results import Slices, StallCount, TrafficResult
from weir.results.result import ArrivalClock, Stall, StreamCount, Trial
from weir.results.trial import Doubted, Purpose

# A switch may publish its counters a little late; a balance is read again this often before it is believed.
SETTLE_READS = 3
SETTLE_S = 0.02

# A tester that sent so many too few, though nobody took its cores away, is too slow for that load.
OUTRUN_RATIO = 0.1

SHARE_WEIGHT = 0.5
"""Of the last trial, in the share of the time that is expected to count."""
DISTURBED_TIMES = 2
"""Retries of a trial that others disturbed, for one of another that is invalid."""
SHARE_QUIET = 0.9
"""Where more counts, trials last as long as they were asked for."""

# Of the hundreds of trials of a search an explanation needs no ledger.
LEDGERED: frozenset[Purpose] = frozenset({"calibration", "curve", "confirm"})
LEDGERED_OF_LOADS: frozenset[Purpose] = LEDGERED | {"latency"}
"""Where loads are given, and no search shows what limits."""


# Those that ask when packets were lost: their runs are not divided, and all of them counts.
GAPPED: frozenset[Purpose] = frozenset({"burst", "recovery", "reset", "migration"})


DOUBTED: tuple[Doubted, ...] = get_args(Doubted)
UNBELIEVABLE: frozenset[FaultKind] = frozenset({"altered", *DOUBTED, "pacing", "host"})
"""Faults of a trial whose counts say nothing of the system under test."""


@dataclass(frozen=True)
class Outcome:
    """A trial, and its faults in a form that a search can act on."""

    trial: Trial
    faults: tuple[Fault, ...]

    def has(self, kind: FaultKind) -> bool:
        """Whether a fault of this kind makes the trial invalid."""
        return any(fault.kind == kind for fault in self.faults)

    def believable(self) -> bool:
        """Whether its counts say something of the system under test, if only that it is too slow."""
        return not any(fault.kind in UNBELIEVABLE for fault in self.faults)

    def doubtful(self) -> bool:
        """Whether it lost packets in a slower state of the machine: in a better one it might not have."""
        return self.trial.slower_times is not None and self.trial.counted_lost > 0

    def disturbed(self, wanted_s: float) -> bool:
        """Whether others had the cores for too much of it."""
        return self.trial.counted is not None and self.trial.counted.seconds < ENOUGH_SHARE * wanted_s

    def outrun(self) -> bool:
        """Whether the load was far too high for the tester, and not for a moment only."""
        return self.trial.counted_short > OUTRUN_RATIO * self.trial.counted_due and not self.has("host")


class PortGoneError(ChainError):
    """A port disappeared: the chain cannot be measured any more."""


def _stall(count: StallCount, slices: Slices | None, sending_s: float) -> Stall:
    sending_us = host_us_until(slices, count.core, sending_s * US_PER_S) if slices is not None else None
    return Stall.model_validate(count.model_dump() | {"host_sending_us": sending_us})


class TrialRunner:
    """Runs trials of one traffic on one built chain and hands each, valid or not, to `on_trial`."""

    def __init__(
        self,
        tester: Tester,
        counters: SutCounters,
        traffic: Traffic,
        *,
        options: TrialOptions,
        on_trial: Callable[[Trial], None],
        outside: Outside | None = None,
        sleep: Callable[[float], None] = time.sleep,
        watched: Watched | None = None,
        ledgered: frozenset[Purpose] = LEDGERED,
    ) -> None:
        self.traffic = traffic
        self._tester = tester
        self._counters = counters
        self._options = options
        self._on_trial = on_trial
        self._outside = outside or NOTHING
        self._sleep = sleep
        self._watched = watched or Watched()
        self._ledgered = ledgered
        self._answers = Answers(tester, traffic)
        self._share = 1.0  # of their time that counted in the last trials
        self._ledger = Ledger(tsc=0, tsc_hz=1)  # the last one read

    def learn(self, load_pps: float) -> None:
        """Sends each flow that answers need to be known of, if it is time: what the next trial at that load
        would do, and what of it is lost is in no trial. 0: as fast as the tester can."""
        self._answers.learn(load_pps or math.inf)

    def run(
        self,
        purpose: Purpose,
        load_pps: float,
        duration_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> Outcome:
        """One trial at `load_pps` in all directions together; 0: as fast as the tester can.

        On a disturbed machine it lasts longer, so that about `duration_s` of it count. PortGoneError after
        the trial has been handed on, when a port disappeared during it.
        """
        streams = self.traffic.streams
        if purpose in GAPPED:
            shape = shape or Shape()
        ledgered = purpose in self._ledgered
        if delay is None or not delay.first_packets:  # which nothing may come before
            self.learn(load_pps)
        before = self._seen()
        began = self._ledger
        if ledgered:
            self._outside.begin()
        asked_s = duration_s if shape is not None or delay is not None else self._stretched(duration_s)
        self._watched.interfaces.begin()
        self._watched.cores.begin()
        result = self._tester.run(
            self.traffic.rates_pps(load_pps),
            asked_s,
            self._options.drain_ms / MS_PER_S,
            delay,
            shape,
        )
        taken = self._watched.cores.end()
        self._answers.sent(result)
        areas, cores = self._outside.end(began.tsc_hz) if ledgered else ([], [])
        was_empty = self._tester.is_empty
        counts, result, is_empty = self._settled(before, result)
        self._tester.is_empty = is_empty
        counted = self._counting(result, taken, duration_s, shape)
        if counted is not None:
            share = min(1.0, counted.record.seconds / asked_s)
            # Too little once is answered at once: the next trial has its time.
            late = counted.record.seconds < ENOUGH_SHARE * duration_s
            self._share += (share - self._share) * (1 if late else SHARE_WEIGHT)
        reset = shape is not None and shape.meanwhile is not None
        found = faults(
            counts,
            result,
            streams,
            asked_s,
            counted=counted,
            wanted_s=duration_s,
            asked=self.traffic.asked_by_gaps(load_pps, asked_s) if shape is None else None,
            gone_ports=[port.name for port in self._ledger.ports if port.gone],
            was_empty=was_empty,
            is_empty=is_empty,
            altered=[] if reset else self._watched.interfaces.altered(),
            as_fast_as_possible=load_pps == 0,
            reset=reset,
        )
        trial = self._trial(
            purpose, load_pps, asked_s, counts=counts, result=result, counted=counted, found=found
        )
        trial.core_speeds = core_speeds(began, self._ledger)
        if ledgered:
            own = Own(area_loads(began, self._ledger), self._ledger.tsc - began.tsc, began.tsc_hz)
            trial.areas, trial.cores = joined(own, areas, cores, counts.drops)
        if delay is not None:
            for stream in trial.streams:
                stream.histogram = in_us(self._tester.delays(stream.stream))
        self._on_trial(trial)
        gone = [fault for fault in found if fault.kind == "gone"]
        if gone:
            raise PortGoneError(gone[0].sentence)
        return Outcome(trial, tuple(found))

    def valid(
        self,
        purpose: Purpose,
        load_pps: float,
        duration_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> Outcome:
        """A trial repeated while it is invalid, `retries` times at most; the last outcome, valid or not.

        So is one that lost packets in a slower state of the machine, while a better one still comes. Once is
        enough where the tester was far too slow, or a capture's gaps make another load: it
        will be so the next time, too. What was disturbed, since others had the cores, is repeated more often:
        it says nothing of the system under test.
        """
        outcome = self.run(purpose, load_pps, duration_s, delay, shape)
        for repeats in range(self._options.retries * DISTURBED_TIMES):
            if repeats >= self._options.retries and not outcome.disturbed(duration_s):
                break
            again = outcome.doubtful() and self._watched.state.comes(SLOWED_TIMES)
            if (outcome.trial.valid and not again) or (repeats and outcome.outrun()) or outcome.has("pacing"):
                break
            outcome = self.run(purpose, load_pps, duration_s, delay, shape)
        return outcome

    def clocks(self) -> list[ArrivalClock]:
        """What timed arrivals in the last trial, for each direction."""
        return arrival_clocks(self._ledger, self.traffic.streams)

    def _stretched(self, duration_s: float) -> float:
        """So long that `duration_s` of it will count, if it goes on as it went."""
        if self._share >= SHARE_QUIET:
            return duration_s
        return duration_s * min(self._options.stretch_max, 1 / max(self._share, 0.01))

    def _counting(
        self, result: TrafficResult, taken: Sequence[Taken], wanted_s: float, shape: Shape | None
    ) -> Counting | None:
        """None where the run was not divided, or is no load of one rate for one time."""
        if result.slices is None or shape is not None:
            return None
        return counting(
            result.slices,
            taken,
            self._watched.state,
            least_growth_ms=self._options.backlog_ms,
            wanted_s=wanted_s,
        )

    def _seen(self) -> Seen:
        self._ledger = self._tester.ledger()
        return seen(self._ledger, self._counters())

    def _settled(self, before: Seen, result: TrafficResult) -> tuple[Balance, TrafficResult, bool]:
        """The account; the result, with what came later; and whether the account is closed: nothing of the
        trial, nor of an earlier one, comes any more."""
        counts = balance(before, self._seen(), result, self.traffic.streams)
        for _ in range(SETTLE_READS - 1):
            if counts.unaccounted <= 0:
                break
            self._sleep(SETTLE_S)
            counts = balance(before, self._seen(), result, self.traffic.streams)
        if not may_hold(counts):
            return counts, result, True
        found, is_empty = emptied(self._tester, self._sleep, self._options.drain_ms / MS_PER_S)
        counts = balance(before, self._seen(), found, self.traffic.streams)
        return counts, with_later(result, found), is_empty

    def _trial(
        self,
        purpose: Purpose,
        load_pps: float,
        duration_s: float,
        *,
        counts: Balance,
        result: TrafficResult,
        counted: Counting | None,
        found: list[Fault],
    ) -> Trial:
        took_s = result.tx_duration_ns / NS_PER_S
        stalls = [_stall(stall, result.slices, took_s) for stall in result.stalls if stall.count]
        direction = {stream.id: stream.direction for stream in self.traffic.streams}
        judged = counted.streams if counted is not None else {}
        return Trial(
            purpose=purpose,
            intended_load_pps=load_pps or (counts.offered / took_s if took_s else 0.0),
            intended_duration_s=duration_s,
            duration_s=took_s,
            intended=counts.intended,
            offered=counts.offered,
            delivered=counts.delivered,
            loss_ratio=counts.loss_ratio,
            drops=list(counts.drops),
            unaccounted=counts.unaccounted,
            originated=list(counts.originated),
            originated_arrived=counts.originated_arrived,
            backlog=counted.record.backlog
            if counted is not None
            else backlog_packets(result, duration_s, self._options.backlog_ms),
            duplicates=sum(stream.duplicates for stream in result.streams),
            reordered=sum(stream.reordered for stream in result.streams),
            stalls=stalls,
            valid=not found,
            invalid_because=[fault.sentence for fault in found],
            doubted=[kind for kind in DOUBTED if any(fault.kind == kind for fault in found)],
            slower_times=counted.slower_times if counted is not None else None,
            counted=counted.record if counted is not None else None,
            left_out=list(counted.left_out) if counted is not None else [],
            slices=counted.slices if counted is not None else None,
            distances_cycles=dict(counted.distances_cycles) if counted is not None else {},
            streams=[
                StreamCount(
                    stream=stream.id,
                    direction=direction[stream.id],
                    intended=stream.intended,
                    offered=stream.offered,
                    offered_bytes=stream.offered_bytes,
                    delivered=stream.delivered,
                    counted_offered=judged[stream.id][0] if stream.id in judged else None,
                    counted_lost=judged[stream.id][1] if stream.id in judged else None,
                    duplicates=stream.duplicates,
                    reordered=stream.reordered,
                    too_late=stream.too_late,
                    from_earlier=stream.late_from_earlier_run,
                    negative=stream.negative,
                    latency=latency(stream.latency),
                    lateness=latency(stream.lateness),
                    pdv=pdv(stream.latency) if stream.ipdv is not None else None,
                    ipdv=ipdv(stream.ipdv),
                    jitter=jitter(stream.jitter),
                    tagged_us=None if stream.tagged_ns is None else stream.tagged_ns / NS_PER_US,
                    gaps=gaps(stream.gaps) if purpose in GAPPED else None,
                )
                for stream in result.streams
            ],
        )
