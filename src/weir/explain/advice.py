# SPDX-License-Identifier: Apache-2.0
"""Which measures can help against a verdict, and what each can gain at most."""

from __future__ import annotations

from weir.explain.cores import Core, Part
from weir.explain.gain import Keeps, split, without
from weir.explain.measures import MEASURES, Effect, Measure
from weir.explain.seen import Seen
from weir.explain.verdict import Verdict
from weir.lab.nf import network_functions
from weir.results.explanation import Advice
from weir.results.result import Fingerprint, Setup

_WORTH = 0.005
_NETFILTER = frozenset({"netfilter", "conntrack"})
"""As fabric's table of kernel functions names them."""
_NUMBERED: dict[Effect, str] = {
    "part": "if the limiting part cost nothing",
    "deciding stages": "if stages that decide by flow cost nothing",
    "ports": "if receiving and sending cost nothing",
    "second core": "if a hand-over cost nothing",
    "pollers": "if two threads shared the ports evenly",
    "netfilter": "if netfilter cost nothing",
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
    if measure.effect == "netfilter":
        return setup.topology is None or setup.topology.bridge_netfilter is not False
    if "NUMA" in measure.name:
        return machine.numa_nodes > 1
    named = {"pipeline", "dispatch", "separated"} & set(measure.name.rstrip(")").split())
    return not any(node.architecture in named for node in functions)


def _said(one: Seen, verdict: Verdict, measure: Measure) -> Advice | None:
    gain = None
    if verdict.core is not None and measure.effect != "none":
        gain = _gain(one, verdict.core, verdict.part, measure.effect)
        if gain < _WORTH and not _unseen(verdict.part, measure.effect):
            return None
    if gain is not None and gain < _WORTH:
        gain = None
    return Advice(
        measure=measure.name,
        factor=measure.factor,
        metric=measure.metric,
        gain_at_most=gain,
        gain_is=_NUMBERED[measure.effect] if gain is not None else "not in the ledger: measure it",
        when_not=measure.when_not,
    )


def _unseen(part: Part | None, effect: Effect) -> bool:
    """Its gain is not small but unknown: without sampled stacks nobody knows what the kernel does."""
    return effect == "netfilter" and part is not None and not part.inside


def _gain(one: Seen, core: Core, part: Part | None, effect: Effect) -> float:
    if effect == "second core":
        return split(one.cores, core)
    return without(one.cores, core, _KEEPS.get(effect, lambda other: 0.0 if other is part else 1.0))


def _follows(part: Part) -> bool:
    functions = network_functions()
    return part.kind == "stage" and part.nf in functions and functions[part.nf].decides


def _netfilter(part: Part) -> float:
    return sum(cycles for name, cycles in part.inside if name in _NETFILTER) / part.cycles


_KEEPS: dict[Effect, Keeps] = {
    "deciding stages": lambda part: 0.0 if _follows(part) else 1.0,
    "ports": lambda part: 0.0 if part.kind == "rest" and not part.tester else 1.0,
    "tester": lambda part: 0.0 if part.tester else 1.0,
    "pollers": lambda part: 0.5 if part.kind == "switch" else 1.0,
    "netfilter": lambda part: 1.0 - _netfilter(part),
    "half": lambda part: 1.0 if part.tester else 0.5,
}
