# SPDX-License-Identifier: Apache-2.0
"""Whether a cloud's services do their work, and in time: the 56 scenarios of Chung and Wang's Table A2 (3.1),
each with a limit on how many of its iterations fail and on how long one takes."""

from __future__ import annotations

from functools import partial

from weir.base.limit_text import found_text, limit_text
from weir.lab.application import Application
from weir.lab.sut import SutFile
from weir.results.scenario import ScenarioLoad
from weir.verify.case import Case, NotSoError, Running, Suite, percent
from weir.verify.driver import Driver, ScenarioDriver, ScenarioWanted
from weir.verify.sanity import counterparts
from weir.verify.sanity.table import SCENARIOS, Scenario
from weir.verify.sanity.times import ITERATION, load

_CAUSES = 2


def require(driver: Driver, _application: Application) -> None:
    """WeirError where this machine lacks what does them."""
    if isinstance(driver, ScenarioDriver):
        driver.require_scenarios()


def done(run: Running, wanted: ScenarioWanted) -> None:
    """One scenario, as often as wanted; NotSoError if a limit is missed."""
    if isinstance(run.driver, ScenarioDriver):
        with run.scenario(wanted) as found:
            run.scenario_load = load(found, wanted)
    else:
        counterpart = counterparts.COUNTERPARTS[wanted.name]  # or the case lacks it
        run.scenario_load = load(counterparts.iterations(run, counterpart, wanted), wanted)
    judge(run.scenario_load)


def judge(found: ScenarioLoad) -> None:
    """NotSoError with the limit, and what was found."""
    ratio = found.failed / found.planned
    if ratio > found.failure_ratio_limit:
        causes = "; ".join(f"{times} × {cause}" for cause, times in list(found.causes.items())[:_CAUSES])
        raise NotSoError(
            f"{found.failed} of {found.planned} iterations failed, at most "
            f"{percent(found.failure_ratio_limit)} may: {causes}"
        )
    (whole,) = [one for one in found.operations if one.name == ITERATION]
    limit_s, longest_s = found.time_limit_s, found.longest_s
    if limit_s is not None and longest_s is not None and longest_s > limit_s:
        which = " (one that failed)" if whole.max_s is None or whole.max_s < longest_s else ""
        took = f"{found_text(longest_s, limit_s)} s{which}"
        raise NotSoError(f"an iteration took {took}, and may take {limit_text(limit_s)} s")


def lacks(driver: Driver, *, scenario: str) -> str | None:
    """Why a cloud without an API cannot be asked for it; None: it can."""
    if isinstance(driver, ScenarioDriver) or scenario in counterparts.COUNTERPARTS:
        return None
    return "it has no counterpart in a cloud without an API"


def wanted(scenario: Scenario, sut: SutFile) -> ScenarioWanted:
    """By the file: a limit of the scenario's own, of all, or of the table."""
    given, sla = sut.sanity, sut.sla.scenarios
    own = sla.own.get(scenario.name)
    limit_s = (own.time_s.max if own is not None else None) or sla.time_s.max or scenario.time_s
    ratio = own.failure_ratio if own is not None and own.failure_ratio is not None else sla.failure_ratio
    return ScenarioWanted(
        scenario.name,
        given.iterations,
        given.concurrency,
        given.projects,
        given.users_per_project,
        ratio,
        limit_s,
    )


def cases(sut: SutFile) -> tuple[Case, ...]:
    """One for each scenario."""
    return tuple(
        Case(one.name, one.title, partial(done, wanted=wanted(one, sut)), partial(lacks, scenario=one.name))
        for one in SCENARIOS
    )


SUITE = Suite(
    "sanity",
    "Do its services do their work, and in time?",
    (),
    planned=cases,
    require=require,
    fidelity=(
        "Scenarios of an OpenStack cloud are Rally's, which looks each 0.25 s whether something is done: "
        "times of what is not done at once are too long by up to that. Images that they upload are empty "
        "disks of 1 MiB, unless the file has `openstack.image_file`.",
    ),
    measures=True,
)
