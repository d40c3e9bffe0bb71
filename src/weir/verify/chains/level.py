# SPDX-License-Identifier: Apache-2.0
"""What the service level says of chains; and whether what was measured shows that a chain works at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from weir.lab.performance import ChainTraffic
from weir.lab.sla import Sla
from weir.measure.preflight import where_dropped
from weir.measure.service_level import service_level_verdicts
from weir.results.chains import ChainLoad
from weir.results.result import Verdict
from weir.results.throughput import Throughput
from weir.results.verification import SuiteResult
from weir.verify.case import NotSoError
from weir.verify.driver import CannotRunError

SUITE = "performance"


def chain_verdicts(suite: SuiteResult, sla: Sla, traffic: ChainTraffic) -> Iterator[Verdict]:
    """Of each load of the suite SUITE; of other suites: none. Of a case that ended before all of its traffic:
    each limit, not judged."""
    if suite.name != SUITE:
        return
    for case in suite.cases:
        if case.chains:
            yield from (_of(one, load.title) for load in case.chains for one in load.case.verdicts)
            for title in _left(case.chains, traffic):
                yield from _unknown(title, case.why or "it was not measured", sla)
        elif case.outcome == "failed":
            yield from _unknown(case.name, case.why, sla)


def _left(loads: list[ChainLoad], traffic: ChainTraffic) -> Iterator[str]:
    """Titles of what was not measured any more: loads come in the traffic's order."""
    last = loads[-1]
    for flows, frame in list(product(traffic.flows, map(str, traffic.frames)))[len(loads) :]:
        case = last.case.model_copy(update={"frame": frame})
        yield last.model_copy(update={"flows": flows, "case": case}).title


def _of(one: Verdict, title: str) -> Verdict:
    at = f" at {one.load}" if one.load else ""
    return one.model_copy(update={"criterion": f"{SUITE}: {title}: {one.criterion}{at}"})


def _unknown(name: str, why: str | None, sla: Sla) -> Iterator[Verdict]:
    for one in service_level_verdicts(sla, [], []):
        yield one.model_copy(update={"criterion": f"{SUITE}: {name}: {one.criterion}", "why": why})


def require_carried(loads: list[ChainLoad]) -> None:
    """NotSoError names the first load that a chain does not carry, and where packets are lost;
    CannotRunError what could not be measured."""
    for load in loads:
        problem = load.case.problem
        if problem is not None:
            raise NotSoError(f"{load.title}: {problem}")
        for one in load.case.throughput:
            if one.status == "irregular" and not one.unmeasured:
                why = (one.why or "no load is carried").rstrip(".")
                raise NotSoError(f"{load.title}: no {one.goal}: {why}{_where(load, one)}")
    for load in loads:
        for one in load.case.throughput:
            if one.status == "irregular":
                raise CannotRunError(f"{load.title}: {one.goal} could not be measured: {one.why}")


def _where(load: ChainLoad, one: Throughput) -> str:
    """Of the trial at the lightest load that lost too much."""
    lossy = [
        trial
        for trial in load.all_trials()
        if trial.purpose != "calibration" and trial.counted_loss_ratio > one.goal_loss_ratio
    ]
    if not lossy:
        return ""
    lightest = min(lossy, key=lambda trial: trial.intended_load_pps)
    lost = lightest.offered - lightest.delivered
    return (
        f"; at {lightest.intended_load_pps:,.0f} pps {lost} of {lightest.offered} packets were lost: "
        f"{where_dropped(lightest.drops)}"
    )
