# SPDX-License-Identifier: Apache-2.0
"""weir-dp as the tester that measuring asks for."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping

from weir.base.si import NS_PER_S
from weir.protocol.client import DataPlaneClient
from weir.protocol.errors import DataPlaneTimeoutError
from weir.protocol.ledger import Ledger
from weir.protocol.traffic import DelayWanted, RateChange, Shape, TrafficConfigure
from weir.protocol.traffic_results import DelayHistogram, Learned, TrafficResult

WAIT_MS = 100
LOOK_MS = 10  # how often weir-dp is asked after its ports: a vhost-user server finds its client by that
SLICE_NS = 1_000_000
SLICE_LONGEST_NS = 5_000_000
SLICES_MAX = 16_384
OTHERS_MAX = 16
LEARN_PPS, LEARN_S, LEARN_TRIES = 10_000.0, 2.0, 3
"""Flows are learned at that rate, or faster so that it takes no longer; each further try is half as fast."""
LEARN_LONGEST_S, LEARN_LONG_TRIES = 4.0, 2
"""Where no more than some load is to be sent they are learned at that, or so that a try takes no longer: the
first mapping stands for as long again as `measure.tester.MAPPED_S` then."""
LEARN_LATE_S, LEARN_DRAIN_S = 0.5, 0.05
LATE_S = 10.0  # how long after its planned end a run may still be under way


class DataPlaneTester:
    """Runs trials through a configured and started weir-dp."""

    def __init__(
        self, client: DataPlaneClient, switch_cpus: Collection[int] = (), *, shares_cores: bool = False
    ) -> None:
        """`switch_cpus`: those of a switch and of functions outside weir-dp, whose pace and distance from
        ours are measured before each run; of `OTHERS_MAX` of them.
        `shares_cores`: whether what is measured works on the tester's, too."""
        self._client = client
        self._switch_cpus = sorted(switch_cpus)[:OTHERS_MAX]
        self.shares_cores = shares_cores
        self._stamped = True
        self._run = 0
        """The last one that ended."""

    @property
    def is_empty(self) -> bool:
        """As whoever measured through this weir-dp last found."""
        return self._client.is_empty

    @is_empty.setter
    def is_empty(self, found: bool) -> None:
        self._client.is_empty = found

    def configure_traffic(self, config: TrafficConfigure) -> None:
        """Sets the streams of the trials that follow."""
        self._client.configure_traffic(config)
        self._stamped = all(one.capture is None or one.capture.stamp for one in config.streams)

    def announce(self, count: int) -> None:
        """Each port sends `count` frames from its own address."""
        self._client.announce(count)

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned | None:
        """Sends each flow that a stream of `config`, which is set, answers, and so learns where answers go.

        None: no stream answers another one. Again where flows did not arrive. `most_pps`: of all streams
        together, which the system under test may be too slow for more of.
        """
        answered = {stream.answers for stream in config.streams} - {None}
        if not answered:
            return None
        flows = max(stream.flows.count if stream.flows else 1 for stream in config.streams)
        rate_pps, tries, slower = max(LEARN_PPS, flows / LEARN_S), LEARN_TRIES, 2
        if most_pps / len(answered) < rate_pps:
            rate_pps = min(rate_pps, max(most_pps / len(answered), flows / LEARN_LONGEST_S))
            tries, slower = LEARN_LONG_TRIES, 1
        for attempt in range(1, tries + 1):
            learned = self._learned(config, rate_pps, flows / rate_pps + LEARN_LATE_S)
            if learned.arrived == learned.flows or attempt == tries:
                break
            rate_pps /= slower
        return learned

    def _learned(self, config: TrafficConfigure, rate_pps: float, limit_s: float) -> Learned:
        """Of all streams together."""
        run = self._client.start_traffic(
            {stream.id: rate_pps for stream in config.streams},
            round(limit_s * NS_PER_S),
            round(LEARN_DRAIN_S * NS_PER_S),
            learn=True,
        )
        result = self._ended(run, time.monotonic() + limit_s + LEARN_DRAIN_S)
        found = [stream.learned for stream in result.streams if stream.learned is not None]
        return Learned(
            flows=sum(one.flows for one in found),
            arrived=sum(one.arrived for one in found),
            translated=sum(one.translated for one in found),
        )

    def ledger(self) -> Ledger:
        """Everything counted since `configure`."""
        return self._client.ledger()

    def delays(self, stream: int) -> DelayHistogram:
        """One stream's latencies in the last run."""
        return self._client.delays(stream)

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        """One run of traffic. Asleep on the socket meanwhile: weir-dp polls on the same cores.

        DataPlaneTimeoutError when the run does not end `LATE_S` after it should have.
        """
        duration_ns = round(duration_s * NS_PER_S)
        # Of frames without a stamp nobody knows when they were sent.
        slice_ns = _slice_ns(duration_ns) if shape is None and self._stamped else None
        # Not where delays are asked for: what the tester held back belongs to them.
        skip = slice_ns is not None and delay is None
        shape = shape or Shape()
        run = self._client.start_traffic(
            rates_pps,
            duration_ns,
            round(drain_s * NS_PER_S),
            delay,
            packets=shape.packets,
            then=changes(shape),
            slice_ns=slice_ns,
            skip=skip,
            switch_cpus=self._switch_cpus,
        )
        ends = time.monotonic() + duration_s + drain_s
        wait_ms = WAIT_MS
        if shape.meanwhile is not None:
            self._client.wait(shape.meanwhile_after_s)
            shape.meanwhile()
            wait_ms = LOOK_MS
        elif shape.packets is None:
            self._client.wait(duration_s)
        return self._ended(run, ends, wait_ms)

    def again(self) -> TrafficResult:
        """The last run's result, with what has come too late since."""
        return self._ended(self._run, time.monotonic())

    def _ended(self, run: int, ends: float, wait_ms: int = WAIT_MS) -> TrafficResult:
        """Its result. `ends`: when it should have ended, on the monotonic clock."""
        while time.monotonic() < ends + LATE_S:
            result = self._client.traffic_result(wait_ms)
            if result is not None and result.run == run:
                self._run = run
                return result
        raise DataPlaneTimeoutError(
            "timeout", f"run {run} did not end {LATE_S:.0f} s late", fix=self._client.log_hint
        )


def _slice_ns(duration_ns: int) -> int | None:
    """None of a run whose slices would be so long that short absences left all of it out."""
    slice_ns = max(SLICE_NS, -(-duration_ns // SLICES_MAX))
    return slice_ns if slice_ns <= SLICE_LONGEST_NS else None


def changes(shape: Shape) -> tuple[RateChange, ...]:
    """Of its rate, in time."""
    return tuple(
        RateChange(after_ns=round(after_s * NS_PER_S), factor=factor) for after_s, factor in shape.then
    )
