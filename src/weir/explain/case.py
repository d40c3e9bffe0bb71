# SPDX-License-Identifier: Apache-2.0
"""Explanations of the cases of a result."""

from __future__ import annotations

from dataclasses import dataclass

from weir.explain.advice import advice, second
from weir.explain.areas import areas
from weir.explain.connections import of_connections
from weir.explain.evidence import offloaded
from weir.explain.trial import analysis, shows_most
from weir.explain.verdict import judge
from weir.results.explanation import CaseExplanation, Explanation, Limit
from weir.results.result import Case, Fingerprint, Result, Setup


@dataclass(frozen=True)
class CaseFilter:
    """Which cases; None: all."""

    technology: str | None = None
    """Or a variant."""
    chain: str | None = None
    frame: str | None = None

    def has(self, setup: Setup, frame: str) -> bool:
        """Whether that case is among them."""
        return (
            self.technology in (None, setup.technology, setup.name)
            and self.chain in (None, setup.chain)
            and self.frame in (None, frame)
        )


def explain(result: Result, chosen: CaseFilter | None = None) -> Explanation:
    """Every case that is chosen, in the order of the result."""
    chosen = chosen or CaseFilter()
    return Explanation(
        result=result.id,
        cases=[
            one
            for setup in result.setups
            for case in setup.cases
            if case.by_the_tester and chosen.has(setup, case.frame)
            for one in _of_case(setup, case, result.fingerprint)
        ],
    )


def _of_case(setup: Setup, case: Case, machine: Fingerprint) -> list[CaseExplanation]:
    """Of connections one for each goal."""
    return [*of_connections(setup, case, machine)] or [explain_case(setup, case, machine)]


def explain_case(setup: Setup, case: Case, machine: Fingerprint) -> CaseExplanation:
    """One case, by the one of its trials that shows most."""
    trial = shows_most(case)
    if trial is None or not machine.tsc_hz:
        return CaseExplanation(
            technology=setup.name,
            chain=setup.chain,
            frame=case.frame,
            limit=_without_ledger(case),
        )
    one = analysis(trial, setup.topology, machine.tsc_hz, case)
    verdict = judge(one)
    # What was late since others had the cores was carried, too.
    all_came = trial.delivered >= trial.offered and trial.disturbed
    not_used = trial.invalid_because if not trial.valid and one.silent is None else []
    return CaseExplanation(
        technology=setup.name,
        chain=setup.chain,
        frame=case.frame,
        carried_pps=one.offered_pps if all_came else one.carried_pps,
        offered_pps=one.offered_pps,
        purpose=trial.purpose,
        not_used=not_used,
        limit=_of_a_trial(verdict.limit, not_used),
        evidence=[*verdict.evidence, *offloaded(trial.areas)],
        areas=areas(one),
        second=second(one, verdict),
        advice=advice(one, verdict, setup, machine),
    )


def _of_a_trial(limit: Limit, not_used: list[str]) -> Limit:
    if not not_used:
        return limit
    return limit.model_copy(update={"sentence": f"Of a trial that was not used: {limit.sentence}"})


def _without_ledger(case: Case) -> Limit:
    if case.throughput and all(found.lab_bound for found in case.throughput):
        return Limit(
            kind="unknown",
            name="unknown",
            sentence="All was carried that `measure.max_load_pps` lets be sent; the chain may do more.",
        )
    if any(found.tester_bound for found in case.throughput):
        return Limit(
            kind="tester",
            name="tester",
            sentence="The rate is within 10 % of what the tester itself can do; the chain may do more.",
        )
    why = case.problem or (
        "a soak keeps one load, and looks at no area's time; explain a run of the same lab instead"
        if case.soak is not None
        else "no trial of it has a ledger of its areas; run the lab again with this Weir"
    )
    return Limit(kind="unknown", name="unknown", sentence=f"Cannot tell: {why.rstrip('.')}.")
