# SPDX-License-Identifier: Apache-2.0
"""What the service level says of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from weir.lab.application import Application, CallLimits
from weir.results.calls import CallLoad
from weir.results.result import Verdict
from weir.results.verification import CaseResult, SuiteResult
from weir.verify.sip.capacity import faults

CALLS = "sip_calls"


def call_verdicts(suite: SuiteResult, limits: CallLimits, application: Application) -> Iterator[Verdict]:
    """At each rate of the case CALLS: not judged where it did not come to that. Of a suite that has no such
    case, or was skipped before any: none."""
    case = next((one for one in suite.cases if one.name == CALLS), None)
    if case is None or (case.outcome == "skipped" and not case.calls):
        return
    wanted = (
        _Limit("calls that failed", limits.failure_ratio, "share", _failed),
        _Limit("session request delay P95", limits.request_delay_p95_ms, "ms", _delay_ms),
    )
    for one in wanted:
        if one.limit is not None:
            yield from _each(one, one.limit, case, application)


class _Limit(NamedTuple):
    what: str
    limit: float | None
    unit: str
    of: Callable[[CallLoad], float | None]


def _failed(load: CallLoad) -> float | None:
    return (load.planned - load.successful) / load.planned


def _delay_ms(load: CallLoad) -> float | None:
    return load.request_delay.p95_ms if load.request_delay is not None else None


def _each(wanted: _Limit, limit: float, case: CaseResult, application: Application) -> Iterator[Verdict]:
    for load in case.calls:
        wrong = "; ".join(fault.sentence for fault in faults(load))
        found = wanted.of(load) if not wrong else None
        why = (wrong or "no call rang") if found is None else None
        yield _verdict(wanted, limit, _at(load.vcpus, load.rate_cps), found, why)
    # Loads come in this order.
    for vcpus, rate_cps in list(product(application.vcpus, application.call_rate_cps))[len(case.calls) :]:
        why = case.why or "no calls were offered"
        yield _verdict(wanted, limit, _at(vcpus, rate_cps), None, why)


def _at(vcpus: int, rate_cps: float) -> str:
    return f"{rate_cps:g} calls/s" + (f", {vcpus} vCPU" if vcpus else "")


def _verdict(wanted: _Limit, limit: float, at: str, found: float | None, why: str | None) -> Verdict:
    return Verdict(
        criterion=f"application: {wanted.what} at {at}",
        load=at,
        limit=limit,
        found=found,
        unit=wanted.unit,
        share=found / limit if found is not None and limit else None,
        met=found is not None and found <= limit,
        why=why,
    )
