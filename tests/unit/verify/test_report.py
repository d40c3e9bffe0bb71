# SPDX-License-Identifier: Apache-2.0
"""Verifications as text, as JUnit's XML and as a page."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest

from weir.report.blocks import new_console
from weir.results.verification import CaseOutcome, Verification
from weir.verify.report import headline
from weir.verify.report.junit import junit
from weir.verify.report.page import page
from weir.verify.report.text import show

from .made import MadeCloud, verified

HOSTILE = "<script>alert(1)</script> & \x00\x1b[31m"


@pytest.fixture
def good() -> Verification:
    return verified(MadeCloud())


@pytest.fixture
def bad() -> Verification:
    return verified(MadeCloud(services_down=HOSTILE))


def text(found: Verification) -> str:
    out = io.StringIO()
    show(found, new_console(out, width=110))
    return out.getvalue()


def test_the_headline_says_how_many_passed_and_what_became_of_the_level(
    good: Verification, bad: Verification
) -> None:
    assert headline(good) == "9 of 9 cases passed, and the service level is met."
    assert headline(bad) == "8 of 9 cases passed, and the service level is missed: 1 of 1 limits."
    good.suites[0].verdicts = []
    assert headline(good) == "9 of 9 cases passed; no limit of a service level was judged."
    for case in good.suites[0].cases:
        case.outcome = "not run"
    assert headline(good).startswith("0 of 9 cases passed; no limit")
    good.suites = []
    assert headline(good) == "No case was run."
    good.interrupted = True
    assert headline(good) == "Interrupted: 0 of 0 cases passed, 0 were not run."


def test_an_interrupted_run_says_how_far_it_came(good: Verification) -> None:
    good.interrupted = True
    assert headline(good).startswith("Interrupted: 9 of 9 cases passed, 0 were not run.")


def test_the_terminal_has_every_case_with_its_outcome_and_cause(bad: Verification) -> None:
    shown = text(bad)
    assert all(case.name in shown for case in bad.suites[0].cases)
    assert "alert(1)" in shown
    assert "healthcheck: cases that failed" in shown


def test_junit_counts_what_failed_and_carries_the_cause(bad: Verification) -> None:
    root = ElementTree.fromstring(junit(bad))
    suite, level = root.findall("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("9", "1", "0")
    (failure,) = suite.findall("testcase/failure")
    assert (failure.get("message") or "").startswith("<script>alert(1)</script> &")
    assert (level.get("tests"), level.get("failures"), level.get("errors")) == ("1", "1", "0")


def test_a_limit_that_was_just_missed_and_what_was_found_are_not_said_alike(good: Verification) -> None:
    (verdict,) = good.suites[0].verdicts
    late = {"criterion": "time of the longest case", "limit": 30.0, "found": 30.04, "unit": "s", "met": False}
    good.suites[0].verdicts = [verdict.model_copy(update=late)]
    (failure,) = ElementTree.fromstring(junit(good)).findall("testsuite/testcase/failure")
    assert failure.get("message") == "30.04 s, at most 30 s"
    assert "30.04 s" in text(good)
    assert "30.04 s" in page(good)


def test_what_was_not_run_is_skipped_in_junit_and_its_level_an_error(good: Verification) -> None:
    case = good.suites[0].cases[8]
    case.outcome = "not run"
    good.suites[0].verdicts[0].met, good.suites[0].verdicts[0].found = False, None
    root = ElementTree.fromstring(junit(good))
    suite, level = root.findall("testsuite")
    assert (suite.get("skipped"), level.get("errors")) == ("1", "1")


@pytest.mark.parametrize(
    ("outcome", "why", "told"),
    [
        ("failed", "no address", "failure: no address; not removed: network stays"),
        ("failed", "not removed within 9 s: network stays", "failure: not removed within 9 s: network stays"),
        ("skipped", "it has no card", "skipped: it has no card; not removed: network stays"),
        ("not run", None, "skipped: not run; not removed: network stays"),
    ],
)
def test_junit_names_what_a_case_left_as_the_other_reports_do(
    good: Verification, outcome: CaseOutcome, why: str | None, told: str
) -> None:
    case = good.suites[0].cases[0]
    case.outcome, case.why, case.not_removed = outcome, why, "network stays"
    (one,) = ElementTree.fromstring(junit(good)).findall("testsuite/testcase[@name='connection_check']")
    assert [f"{each.tag}: {each.get('message')}" for each in one if each.tag != "system-out"] == [told]
    assert "network stays" in page(good)


def test_the_page_escapes_what_clouds_say_loads_nothing_and_has_every_operation(bad: Verification) -> None:
    made = page(bad)
    assert "<script" not in made
    assert "&lt;script&gt;alert(1)" in made
    assert "http://" not in made.replace("http://www.w3.org", "")
    assert "boot two servers" in made
    assert "None of it is real." in made
