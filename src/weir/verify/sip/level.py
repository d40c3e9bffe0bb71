# SPDX-License-Identifier: Apache-2.0
"""What the service level says of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from weir.lab.application import CallLimits
from weir.results.calls import CallLoad
from weir.results.result import Verdict
from weir.results.verification import CaseResult, SuiteResult
from weir.verify.sip.capacity import faults

CALLS = "sip_calls"


def call_verdicts(suite: SuiteResult, limits: CallLimits) -> Iterator[Verdict]:
    """Of each load of the case CALLS; of a suite that has no such case, or offered none in it: none."""
    case = next((one for one in suite.cases if one.name == CALLS), None)
    if case is None or (case.outcome == "skipped" and not case.calls):
        return
    wanted = (
        _Limit("calls that failed", limits.failure_ratio, "share", _failed),
        _Limit("session request delay P95", limits.request_delay_p95_ms, "ms", _delay_ms),
    )
    for one in wanted:
        if one.limit is not None:
            yield from _each(one, one.limit, case)


class _Limit(NamedTuple):
    what: str
    limit: float | None
    unit: str
    of: Callable[[CallLoad], float | None]


def _failed(load: CallLoad) -> float | None:
    return (load.planned - load.successful) / load.planned


def _delay_ms(load: CallLoad) -> float | None:
    return load.request_delay.p95_ms if load.request_delay is not None else None


def _each(wanted: _Limit, limit: float, case: CaseResult) -> Iterator[Verdict]:
    if not case.calls:
        yield _verdict(wanted, limit, None, None, case.why or "no calls were offered")
    for load in case.calls:
        wrong = "; ".join(fault.sentence for fault in faults(load))
        found = wanted.of(load) if not wrong else None
        why = (wrong or "no call rang") if found is None else None
        yield _verdict(wanted, limit, load, found, why)


def _verdict(
    wanted: _Limit, limit: float, load: CallLoad | None, found: float | None, why: str | None
) -> Verdict:
    at = f"{load.rate_cps:g} calls/s" if load is not None else None
    if at is not None and load is not None and load.vcpus:
        at += f", {load.vcpus} vCPU"
    return Verdict(
        criterion=f"application: {wanted.what}{f' at {at}' if at else ''}",
        load=at,
        limit=limit,
        found=found,
        unit=wanted.unit,
        share=found / limit if found is not None and limit else None,
        met=found is not None and found <= limit,
        why=why,
    )
