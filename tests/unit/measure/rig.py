# SPDX-License-Identifier: Apache-2.0
"""A simulated device set up for a test, and what one gets from measuring it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.measure import CurveOptions, Measure, TrialOptions
from weir.measure.counting import Watched
from weir.measure.experiment import measure_setup
from weir.measure.one_case import OnChain, Time
from weir.measure.outside import Outside
from weir.measure.tester import SutCounters, no_counters
from weir.measure.trial import TrialRunner
from weir.results.result import Case, Ceiling, Throughput, Trial

CAPACITY_PPS = 2e6
STEADY = Response(capacity_pps=CAPACITY_PPS, saturation_pps=1.03 * CAPACITY_PPS)
MEASURE = Measure(repeats=1, confirm_trials=1, warm_up_s=0, curve=CurveOptions(points=0))


@dataclass(frozen=True)
class Port:
    """A counter of a switch, as fabric gives it."""

    place: str
    reason: str | None
    value: int
    kind: str = "drop"


@dataclass
class Rig:
    """A device, and the trials that it has seen."""

    dut: SimulatedDut
    measure: Measure = MEASURE
    counters: SutCounters = no_counters
    outside: Outside | None = None
    watched: Watched | None = None
    trials: list[Trial] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    def runner(self, **options: float) -> TrialRunner:
        """Runs single trials on the device."""
        return TrialRunner(
            self.dut,
            self.counters,
            simulated_traffic(),
            options=TrialOptions(**options),  # type: ignore[arg-type]
            on_trial=self.trials.append,
            outside=self.outside,
            sleep=self.dut.sleep,
            watched=self.watched,
        )

    def case(self, ceiling: Ceiling | None = None) -> Case:
        """The device measured at 64 B."""
        cases = measure_setup(
            self.measure,
            [simulated_traffic()],
            OnChain(
                self.dut,
                self.counters,
                lambda _event: None,
                {"64": ceiling} if ceiling else {},
                timing=Time(self.dut.clock, self.dut.sleep),
                failed=self.failures.append,
            ),
        )
        return next(cases)

    def throughputs(self, ceiling: Ceiling | None = None) -> Sequence[Throughput]:
        """What the goals of that case found: NDR, PDR."""
        return self.case(ceiling).throughput


def ceiling(max_pps: float) -> Ceiling:
    """A tester that can do so much."""
    return Ceiling(max_pps=max_pps, latency_floor_us=5, timestamp_resolution_ns=0.4, limited_by="sending")
