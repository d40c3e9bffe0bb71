# SPDX-License-Identifier: Apache-2.0
"""Verifications of a made-up cloud: what cases do, what a fault costs, and what the service level says."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from weir.base.error import WeirError
from weir.lab.sut import CaseTimes, SutFile, SutSla
from weir.results.verification import CaseResult, SuiteResult, Verification
from weir.verify.case import Case, NotSoError, Running, Suite
from weir.verify.driver import CannotRunError, StackWanted
from weir.verify.run import Run, planned, verdicts

from .made import HEALTHCHECK, MadeCloud, verified


def outcomes(found: Verification) -> dict[str, str]:
    return {case.name: case.outcome for suite in found.suites for case in suite.cases}


def whys(found: Verification) -> set[str | None]:
    return {case.why for suite in found.suites for case in suite.cases if case.outcome == "failed"}


def test_a_cloud_that_works_passes_all_nine_cases_and_nothing_of_it_stands_any_more() -> None:
    cloud = MadeCloud()
    found = verified(cloud)
    assert set(outcomes(found).values()) == {"passed"}
    assert list(outcomes(found)) == [
        "connection_check", "tenantnetwork1", "tenantnetwork2", "vmready1", "vmready2", "singlevm1",
        "singlevm2", "vping_ssh", "vping_userdata",
    ]  # fmt: skip
    assert cloud.standing == 0
    assert [one.new_project for one in cloud.stood] == [False, True] * 3 + [False, False]
    assert [one.outcome for one in found.verdicts()] == ["met"]
    operations = [one.name for one in found.suites[0].cases[5].operations]
    assert operations == ["boot a server", "log in by SSH from outside"]


@pytest.mark.parametrize(
    ("fault", "failed", "why"),
    [
        ({"services_down": "network does not answer"}, {"connection_check"}, "network does not answer"),
        ({"does_not_stand": "no address"}, None, "no address"),
        ({"router_state": "down"}, None, "router router is down, and should be active"),
        ({"says": "welcome"}, {"singlevm1", "singlevm2", "vping_ssh", "vping_userdata"}, None),
    ],
)
def test_a_fault_fails_the_cases_that_meet_it_with_its_cause_and_all_is_taken_down(
    fault: dict[str, str], failed: set[str] | None, why: str | None
) -> None:
    cloud = replace(MadeCloud(), **fault)  # type: ignore[arg-type]
    found = verified(cloud)
    seen = {name for name, outcome in outcomes(found).items() if outcome == "failed"}
    if failed is None:
        assert len(seen) >= 6
    else:
        assert seen == failed
    assert why is None or why in whys(found)
    assert cloud.standing == 0
    assert [one.outcome for one in found.verdicts()] == ["missed"]


def test_what_is_not_removed_fails_a_case_that_would_have_passed() -> None:
    found = verified(MadeCloud(not_removed="network stays"))
    case = found.suites[0].cases[1]
    assert (case.outcome, case.not_removed) == ("failed", "network stays")
    assert case.why == "what it made could not be removed: network stays"


def test_a_machine_that_lacks_something_verifies_nothing() -> None:
    with pytest.raises(WeirError, match="no switch here"):
        verified(MadeCloud(lacks="no switch here"))


def interrupting(after: int) -> tuple[Suite, list[str]]:
    """A suite of four cases; Ctrl-C comes in the one with that number, the first time."""
    ran: list[str] = []

    def run(name: str) -> None:
        ran.append(name)
        if name == f"case{after}" and ran.count(name) == 1:
            raise KeyboardInterrupt

    cases = tuple(Case(f"case{n}", "a case", lambda _, n=n: run(f"case{n}")) for n in range(4))  # type: ignore[misc]
    return Suite("four", "Four?", cases), ran


def test_an_interrupted_run_goes_on_with_the_cases_that_are_left() -> None:
    suite, ran = interrupting(2)
    sut, cloud = SutFile(weir=1, name="made"), MadeCloud()
    kept: list[Verification] = []

    def run(found: Verification) -> Verification:
        keep = lambda one: kept.append(one.model_copy(deep=True))  # noqa: E731
        return Run(sut, [suite], cloud, found, keep=keep, told=lambda *_: None).run()

    first = run(planned(sut, [suite], cloud))
    assert first.interrupted
    assert outcomes(first) == {"case0": "passed", "case1": "passed", "case2": "not run", "case3": "not run"}
    assert outcomes(kept[-1]) == outcomes(first)
    assert [one.outcome for one in first.verdicts()] == ["not judged"]
    second = run(Verification.read(first.model_dump_json()))
    assert not second.interrupted
    assert ran == ["case0", "case1", "case2", "case2", "case3"]
    assert [one.outcome for one in second.verdicts()] == ["met"]


def suite(*cases: tuple[str, float]) -> SuiteResult:
    made = [
        CaseResult(name=f"c{number}", title="", outcome=outcome, seconds=seconds)  # type: ignore[arg-type]
        for number, (outcome, seconds) in enumerate(cases)
    ]
    return SuiteResult(name="some", title="", cases=made)


@pytest.mark.parametrize(
    ("cases", "wanted"),
    [
        ([("passed", 1.0), ("passed", 2.0)], ["met", "met"]),
        ([("passed", 1.0), ("passed", 3.1)], ["met", "missed"]),
        ([("passed", 1.0), ("failed", 9.0)], ["missed", "missed"]),
        ([("passed", 1.0), ("skipped", 0.0)], ["met", "met"]),
        ([("passed", 1.0), ("not run", 0.0)], ["not judged", "not judged"]),
        ([("failed", 1.0), ("not run", 0.0)], ["missed", "not judged"]),
        ([("passed", 4.0), ("not run", 0.0)], ["not judged", "missed"]),
        ([("skipped", 0.0)], ["not judged", "not judged"]),
    ],
)
def test_the_service_level_is_judged_by_cases_that_were_run(
    cases: list[tuple[str, float]], wanted: list[str]
) -> None:
    sla = SutSla(failure_ratio=0.0, time_s=CaseTimes(max=3.0))
    assert [one.outcome for one in verdicts(suite(*cases), sla)] == wanted


def test_some_may_fail_where_the_level_says_so() -> None:
    half = suite(("passed", 1.0), ("failed", 1.0))
    assert [one.outcome for one in verdicts(half, SutSla(failure_ratio=0.5))] == ["met"]


@pytest.mark.parametrize(
    ("failed", "left", "found"), [(1, 8, None), (2, 7, 2 / 9), (3, 6, 3 / 9), (0, 9, None), (2, 0, 1.0)]
)
def test_a_share_of_failed_cases_is_missed_only_where_those_that_are_left_cannot_make_it_good(
    failed: int, left: int, found: float | None
) -> None:
    cases = suite(*[("failed", 1.0)] * failed, *[("not run", 0.0)] * left)
    (one,) = verdicts(cases, SutSla(failure_ratio=0.2))
    assert (one.outcome, one.found) == ("not judged" if found is None else "missed", found)


def test_a_run_that_is_killed_has_kept_the_time_that_it_took_so_far() -> None:
    cases = tuple(Case(f"case{n}", "a case", lambda _: time.sleep(0.1)) for n in range(3))
    slow, cloud, sut = Suite("slow", "Slow?", cases), MadeCloud(), SutFile(weir=1, name="made")
    begun = planned(sut, [slow], cloud)
    begun.seconds = 100.0
    kept: list[float] = []
    Run(sut, [slow], cloud, begun, keep=lambda one: kept.append(one.seconds), told=lambda *_: None).run()
    before, first, second, third, _ = kept
    assert 100.0 <= before < first < second < third < 130.0


def test_a_case_that_takes_too_long_fails_by_that() -> None:
    cloud = MadeCloud(says="never")
    found = verified(cloud, SutFile(weir=1, name="made", case_time_limit_s=0.3), [HEALTHCHECK])
    case = found.suites[0].cases[8]
    assert case.outcome == "failed"
    assert "has not said 'vPing OK'; last: booting" in (case.why or "")


def test_a_case_that_ends_late_has_failed_though_all_of_it_was_so() -> None:
    def slow(_: Running) -> None:
        time.sleep(0.05)

    suite = Suite("slow", "Slow?", (Case("slow", "a slow case", slow),))
    found = verified(MadeCloud(), SutFile(weir=1, name="made", case_time_limit_s=0.01), [suite])
    assert found.suites[0].cases[0].outcome == "failed"
    assert "has not ended within 0.01 s" in (found.suites[0].cases[0].why or "")


@pytest.mark.parametrize(("limit_s", "outcome"), [(0.01, "failed"), (60.0, "skipped")])
def test_a_case_that_ends_late_has_failed_though_it_could_not_be_run(limit_s: float, outcome: str) -> None:
    def slow(_: Running) -> None:
        time.sleep(0.05)
        raise CannotRunError("no trial could be used")

    suite = Suite("slow", "Slow?", (Case("slow", "a slow case", slow),))
    found = verified(MadeCloud(), SutFile(weir=1, name="made", case_time_limit_s=limit_s), [suite])
    late = f"the case has not ended within {limit_s:g} s; last, it began"
    case = found.suites[0].cases[0]
    assert (case.outcome, case.why) == (outcome, late if outcome == "failed" else "no trial could be used")


def test_a_fault_that_is_found_late_is_the_cause() -> None:
    def slow(_: Running) -> None:
        time.sleep(0.05)
        raise NotSoError("the router is down")

    suite = Suite("slow", "Slow?", (Case("slow", "a slow case", slow),))
    found = verified(MadeCloud(), SutFile(weir=1, name="made", case_time_limit_s=0.01), [suite])
    assert found.suites[0].cases[0].why == "the router is down"


def test_a_defect_of_weir_fails_its_case_with_its_traceback_and_the_others_are_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cloud = MadeCloud()

    def defective(run: Running) -> None:
        with run.stack("a network", StackWanted()):
            raise KeyError("ip_address")

    cases = (Case("one", "a case", defective), Case("two", "another", lambda _: None))
    found = verified(cloud, suites=[Suite("both", "Both?", cases)])
    assert outcomes(found) == {"one": "failed", "two": "passed"}
    assert whys(found) == {"a defect of Weir: KeyError: 'ip_address'"}
    assert cloud.standing == 0
    assert [one.outcome for one in found.verdicts()] == ["missed"]
    assert "in defective" in capsys.readouterr().err


def test_an_error_of_this_machine_ends_the_run() -> None:
    def full(_: Running) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        verified(MadeCloud(), suites=[Suite("one", "One?", (Case("one", "a case", full),))])


def test_what_an_interrupted_case_leaves_is_told_and_it_counts_as_not_run() -> None:
    cloud = MadeCloud(not_removed="network stays")

    def interrupted(run: Running) -> None:
        with run.stack("a network", StackWanted()):
            raise KeyboardInterrupt

    suite = Suite("one", "One?", (Case("one", "a case", interrupted),))
    found = verified(cloud, suites=[suite])
    (case,) = found.suites[0].cases
    assert found.interrupted
    assert (case.outcome, case.not_removed) == ("not run", "network stays")
