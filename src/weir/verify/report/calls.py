# SPDX-License-Identifier: Apache-2.0
"""Calls of a suite's cases, as rows and sentences."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.packet_rate import of_load
from weir.report import numbers
from weir.results.calls import CallCapacity, CallLoad
from weir.results.verification import SuiteResult

HEAD = (
    "case",
    "vCPU",
    "calls/s",
    "planned",
    "succeeded, %",
    "95 % interval",
    "SRD P50, ms",
    "P95, ms",
    "SER, %",
    "sent again",
)
TITLE = "Calls (RFC 6076: session request delay, SRD; session establishment ratio, SER)"
FATE_HEAD = ("case", "vCPU", "calls/s", "what became of them")
_CAUSES = 4
_DIGITS = 8
_NEARLY_ALL = "above 99.9"


def rows(suite: SuiteResult) -> list[list[str]]:
    """In the order of HEAD; none of a suite without calls."""
    return [_row(case.name, load) for case in suite.cases for load in case.calls]


def _row(case: str, load: CallLoad) -> list[str]:
    delay = load.request_delay
    return [
        case,
        str(load.vcpus or "all"),
        _rate(load),
        str(load.planned),
        _percent(load.success_ratio),
        f"{_percent(load.success_low)} to {_percent(load.success_high)}",
        f"{delay.p50_ms:.0f}" if delay is not None else "–",
        f"{delay.p95_ms:.0f}" if delay is not None else "–",
        _percent(load.session_establishment_ratio),
        str(load.retransmissions + load.callee_retransmissions),
    ]


def _rate(load: CallLoad) -> str:
    """With what the caller kept of it, where that is less."""
    kept = f", kept ≤ {load.offered_cps:.1f}" if load.offered_cps < load.rate_cps else ""
    return f"{load.rate_cps:g}{kept}"


def fates(suite: SuiteResult) -> list[list[str]]:
    """In the order of FATE_HEAD: of loads with calls that failed, or counts that do not agree."""
    return [
        [case.name, str(load.vcpus or "all"), f"{load.rate_cps:g}", fate(load)]
        for case in suite.cases
        for load in case.calls
        if load.failed or load.disagreements
    ]


def fate(load: CallLoad) -> str:
    """Why calls failed, and how far they came; and what does not agree."""
    ordered = sorted(load.causes.items(), key=lambda one: -one[1])
    causes = [f"{times} × {cause}" for cause, times in ordered[:_CAUSES]]
    rest = sum(times for _, times in ordered[_CAUSES:])
    if rest:
        causes.append(f"{rest} × other causes")
    came = ", ".join(f"{one.name} {one.calls}" for one in load.functions)
    said = [
        f"{load.failed} failed: {', '.join(causes)}" if causes else "none failed",
        f"came to {came}, callee {load.rang}",
        f"answered {load.answered}, refused {load.refused}, cancelled {load.cancelled}",
        *(f"counts do not agree: {one}" for one in load.disagreements),
    ]
    return "; ".join(said)


def sentences(suite: SuiteResult) -> Iterator[str]:
    """What was found of capacities, and of media."""
    for case in suite.cases:
        if case.capacity is not None:
            yield f"{case.name}: {capacity(case.capacity)}"
        for load in case.calls:
            if (rtp := load.rtp) is not None:
                there = f"{rtp.sent} packets of RTP sent, {rtp.arrived} arrived"
                back = f"{rtp.echoed} sent back, {rtp.returned} arrived"
                yield f"{case.name} at {load.rate_cps:g} calls/s: {there}; {back}"


def capacity(found: CallCapacity) -> str:
    """ "212 calls/s, at which at least 95 % of the calls succeed; at 230 they do not"; with the limit that it
    was where that is the caller, or time."""
    if found.rate_cps is None:
        return found.why or "no rate was found"
    enough = f"at which at least {numbers.share(found.success_ratio)} of the calls succeed"
    said = f"{found.rate}, {enough}"
    if found.upper_cps is not None:
        beyond = "the caller was the limit" if found.tester_limited else "they do not"
        said += f"; at {of_load(found.upper_cps)} {beyond}"
    if found.out_of_time:
        said += "; out of time between the two"
    why = f". {found.why[0].upper()}{found.why[1:].rstrip('.')}." if found.why else ""
    return f"{said} ({found.trials} trials in {found.seconds:.0f} s){why}"


def _percent(share: float) -> str:
    """With as many digits as it takes for less than all not to be "100.0"."""
    said = (f"{100 * share:.{digits}f}" for digits in range(1, _DIGITS))
    return next((one for one in said if share >= 1 or float(one) < 100), _NEARLY_ALL)
