# SPDX-License-Identifier: Apache-2.0
"""The suite `application` of a made-up cloud: what calls show, and what each fault costs."""

from __future__ import annotations

from typing import Any

import pytest

from weir.base.error import WeirError
from weir.lab.application import Application
from weir.lab.sut import SutFile
from weir.results.verification import CaseResult, Verification
from weir.verify.report.calls import capacity
from weir.verify.report.junit import junit
from weir.verify.report.page import page
from weir.verify.suites import SUITES

from .made import MadeCloud, verified
from .made_sip import MadeSip
from .test_report import text

SUITE = SUITES["application"]
PROXY = Application(variant="proxy", subscribers=10, call_rate_cps=(20.0, 40.0), duration_s=1.0, trial_s=1.0)


def found_of(cloud: MadeCloud, application: Application = PROXY, **sla: Any) -> Verification:
    sut = SutFile.model_validate(
        {
            "weir": 1,
            "name": "made",
            "application": application.model_dump(),
            "sla": sla,
            "case_time_limit_s": 90,
        }
    )
    return verified(cloud, sut, (SUITE,))


def case(found: Verification, name: str) -> CaseResult:
    return next(one for one in found.suites[0].cases if one.name == name)


@pytest.mark.long
def test_calls_that_all_succeed_pass_every_case_and_are_judged_at_each_rate() -> None:
    cloud = MadeSip()
    found = found_of(cloud, calls={"failure_ratio": 0.01, "request_delay_p95_ms": 100})
    assert [(one.name, one.outcome, one.why) for one in found.suites[0].cases] == [
        (one.name, "passed", None) for one in SUITE.cases
    ]
    assert [one.planned for one in case(found, "sip_calls").calls] == [20, 40]
    assert case(found, "sip_calls").calls[0].successful == 20
    assert [one.outcome for one in found.verdicts()] == ["met"] * 5
    assert cloud.standing == 0
    assert cloud.hosted[0].names == ("caller", "proxy", "callee")


@pytest.mark.long
def test_the_search_finds_the_rate_beyond_which_calls_fail() -> None:
    capacity = case(found_of(MadeSip(capacity_cps=100.0)), "sip_capacity").capacity
    assert capacity is not None
    assert capacity.rate_cps is not None
    assert capacity.upper_cps is not None
    assert capacity.rate_cps <= 100.0 / 0.95 <= capacity.upper_cps
    assert capacity.upper_cps - capacity.rate_cps <= 0.11 * capacity.upper_cps


@pytest.mark.long
@pytest.mark.parametrize(
    ("highest_cps", "capacity_cps", "said"),
    [(1.0, 1e9, "≥ 1 calls/s, "), (10.0, 6.0, "6.23 calls/s, "), (10.0, 0.01, "Even at 0.5 calls/s, ")],
)
def test_a_search_of_few_calls_a_second_has_lower_rates_too(
    highest_cps: float, capacity_cps: float, said: str
) -> None:
    wanted = PROXY.model_copy(update={"highest_rate_cps": highest_cps, "trial_s": 30.0})
    searched = case(found_of(MadeSip(capacity_cps=capacity_cps), wanted), "sip_capacity")
    assert searched.capacity is not None
    assert capacity(searched.capacity).startswith(said)


@pytest.mark.long
def test_a_search_that_sipp_is_too_slow_for_is_skipped_and_its_reason_is_said() -> None:
    wanted = PROXY.model_copy(update={"highest_rate_cps": 1000.0})
    skipped = case(found_of(MadeSip(caller_cps=30.0), wanted), "sip_capacity")
    assert (skipped.outcome, skipped.why) == (
        "skipped",
        "no rate could be found: Even at 50 calls/s the tester was too slow: "
        "the caller kept at most 33 of 50 calls/s: SIPp is too slow",
    )
    assert skipped.capacity is not None
    assert skipped.capacity.tester_limited


@pytest.mark.long
@pytest.mark.parametrize(("cloud", "search_s"), [(MadeSip(), 1e-6), (MadeSip(lost_by_callee=2), 60.0)])
def test_a_search_without_time_or_trials_to_believe_says_nothing_of_the_cloud(
    cloud: MadeSip, search_s: float
) -> None:
    found = found_of(cloud, PROXY.model_copy(update={"search_s": search_s}))
    skipped = case(found, "sip_capacity")
    assert skipped.outcome == "skipped"
    assert (skipped.why or "").startswith("no rate could be found: ")
    assert skipped.capacity is not None
    assert skipped.capacity.unmeasured


@pytest.mark.long
def test_a_cloud_in_which_calls_fail_at_any_rate_fails_the_search() -> None:
    failed = case(found_of(MadeSip(capacity_cps=0.1)), "sip_capacity")
    assert failed.outcome == "failed"
    assert (failed.why or "").startswith("Even at 20 calls/s, the lowest load tried, more failed")


@pytest.mark.long
def test_a_rate_at_which_too_many_calls_fail_fails_the_case_with_their_causes() -> None:
    failed = case(found_of(MadeSip(capacity_cps=30.0)), "sip_calls")
    assert failed.outcome == "failed"
    assert failed.why == ("at 40 calls/s 30 of 40 calls succeeded, expected 95%: 10 × no answer in time")
    assert [one.failed for one in failed.calls] == [0, 10]


@pytest.mark.long
def test_a_share_that_was_asked_for_is_said_with_all_its_digits() -> None:
    wanted = PROXY.model_copy(update={"success_ratio": 0.995, "call_rate_cps": (200.0,)})
    found = found_of(MadeSip(capacity_cps=198.0), wanted)
    assert case(found, "sip_calls").why == (
        "at 200 calls/s 198 of 200 calls succeeded, expected 99.5%: 2 × no answer in time"
    )
    searched = case(found, "sip_capacity").operations[-1].name
    assert searched == "search the highest rate at which at least 99.5% of the calls succeed"


@pytest.mark.long
def test_counts_that_do_not_agree_fail_the_case_and_its_level_is_not_judged() -> None:
    found = found_of(MadeSip(lost_by_callee=2), calls={"failure_ratio": 0.01})
    failed = case(found, "sip_calls")
    assert failed.outcome == "failed"
    assert failed.why == (
        "at 20 calls/s counts do not agree: proxy saw 20 calls answered, and 18 came to the callee"
    )
    assert [one.outcome for one in found.verdicts()][1:] == ["not judged", "not judged"]


@pytest.mark.long
@pytest.mark.parametrize(("duration_s", "kept_cps"), [(1.0, 30.65), (3.0, 30.32)])
def test_a_rate_that_sipp_cannot_keep_is_neither_passed_nor_judged_and_others_are(
    duration_s: float, kept_cps: float
) -> None:
    wanted = PROXY.model_copy(update={"duration_s": duration_s})
    found = found_of(MadeSip(caller_cps=30.0), wanted, calls={"failure_ratio": 0.01})
    slow, why = (
        case(found, "sip_calls"),
        f"the caller kept at most {kept_cps:.0f} of 40 calls/s: SIPp is too slow",
    )
    assert (slow.outcome, slow.why) == ("skipped", why)
    assert [one.offered_cps for one in slow.calls] == [20, kept_cps]
    assert [(one.load, one.outcome, one.why) for one in found.verdicts()[1:]] == [
        ("20 calls/s", "met", None), ("40 calls/s", "not judged", why),
    ]  # fmt: skip
    assert f"40, kept ≤ {kept_cps:.1f}" in page(found)


@pytest.mark.long
def test_a_rate_at_which_calls_fail_fails_the_case_though_sipp_could_not_keep_another() -> None:
    wanted = PROXY.model_copy(update={"duration_s": 3.0})
    failed = case(found_of(MadeSip(caller_cps=30.0, capacity_cps=10.0), wanted), "sip_calls")
    assert failed.outcome == "failed"
    assert (failed.why or "").startswith("at 20 calls/s ")


def test_a_function_that_ends_in_the_middle_of_calls_fails_the_case_with_its_last_words() -> None:
    failed = case(found_of(MadeSip(ends="proxy")), "sip_calls")
    assert (failed.outcome, failed.why) == (
        "failed", "the proxy has ended by signal 11; last, it said: core was generated",
    )  # fmt: skip
    assert failed.not_removed is None


def test_rates_that_were_not_come_to_are_not_judged_and_those_before_them_are() -> None:
    wanted = PROXY.model_copy(update={"vcpus": (1, 2)})
    cloud = MadeSip(ends="proxy", ends_at_load=2)
    found = found_of(cloud, wanted, failure_ratio=0.9, calls={"failure_ratio": 0.05})
    failed = case(found, "sip_calls")
    assert (failed.outcome, [one.rate_cps for one in failed.calls]) == ("failed", [20.0])
    assert [(one.load, one.outcome, one.why) for one in found.verdicts()[1:]] == [
        ("20 calls/s, 1 vCPU", "met", None),
        ("40 calls/s, 1 vCPU", "not judged", failed.why),
        ("20 calls/s, 2 vCPU", "not judged", failed.why),
        ("40 calls/s, 2 vCPU", "not judged", failed.why),
    ]


ONE_RATE = PROXY.model_copy(update={"call_rate_cps": (20.0,)})


def test_delays_that_cannot_be_read_fail_the_case_and_are_not_taken_for_calls_that_did_not_ring() -> None:
    found = found_of(MadeSip(delays="Date_ms;response_t"), ONE_RATE, calls={"request_delay_p95_ms": 100})
    why = "SIPp's response times cannot be read"
    assert (case(found, "sip_calls").outcome, case(found, "sip_calls").why) == ("failed", why)
    assert (found.verdicts()[-1].outcome, found.verdicts()[-1].why) == ("not judged", why)


def test_of_calls_that_did_not_ring_there_is_no_delay() -> None:
    found = found_of(MadeSip(delays=""), ONE_RATE, calls={"request_delay_p95_ms": 100})
    assert case(found, "sip_calls").calls[0].request_delay is None
    assert (found.verdicts()[-1].outcome, found.verdicts()[-1].why) == ("not judged", "no call rang")


def test_subscribers_that_cannot_register_fail_every_case_with_their_number_and_cause() -> None:
    found = found_of(MadeSip(not_registered=2))
    assert {one.outcome for one in found.suites[0].cases} == {"failed"}
    why = case(found, "sip_registration").why
    assert why == "3 of 5 subscribers could register; the others: 2 × no answer in time"


def test_a_key_that_the_network_does_not_have_is_the_cause_that_sipp_names() -> None:
    failed = case(found_of(MadeSip(gives_up="MAC != eXpectedMAC")), "sip_registration")
    assert (failed.outcome, failed.why) == ("failed", "SIPp gave up: MAC != eXpectedMAC")


def test_an_ims_has_a_server_for_each_function_and_one_for_its_subscribers() -> None:
    cloud = MadeSip()
    found = found_of(cloud, PROXY.model_copy(update={"variant": "ims", "vcpus": (1,)}))
    assert case(found, "sip_registration").outcome == "passed"
    assert cloud.hosted[0].names == ("caller", "pcscf", "scscf", "icscf", "subscribers", "callee")
    assert cloud.hosted[0].vcpus == 1


@pytest.mark.long
def test_calls_are_offered_on_each_number_of_cpus_and_the_other_cases_have_the_first() -> None:
    cloud = MadeSip()
    found = found_of(cloud, PROXY.model_copy(update={"vcpus": (1, 2)}), calls={"failure_ratio": 0.01})
    assert [one.vcpus for one in cloud.hosted] == [1, 1, 2, 1]
    calls = case(found, "sip_calls").calls
    assert [(one.vcpus, one.rate_cps) for one in calls] == [(1, 20.0), (1, 40.0), (2, 20.0), (2, 40.0)]
    assert found.verdicts()[-1].load == "40 calls/s, 2 vCPU"


def test_calls_on_more_cpus_than_there_are_are_skipped_and_those_before_them_are_judged() -> None:
    wanted = PROXY.model_copy(update={"vcpus": (1, 2), "call_rate_cps": (20.0,)})
    found = found_of(MadeSip(cpus=1), wanted, calls={"failure_ratio": 0.01})
    calls = case(found, "sip_calls")
    assert (calls.outcome, calls.why) == ("skipped", "servers can have 1 CPUs, not 2")
    assert [(one.vcpus, one.successful) for one in calls.calls] == [(1, 20)]
    assert [(one.load, one.outcome) for one in found.verdicts()[1:]] == [
        ("20 calls/s, 1 vCPU", "met"),
        ("20 calls/s, 2 vCPU", "not judged"),
    ]


def test_calls_that_fail_are_told_before_those_that_could_not_be_offered() -> None:
    wanted = PROXY.model_copy(update={"vcpus": (1, 2), "call_rate_cps": (20.0,)})
    calls = case(found_of(MadeSip(cpus=1, capacity_cps=10.0), wanted), "sip_calls")
    assert calls.outcome == "failed"
    assert "at 20 calls/s on 1 vCPU 10 of 20 calls succeeded" in (calls.why or "")


def test_a_driver_without_servers_for_programs_skips_the_suite_which_is_not_judged() -> None:
    found = found_of(MadeCloud())
    assert {one.outcome for one in found.suites[0].cases} == {"skipped"}
    assert [(one.outcome, one.why) for one in found.verdicts()] == [("not judged", "all cases were skipped")]
    assert "no servers for programs" in (case(found, "sip_calls").why or "")


def test_a_program_that_is_missing_is_named_before_anything_stands() -> None:
    cloud = MadeSip(lacks_programs="kamailio")
    with pytest.raises(WeirError, match="there is no kamailio here"):
        found_of(cloud)
    assert cloud.hosted == []


@pytest.mark.long
def test_reports_have_the_calls_their_causes_and_the_capacity() -> None:
    found = found_of(MadeSip(capacity_cps=30.0), calls={"failure_ratio": 0.01})
    shown, made, xml = text(found), page(found), junit(found)
    for said in (shown, made):
        assert "session request delay" in said
        assert "10 failed: 10 × no answer in time" in " ".join(said.split())
    assert "at which at least 95 % of the calls succeed" in made
    assert "40 calls/s: 10 failed" in xml
