# SPDX-License-Identifier: Apache-2.0
"""Verifications as text, as JUnit's XML and as a page. All say what the result says."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.limit_text import found_text, limit_text
from weir.results.result import Verdict
from weir.results.verification import CaseResult, SuiteResult, Verification

HEAD = ("case", "outcome", "time, s", "what it shows, and why it failed")
PAGE_HEAD = ("case", "outcome", "what it shows, and why it failed", "time, s")


def headline(found: Verification) -> str:
    """ "9 of 9 cases passed, and the service level is met."."""
    cases = [case for suite in found.suites for case in suite.cases]
    passed = sum(one.outcome == "passed" for one in cases)
    outcomes = [one.outcome for one in found.verdicts()]
    if found.interrupted:
        left = sum(one.outcome == "not run" for one in cases)
        return f"Interrupted: {passed} of {len(cases)} cases passed, {left} were not run."
    if not cases:
        return "No case was run."
    if not outcomes:
        return f"{passed} of {len(cases)} cases passed; no limit of a service level was judged."
    if "missed" in outcomes:
        level = f"the service level is missed: {outcomes.count('missed')} of {len(outcomes)} limits"
    elif "not judged" in outcomes:
        level = f"{outcomes.count('not judged')} of {len(outcomes)} limits could not be judged"
    else:
        level = "the service level is met"
    return f"{passed} of {len(cases)} cases passed, and {level}."


def lines(suite: SuiteResult) -> list[list[str]]:
    """In the order of HEAD."""
    return [[one.name, one.outcome, time_of(one), said(one)] for one in suite.cases]


def time_of(case: CaseResult) -> str:
    """ "1.2"; a dash where it was not run."""
    return f"{case.seconds:.1f}" if case.outcome in ("passed", "failed") else "–"


def said(case: CaseResult) -> str:
    """What it shows, and of one that failed or was skipped the cause; what is left of it."""
    return with_left(case, f"{case.title}: {case.why}" if case.why else case.title)


def with_left(case: CaseResult, words: str) -> str:
    """Words on a case, and what is left of it, where they do not say so."""
    left = case.not_removed is not None and case.not_removed not in words
    return f"{words}; not removed: {case.not_removed}" if left else words


LIMITS = ("limit", "outcome", "promised", "found")


def limits(found: Verification) -> Iterator[list[str]]:
    """Every limit of the service level, in the order of LIMITS."""
    for one in found.verdicts():
        yield [
            one.criterion,
            f"{one.outcome}: {one.why}" if one.why else one.outcome,
            promised(one),
            found_of(one),
        ]


def found_of(one: Verdict) -> str:
    """ "19,449 pps", "below 10,000 pps", or a dash."""
    if one.found is None:
        return "–"
    return f"{'below ' * one.below}{found_text(one.found, one.limit)} {one.unit}".rstrip()


def promised(one: Verdict) -> str:
    """ "at most 30 s", "at least 10,000 pps": a floor says so in its name."""
    word = "at least" if one.criterion.endswith("at least") else "at most"
    return f"{word} {limit_text(one.limit)} {one.unit}".rstrip()
