# SPDX-License-Identifier: Apache-2.0
"""Counts that agree, and each way in which they may not; figures of RFC 6076; what the service level says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from weir.lab.application import Application, CallLimits
from weir.results.calls import CallLoad, RequestDelay
from weir.results.result import Verdict
from weir.results.verification import CaseResult, SuiteResult
from weir.verify.report import calls
from weir.verify.sip import figures
from weir.verify.sip.accounting import disagreements
from weir.verify.sip.capacity import as_trial, faults
from weir.verify.sip.kamailio import Counters
from weir.verify.sip.level import call_verdicts
from weir.verify.sip.sipp import CallCounts, Unexpected

GOOD = CallCounts(
    created=100, current=0, successful=90, failed=10, causes={"no answer in time": 10}, retransmissions=3,
    offered_s=10.0, offered_cps=10.0,
)  # fmt: skip
RANG = 93
FIRST = Counters(registered=0, invited=97, answered=92, refused=3, cancelled=2, active=0)
FUNCTIONS = {"pcscf": FIRST, "scscf": replace(FIRST, invited=96), "icscf": replace(FIRST, invited=95)}


def test_counts_with_losses_on_the_way_agree() -> None:
    assert disagreements(100, GOOD, RANG, FUNCTIONS, 95) == []


def test_of_calls_that_all_succeed_everybody_counts_as_many() -> None:
    caller = replace(GOOD, successful=100, failed=0, causes={})
    first = replace(FIRST, invited=100, answered=100, refused=0, cancelled=0)
    assert disagreements(100, caller, 100, {"proxy": first}, None) == []
    (said,) = disagreements(100, caller, 101, {"proxy": first}, None)[:1]
    assert said == "101 calls came to the callee, of 100 that came to proxy"


@pytest.mark.parametrize(
    ("caller", "rang", "first", "asked", "said"),
    [
        ({"created": 99}, RANG, {}, 95, "100 calls were planned, and SIPp made 99"),
        ({"current": 2}, RANG, {}, 95, "2 calls of SIPp's have not ended"),
        ({"successful": 89}, RANG, {}, 95, "of 100 calls SIPp counts 99 as ended"),
        ({"causes": {}}, RANG, {}, 95, "of 10 failed calls SIPp has a cause for 0"),
        ({}, RANG, {"invited": 101}, 95, "SIPp made 100 calls, and 101 came to pcscf"),
        ({}, RANG, {"invited": 80}, 95, "20 calls did not come to pcscf, and no more than 10 failed"),
        ({}, RANG, {"refused": 0}, 95, "of 97 calls pcscf counts 92 as answered, 0 as refused"),
        ({}, RANG, {"answered": 80, "refused": 15}, 95, "90 calls succeeded, of 80 that pcscf saw answered"),
        ({}, 96, {}, 95, "96 calls came to the callee, of 95 that came to icscf"),
        ({}, 91, {}, 95, "pcscf saw 92 calls answered, and 91 came to the callee"),
        ({}, RANG, {}, 94, "95 calls came to icscf, which asked the subscriber server 94 times"),
    ],
)
def test_each_way_to_disagree_has_its_sentence(
    caller: dict[str, int], rang: int, first: dict[str, int], asked: int, said: str
) -> None:
    found = disagreements(
        100,
        replace(GOOD, **caller),  # type: ignore[arg-type]
        rang,
        FUNCTIONS | {"pcscf": replace(FIRST, **first)},
        asked,
    )
    assert any(one.startswith(said) for one in found), found


def test_to_no_function_come_more_calls_than_to_the_one_before() -> None:
    functions = FUNCTIONS | {"icscf": replace(FIRST, invited=98)}
    assert disagreements(100, GOOD, RANG, functions, 98) == [
        "98 calls came to icscf, of 96 that came to scscf"
    ]


def test_the_interval_is_wilsons_and_holds_the_share() -> None:
    low, high = figures.interval(95, 100)
    assert (round(low, 4), round(high, 4)) == (0.8882, 0.9785)
    assert figures.interval(0, 0) == (0.0, 1.0)
    assert figures.interval(10, 10)[1] == 1.0
    assert figures.interval(10, 10)[0] == pytest.approx(0.7225, abs=1e-4)


def test_percentiles_of_the_request_delay_are_values_that_were_measured() -> None:
    found = figures.request_delay([float(one) for one in range(1, 101)])
    assert found is not None
    assert (found.p50_ms, found.p95_ms, found.p99_ms, found.max_ms) == (50, 95, 99, 100)
    assert figures.request_delay([]) is None


def test_ineffective_attempts_are_those_that_functions_could_not() -> None:
    named = Counter(
        {Unexpected(2, "503", "180"): 3, Unexpected(3, "408", "200"): 2, Unexpected(2, "486", "180"): 5}
    )
    assert figures.ineffective(named) == 5


def test_a_call_that_was_answered_is_no_ineffective_attempt_whatever_became_of_it() -> None:
    to_the_hold, to_the_bye = Unexpected(7, "500", "200"), Unexpected(10, "408", "200")
    assert figures.ineffective(Counter({to_the_hold: 1, to_the_bye: 2})) == 0


def load(**more: object) -> CallLoad:
    fields: dict[str, object] = {
        "purpose": "load", "rate_cps": 50.0, "offered_cps": 50.0, "seconds": 2.0, "planned": 100,
        "created": 100, "successful": 97, "failed": 3, "causes": {"no answer in time": 3},
        "success_ratio": 0.97, "success_low": 0.91, "success_high": 0.99,
        "session_establishment_ratio": 0.98, "ineffective_attempt_ratio": 0.0,
        "request_delay": RequestDelay(calls=98, p50_ms=5, p90_ms=20, p95_ms=40, p99_ms=80, max_ms=90),
        "retransmissions": 2, "callee_retransmissions": 0, "rang": 98, "not_arrived": 0, "answered": 98,
        "refused": 1, "cancelled": 1,
    }  # fmt: skip
    return CallLoad.model_validate(fields | more)


def suite(*loads: CallLoad, outcome: str = "passed") -> SuiteResult:
    case = CaseResult.model_validate(
        {"name": "sip_calls", "title": "", "outcome": outcome, "calls": [one.model_dump() for one in loads]}
    )
    return SuiteResult(name="application", title="", cases=[case])


def judged(found: SuiteResult, limits: CallLimits) -> list[Verdict]:
    """Where as many rates were asked for as there are loads; one, where there is none."""
    rates_cps = tuple(one.rate_cps for one in found.cases[0].calls) or (20.0,)
    return list(call_verdicts(found, limits, Application(call_rate_cps=rates_cps)))


def test_the_level_of_calls_is_judged_at_each_rate() -> None:
    limits = CallLimits(failure_ratio=0.05, request_delay_p95_ms=30)
    worse = load(rate_cps=80.0, offered_cps=80.0, successful=90, failed=10, success_ratio=0.9)
    found = judged(suite(load(), worse), limits)
    assert [(one.load, one.outcome) for one in found] == [
        ("50 calls/s", "met"), ("80 calls/s", "missed"), ("50 calls/s", "missed"), ("80 calls/s", "missed"),
    ]  # fmt: skip
    assert found[1].found == pytest.approx(0.1)


@pytest.mark.parametrize(("failed", "outcome"), [(10, "met"), (11, "missed")])
def test_as_many_failures_as_the_limit_allows_meet_it(failed: int, outcome: str) -> None:
    successful = 200 - failed
    counted = {"planned": 200, "successful": successful, "failed": failed, "success_ratio": successful / 200}
    (found,) = judged(suite(load(**counted)), CallLimits(failure_ratio=0.05))
    assert found.outcome == outcome


def test_of_counts_that_do_not_agree_nothing_is_judged() -> None:
    limits = CallLimits(failure_ratio=0.05, request_delay_p95_ms=500)
    found = judged(suite(load(disagreements=["99 of 100"]), outcome="failed"), limits)
    assert [(one.outcome, one.why) for one in found] == [("not judged", "99 of 100")] * 2
    none = judged(suite(outcome="failed"), limits)
    assert [one.outcome for one in none] == ["not judged"] * 2
    assert judged(suite(outcome="skipped"), limits) == []
    assert judged(suite(load()), CallLimits()) == []


def test_of_a_rate_that_was_not_offered_nothing_is_judged() -> None:
    limits = CallLimits(failure_ratio=0.05, request_delay_p95_ms=500)
    found = judged(suite(load(offered_cps=30.0), outcome="skipped"), limits)
    why = "the caller kept at most 30 of 50 calls/s: SIPp is too slow"
    assert [(one.load, one.outcome, one.why) for one in found] == [("50 calls/s", "not judged", why)] * 2


@pytest.mark.parametrize(
    ("successful", "said"), [(5000, "100.0"), (4999, "99.98"), (4750, "95.0"), (0, "0.0")]
)
def test_only_all_of_the_calls_are_a_hundred_percent(successful: int, said: str) -> None:
    counted = {"planned": 5000, "successful": successful, "success_ratio": successful / 5000}
    ((*_, share, interval, _, _, _, _),) = calls.rows(suite(load(**counted, success_high=0.999996)))
    assert share == said
    assert interval == "91.0 to 99.9996"


@pytest.mark.parametrize(("rate_cps", "said"), [(10_000.0, "10000"), (212.5, "212.5"), (80.0, "80")])
def test_a_rate_of_calls_is_written_without_powers_of_ten(rate_cps: float, said: str) -> None:
    found = suite(load(rate_cps=rate_cps, offered_cps=rate_cps, failed=1, causes={"no answer in time": 1}))
    assert [row[2] for row in (*calls.rows(found), *calls.fates(found))] == [said, said]


def test_a_search_sees_calls_as_packets_and_takes_no_trial_that_does_not_add_up() -> None:
    trial = as_trial("search", load())
    assert (trial.offered, trial.delivered, trial.valid) == (100, 97, True)
    assert trial.counted_loss_ratio == pytest.approx(0.03)
    wrong = as_trial("search", load(disagreements=["99 of 100"]))
    assert (wrong.valid, wrong.invalid_because) == (False, ["99 of 100"])
    assert [one.kind for one in faults(load(offered_cps=40.0))] == ["tester"]
