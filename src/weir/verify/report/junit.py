# SPDX-License-Identifier: Apache-2.0
"""JUnit's XML, as test servers read it: a suite for each, and the service level as one more."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from weir.results.result import Verdict
from weir.results.verification import CaseResult, Verification
from weir.verify.report import found_of, promised, scenarios, with_left
from weir.verify.report.calls import capacity, fate
from weir.verify.report.chains import summary

_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""In XML 1.0."""


def junit(found: Verification) -> str:
    """The document."""
    root = ElementTree.Element("testsuites", name=found.id)
    for suite in found.suites:
        one = _suite(root, f"{found.sut}.{suite.name}", suite.cases)
        one.set("timestamp", found.started_at.partition("+")[0])
        for case in suite.cases:
            _case(one, f"{found.sut}.{suite.name}", case)
    verdicts = found.verdicts()
    level = ElementTree.SubElement(
        root,
        "testsuite",
        name=f"{found.sut}.sla",
        tests=str(len(verdicts)),
        failures=str(sum(one.outcome == "missed" for one in verdicts)),
        errors=str(sum(one.outcome == "not judged" for one in verdicts)),
    )
    for verdict in verdicts:
        _verdict(level, f"{found.sut}.sla", verdict)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ElementTree.Element, name: str, cases: list[CaseResult]) -> ElementTree.Element:
    return ElementTree.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(one.outcome == "failed" for one in cases)),
        skipped=str(sum(one.outcome in ("skipped", "not run") for one in cases)),
        errors="0",
        time=f"{sum(one.seconds for one in cases):.3f}",
    )


def _case(suite: ElementTree.Element, place: str, case: CaseResult) -> None:
    one = ElementTree.SubElement(
        suite, "testcase", classname=place, name=case.name, time=f"{case.seconds:.3f}"
    )
    if case.outcome != "passed":
        kind = "failure" if case.outcome == "failed" else "skipped"
        ElementTree.SubElement(one, kind, message=_clean(with_left(case, case.why or case.outcome)))
    said = [f"{each.seconds:.3f} s  {each.name}: {each.found}" for each in case.operations]
    said += [f"{load.rate_cps:g} calls/s: {fate(load)}" for load in case.calls]
    if case.scenario is not None:
        said.append(scenarios.summary(case.scenario))
    said += [summary(load) for load in case.chains]
    if case.capacity is not None:
        said.append(capacity(case.capacity))
    if said:
        ElementTree.SubElement(one, "system-out").text = _clean("\n".join(said))


def _verdict(suite: ElementTree.Element, place: str, verdict: Verdict) -> None:
    one = ElementTree.SubElement(suite, "testcase", classname=place, name=verdict.criterion)
    if verdict.outcome == "missed":
        message = f"{found_of(verdict)}, {promised(verdict)}"
        ElementTree.SubElement(one, "failure", message=message)
    elif verdict.outcome == "not judged":
        ElementTree.SubElement(one, "error", message=_clean(verdict.why or ""))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
