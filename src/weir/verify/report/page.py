# SPDX-License-Identifier: Apache-2.0
"""One HTML page that needs no network and no script."""

from __future__ import annotations

import json
from collections.abc import Iterator

from markupsafe import Markup

from weir.report.page import joined
from weir.report.page.document import MARK
from weir.report.page.markup import Child, raw, sentences, sheet, tag
from weir.results.verification import CaseResult, SuiteResult, Verification
from weir.verify.report import LIMITS, PAGE_HEAD, calls, chains, headline, limits, lines, scenarios

_STYLES = ("colours.css", "page.css", "sheets.css", "print.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(found: Verification) -> str:
    """The whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"weir {found.weir}"),
        tag("title", f"{found.title}: verification – Weir"),
        raw("style", joined(_STYLES)),
    )
    parts = [*(_suite(suite) for suite in found.suites), _level(found), _rest(found)]
    body = tag(
        "body",
        tag(
            "nav",
            [tag("a", suite.name, href=f"#{suite.name}") for suite in found.suites],
            tag("a", "level", href="#level"),
            tag("a", "system", href="#system"),
            aria_label="Sections",
        ),
        tag("main", _head(found), _headline(found), parts),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _head(found: Verification) -> Markup:
    mark = tag(
        "svg",
        [tag("path", d=each) for each in MARK],
        viewBox="0 0 32 32",
        class_="mark",
        aria_hidden="true",
    )
    facts = [
        ("System", found.system),
        ("Run", found.id),
        ("Began", found.started_at),
        ("Took", f"{found.seconds:.0f} s"),
        ("Weir", found.weir),
    ]
    return tag(
        "header",
        tag("p", mark, tag("b", "Weir"), tag("span", "verification"), class_="brand"),
        tag("h1", found.title),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_="head",
    )


def _headline(found: Verification) -> Markup:
    """In a box where it is bad news."""
    if not found.interrupted and all(one.outcome == "met" for one in found.verdicts()):
        return tag("p", tag("b", headline(found)))
    return tag("p", headline(found), class_="headline", role="note")


def _section(place: str, title: str, words: str, *content: Child) -> Markup:
    side = tag("div", tag("h2", title, id=f"{place}-title"), tag("p", words), class_="side")
    body = tag("div", list(content), class_="body")
    return tag("section", side, body, id=place, aria_labelledby=f"{place}-title")


def _suite(suite: SuiteResult) -> Markup:
    words = (
        f"{suite.count('passed')} passed, {suite.count('failed')} failed, {suite.count('skipped')} skipped"
    )
    left = suite.count("not run")
    operations = [row for case in suite.cases for row in _operations(case)]
    shown: list[Child] = [sheet(suite.title, PAGE_HEAD, _columns(suite), len(PAGE_HEAD) - 1, wrap=True)]
    shown += _scenarios(suite)
    shown += _chains(suite)
    shown += _calls(suite)
    if operations:
        inner = sheet("Turn-around times", ("case", "operation", "gave", "time, s"), operations, 3, wrap=True)
        shown.append(tag("details", tag("summary", tag("b", "Operation by operation")), inner, class_="fold"))
    return _section(
        suite.name, suite.name.capitalize(), f"{words}{f', {left} not run' if left else ''}.", *shown
    )


def _chains(suite: SuiteResult) -> Iterator[Child]:
    for one in chains.tables(suite):
        yield sheet(one.title, one.head, one.rows, one.words, wrap=True)
    yield sentences(chains.sentences(suite))


def _scenarios(suite: SuiteResult) -> Iterator[Child]:
    rows = scenarios.rows(suite)
    if rows:
        inner = sheet(scenarios.TITLE, scenarios.HEAD, rows, 2, wrap=True)
        yield tag("details", tag("summary", tag("b", scenarios.TITLE)), inner, class_="fold")
    yield sentences(scenarios.sentences(suite))


def _calls(suite: SuiteResult) -> Iterator[Child]:
    rows, fates = calls.rows(suite), calls.fates(suite)
    if rows:
        yield sheet(calls.TITLE, calls.HEAD, rows, 1, wrap=True)
    if fates:
        yield sheet("Calls that failed", calls.FATE_HEAD, fates, len(calls.FATE_HEAD), wrap=True)
    yield sentences(calls.sentences(suite))


def _columns(suite: SuiteResult) -> list[list[str]]:
    """The time last, as a number."""
    return [[name, outcome, said, seconds] for name, outcome, seconds, said in lines(suite)]


def _operations(case: CaseResult) -> Iterator[list[str]]:
    for one in case.operations:
        yield [case.name, one.name, one.found, f"{one.seconds:.3f}"]
    if case.clean_up_seconds:
        yield [case.name, "clean up", case.not_removed or "nothing left", f"{case.clean_up_seconds:.3f}"]


def _level(found: Verification) -> Markup:
    table = sheet("Limits", LIMITS, list(limits(found)), 2, wrap=True)
    return _section("level", "Service level", "What was promised, and what was found.", table)


def _rest(found: Verification) -> Markup:
    spec = json.dumps(found.spec, indent=2)
    return _section(
        "system",
        "The system",
        "What it is, and what this says of other clouds.",
        sentences(found.fidelity),
        tag(
            "details",
            tag("summary", tag("b", "The file, resolved")),
            tag("pre", spec, tabindex=0),
            class_="fold",
        ),
    )
