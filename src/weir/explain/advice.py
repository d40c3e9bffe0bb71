# SPDX-License-Identifier: Apache-2.0
"""Which measures can help against a verdict, and what each can gain at most."""

from __future__ import annotations

from weir.explain.cores import Core, Part
from weir.explain.explanation import Advice
from weir.explain.gain import split, without
from weir.explain.measures import MEASURES, Effect, Measure
from weir.explain.seen import Seen
from weir.explain.verdict import Verdict
from weir.spec.nf import network_functions
from weir.store.result import Fingerprint, Setup

_WORTH = 0.005
_NUMBERED: dict[Effect, str] = {
    "part": "if the limiting part cost nothing",
    "deciding stages": "if stages that decide by flow cost nothing",
    "ports": "if receiving and sending cost nothing",
    "second core": "if a hand-over cost nothing",
    "half": "if dispatching cost nothing, with two workers",
    "tester": "without the tester on that core",
}


def advice(one: Seen, verdict: Verdict, setup: Setup, machine: Fingerprint) -> list[Advice]:
    """Most gain first, then those without a number, in the order of the table; none that cannot gain."""
    found = [
        _said(one, verdict, measure)
        for measure in MEASURES
        if verdict.limit.kind in measure.against and _can_be(measure, setup, machine)
    ]
    told = [each for each in found if each is not None]
    return sorted(told, key=lambda each: -(each.gain_at_most or 0.0))


def _can_be(measure: Measure, setup: Setup, machine: Fingerprint) -> bool:
    """What is done already, or cannot be done there, is not advised."""
    functions = setup.topology.functions() if setup.topology is not None else ()
    if measure.effect == "deciding stages":
        return bool(functions) and not any(node.fastpath_flows for node in functions)
    if "NUMA" in measure.name:
        return machine.numa_nodes > 1
    named = {"pipeline", "dispatch", "separated"} & set(measure.name.rstrip(")").split())
    return not any(node.architecture in named for node in functions)


def _said(one: Seen, verdict: Verdict, measure: Measure) -> Advice | None:
    gain = None
    if verdict.core is not None and measure.effect != "none":
        gain = _gain(one, verdict.core, verdict.part, measure.effect)
        if gain < _WORTH:
            return None
    return Advice(
        measure=measure.name,
        factor=measure.factor,
        metric=measure.metric,
        gain_at_most=gain,
        gain_is=_NUMBERED[measure.effect] if gain is not None else "not in the ledger: measure it",
        when_not=measure.when_not,
    )


def _gain(one: Seen, core: Core, part: Part | None, effect: Effect) -> float:
    functions = network_functions()

    def keeps(other: Part) -> float:
        if effect == "deciding stages":
            follows = other.kind == "stage" and other.nf in functions and functions[other.nf].decides
            return 0.0 if follows else 1.0
        if effect == "ports":
            return 0.0 if other.kind == "rest" and not other.tester else 1.0
        if effect == "tester":
            return 0.0 if other.tester else 1.0
        if effect == "half":
            return 1.0 if other.tester else 0.5
        return 0.0 if other is part else 1.0

    return split(one.cores, core) if effect == "second core" else without(one.cores, core, keeps)
