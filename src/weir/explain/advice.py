# SPDX-License-Identifier: Apache-2.0
"""What limits after the limit is gone, which measures can help, and what each can gain at most.

Gains follow from the cycles that a trial counted, rate = min over cores of f / Σ cycles. They are bounds, not
promises: what a measure itself costs (hand-over between cores, look-ups in a fast path) is taken as nothing,
and cycles a packet are taken to stay as they are on other cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from weir.base import packet_rate
from weir.base.node import Node
from weir.base.topology import Topology
from weir.explain.conclusion import Verdict
from weir.explain.cores import Core, CostItem
from weir.explain.measures import MEASURES, Effect, Measure
from weir.explain.trial import Analysis
from weir.lab.nf import network_functions
from weir.results.explanation import Advice, Second
from weir.results.result import Fingerprint, Setup
from weir.results.tenants import RECORD

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


def advice(one: Analysis, verdict: Verdict, setup: Setup, machine: Fingerprint) -> list[Advice]:
    """Most gain first, then those without a number, in the order of the table; none that cannot gain."""
    found = [
        _said(one, verdict, measure)
        for measure in MEASURES
        if verdict.limit.kind in measure.against and _can_be(measure, setup, machine)
    ]
    advised = [each for each in found if each is not None]
    return sorted(advised, key=lambda each: -(each.gain_at_most or 0.0))


def _can_be(measure: Measure, setup: Setup, machine: Fingerprint) -> bool:
    """What is done already, or cannot be done there, is not advised."""
    if measure.of_clouds != any(RECORD in case.records for case in setup.cases):
        return False
    functions = setup.topology.functions() if setup.topology is not None else ()
    if measure.effect == "deciding stages":
        return bool(functions) and not any(node.fastpath_flows for node in functions)
    if measure.effect == "netfilter":
        return setup.topology is None or setup.topology.bridge_netfilter is not False
    if measure.where == "flows can be offloaded":
        return setup.topology is not None and any(
            _could_offload(setup.topology, node) for node in setup.topology.functions()
        )
    if measure.where == "several NUMA nodes":
        return machine.numa_nodes > 1
    return measure.architecture is None or all(
        node.architecture != measure.architecture for node in functions
    )


def _could_offload(topology: Topology, node: Node) -> bool:
    """It has entries, between two packet sockets on ends of veth pairs, and keeps them."""
    kinds = {port.kind for port in topology.ports if port.node == node.name}
    remembers = node.fastpath_flows > 0 and node.offload is None
    return remembers and node.architecture == "run-to-completion" and kinds == {"packet_socket"}


def _said(one: Analysis, verdict: Verdict, measure: Measure) -> Advice | None:
    gain = None
    if verdict.core is not None and measure.effect != "none":
        gain = _gain(one, verdict.core, verdict.part, measure.effect)
        if gain < _WORTH and not _unseen(verdict.part, measure.effect):
            return None
    if gain is not None and gain < _WORTH:
        gain = None
    gain_is = _NUMBERED[measure.effect] if gain is not None else "not in the ledger: measure it"
    if gain is not None and not one.trial.valid:
        gain, gain_is = None, "not said of a trial that was not used: measure it"
    return Advice(
        measure=measure.name,
        factor=measure.factor,
        metric=measure.metric,
        gain_at_most=gain,
        gain_is=gain_is,
        when_not=measure.when_not,
    )


def _unseen(part: CostItem | None, effect: Effect) -> bool:
    """Its gain is not small but unknown: without sampled stacks nobody knows what the kernel does."""
    return effect == "netfilter" and part is not None and not part.inside


def _gain(one: Analysis, core: Core, part: CostItem | None, effect: Effect) -> float:
    if effect == "second core":
        return split(one.cores, core)
    return without(one.cores, core, _KEEPS.get(effect, lambda other: 0.0 if other is part else 1.0))


def _follows(part: CostItem) -> bool:
    functions = network_functions()
    return part.kind == "stage" and part.nf in functions and functions[part.nf].decides


def _netfilter(part: CostItem) -> float:
    return sum(cycles for name, cycles in part.inside if name in _NETFILTER) / part.cycles


Keeps = Callable[[CostItem], float]
"""The share of a part's cycles that is left."""
_KEEPS: dict[Effect, Keeps] = {
    "deciding stages": lambda part: 0.0 if _follows(part) else 1.0,
    "ports": lambda part: 0.0 if part.kind == "rest" and not part.tester else 1.0,
    "tester": lambda part: 0.0 if part.tester else 1.0,
    "pollers": lambda part: 0.5 if part.kind == "switch" else 1.0,
    "netfilter": lambda part: 1.0 - _netfilter(part),
    "half": lambda part: 1.0 if part.tester else 0.5,
}


def without(cores: Sequence[Core], limit: Core, keeps: Keeps) -> float:
    """Gain in rate, as a share of it, where the limiting core's parts keep so much of their cycles."""
    left = sum(part.cycles * keeps(part) for part in limit.parts)
    return _gained(cores, limit, [left])


def split(cores: Sequence[Core], limit: Core) -> float:
    """Gain where the functions' parts on the limiting core are cut in two, at the best place in their order
    of cost, and one half gets a core of its own."""
    stays = sum(part.cycles for part in limit.parts if part.tester)
    moving = [part.cycles for part in limit.parts if not part.tester]
    total = sum(moving)
    best = min((max(stays + first, total - first) for first in accumulate(moving)), default=stays)
    return _gained(cores, limit, [best])


def _gained(cores: Sequence[Core], limit: Core, left: Sequence[float]) -> float:
    others = [core.cycles for core in cores if core is not limit]
    return max(0.0, limit.cycles / max(1e-9, *left, *others) - 1)


_OF_A_CORE = frozenset({"stage", "ports", "switch", "kernel", "tester"})


def second(one: Analysis, verdict: Verdict) -> Second | None:
    """The next core by cycles a packet; on a single core the next part. None where no core was the limit, or
    of a trial that was not used.

    A core that is not full takes its packets in smaller bursts, which cost more each: it is at most as far
    on as this says.
    """
    core, part = verdict.core, verdict.part
    if not one.trial.valid or core is None or part is None or verdict.limit.kind not in _OF_A_CORE:
        return None
    others = [other for other in one.cores if other is not core and other.parts]
    if others:
        return _core(one, core, max(others, key=lambda other: other.cycles))
    rest = [other for other in core.parts if other is not part and other.tester == part.tester]
    if not rest:
        return None
    return Second(
        name=rest[0].name(),
        core=core.number,
        cycles_per_packet=rest[0].cycles,
        share_of_limit=rest[0].cycles / part.cycles,
        sentence=f"{rest[0].name()} on the same core takes {rest[0].cycles / part.cycles:.0%} as much.",
    )


def _core(one: Analysis, core: Core, other: Core) -> Second:
    share = other.cycles / core.cycles
    name = other.dearest().name()
    return Second(
        name=name,
        core=other.number,
        cycles_per_packet=other.cycles,
        share_of_limit=share,
        sentence=(
            f"Core {other.number}, most of it {name}, spends {share:.0%} as many cycles on a packet: alone "
            f"it would carry {packet_rate.said(one.hz / other.cycles)} or a little more."
        ),
    )
