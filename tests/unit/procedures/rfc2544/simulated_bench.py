# SPDX-License-Identifier: Apache-2.0
"""The procedures on a simulated device whose answers are known."""

from __future__ import annotations

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.measure import Measure, TrialOptions
from weir.lab.rfc2544 import Rfc2544Options
from weir.measure.one_case import Event, OnChain, Time
from weir.measure.tester import no_counters
from weir.procedures.rfc2544.measure import measure_rfc2544
from weir.results.result import Case, Ceiling
from weir.results.rfc2544 import Rfc2544

# All frames up to 1 Mpps pass; of what comes above, 4,000 wait and the rest is lost.
SHARP = Response(capacity_pps=1e6, saturation_pps=1e6, buffer_packets=4000)
TESTER_PPS = 2e6


class Switch:
    """Something that counts how often it is reset."""

    what, clause = "the switch, by hand", "RFC 6201, 4.2.2"

    def __init__(self) -> None:
        self.times = 0

    def do(self) -> None:
        """Once more."""
        self.times += 1


def measured(
    options: Rfc2544Options,
    dut: SimulatedDut,
    events: list[Event] | None = None,
    *resets: Switch,
    max_load_pps: float | None = None,
    ceiling_pps: float | None = TESTER_PPS,
) -> Case:
    measure = Measure(rfc2544=options, trial=TrialOptions(), max_load_pps=max_load_pps)
    ceilings = {}
    if ceiling_pps is not None:
        ceilings["64"] = Ceiling(
            max_pps=ceiling_pps, latency_floor_us=1.0, timestamp_resolution_ns=1.0, limited_by="sending"
        )
    seen = [] if events is None else events
    (case,) = measure_rfc2544(
        measure,
        [simulated_traffic()],
        OnChain(
            dut,
            no_counters,
            seen.append,
            ceilings,
            timing=Time(dut.clock, dut.sleep),
            resets=resets,
        ),
    )
    return case


def report_of(case: Case) -> Rfc2544:
    assert case.rfc2544 is not None
    return case.rfc2544


def sharp() -> SimulatedDut:
    return SimulatedDut(SHARP, tester_max_pps=TESTER_PPS)
