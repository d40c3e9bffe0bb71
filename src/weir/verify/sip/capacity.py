# SPDX-License-Identifier: Apache-2.0
"""The highest rate at which enough calls succeed, by the search that packets have, too (MLRsearch)."""

from __future__ import annotations

from collections.abc import Callable

from weir.base.packet_rate import of_load
from weir.lab.application import Application
from weir.lab.measure import Goal, Measure, TrialOptions
from weir.measure.search import GoalResult, search
from weir.measure.trial import Outcome
from weir.measure.validity import Fault
from weir.results.calls import CallCapacity, CallLoad
from weir.results.trial import Purpose, Trial
from weir.verify.case import Running
from weir.verify.sip import scenarios
from weir.verify.sip.load import Loads

LOWEST_SHARE = 0.05
"""Of the highest rate: the lowest one tried."""
RELATIVE_WIDTH = 0.1
"""How close the bounds must be."""
_INITIAL_SHARE = 0.4
"""Of the trials that decide, those last that look for the region."""
_SHORT_RATIO = 0.05
"""Of its rate: a caller that keeps less is too slow."""
_RETRIES = 1
_SPARE_S = 30.0
"""Of the case's time: for the last trial, and what it leaves to drain."""


class CallRunner:
    """Trials of calls; each load is handed to `on_load`."""

    def __init__(self, loads: Loads, on_load: Callable[[CallLoad], None]) -> None:
        self._loads = loads
        self._on_load = on_load

    def valid(self, purpose: Purpose, load: float, duration_s: float, /) -> Outcome:
        """Calls in place of packets: one that fails is lost. Once more where counts do not agree."""
        for _ in range(_RETRIES + 1):
            found = self._loads.run("search", load, duration_s)
            self._on_load(found)
            outcome = Outcome(as_trial(purpose, found), tuple(faults(found)))
            if outcome.trial.valid or outcome.has("tester"):
                break
        return outcome


def faults(found: CallLoad) -> list[Fault]:
    """Why a load says nothing of the functions."""
    said = [Fault("accounting", sentence) for sentence in found.disagreements]
    if found.offered_cps < (1 - _SHORT_RATIO) * found.rate_cps:
        said.append(
            Fault(
                "tester",
                f"the caller kept at most {of_load(found.offered_cps)} of {of_load(found.rate_cps)} calls/s: "
                "SIPp is too slow",
            )
        )
    return said


def as_trial(purpose: Purpose, found: CallLoad) -> Trial:
    """As a search knows it."""
    said = [fault.sentence for fault in faults(found)]
    return Trial(
        purpose=purpose,
        intended_load_pps=found.rate_cps,
        intended_duration_s=found.planned / found.rate_cps,
        duration_s=found.seconds,
        intended=found.planned,
        offered=found.created,
        delivered=found.successful,
        loss_ratio=1 - found.successful / found.created if found.created else 1.0,
        valid=not said,
        invalid_because=said,
    )


def searched(run: Running, loads: Loads) -> CallCapacity:
    """Within the time of the file, and of the case."""
    application = run.application
    began_s = run.took_s()
    tried: list[CallLoad] = []

    def keep(found: CallLoad) -> None:
        tried.append(found)
        run.calls.append(found)

    deadline = min(
        began_s + application.search_s, began_s + run.left_s() - _SPARE_S - scenarios.call_s(application)
    )
    highest = application.highest_rate_cps
    (found,) = search(
        CallRunner(loads, keep),
        wanted(application),
        (LOWEST_SHARE * highest, highest),
        clock=run.took_s,
        deadline=deadline,
        unit="calls/s",
    )
    return capacity_of(found, application, len(tried), run.took_s() - began_s)


def wanted(application: Application) -> Measure:
    """As a search of packets has it."""
    trial_s = application.trial_s
    return Measure(
        goals=(Goal.of_successes("calls", application.success_ratio),),
        relative_width=RELATIVE_WIDTH,
        trial=TrialOptions(
            duration_s=trial_s, initial_duration_s=_INITIAL_SHARE * trial_s, duration_sum_s=trial_s
        ),
    )


def capacity_of(found: GoalResult, application: Application, trials: int, seconds: float) -> CallCapacity:
    """What a search found, with what its limit was."""
    return CallCapacity(
        success_ratio=application.success_ratio,
        rate_cps=found.lower_pps if found.load_pps is not None else None,
        upper_cps=found.upper_pps,
        tester_limited=found.tester_limited,
        unmeasured=found.unmeasured,
        out_of_time=found.out_of_time,
        why=found.why,
        trials=trials,
        seconds=round(seconds, 1),
    )
