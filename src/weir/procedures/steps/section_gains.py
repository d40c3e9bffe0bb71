# SPDX-License-Identifier: Apache-2.0
"""What each step of a lab brings whose variants are switched on in turn: how much more it carries, and in how
many cycles fewer, than the step before it and than the first.

Rates compare as elsewhere: in pairs of the same round. Cycles are of the trials that confirm the rate, since
what a packet costs depends on the load; each round has a median of its own, and they compare in pairs too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weir.report import legend, summary
from weir.report.cycles import Cost, cost, fewer, in_functions, on_the_way
from weir.report.rates import NoRatio, Ratio, compared
from weir.results.result import Case, Result, Setup, Throughput


@dataclass(frozen=True)
class Gain:
    """From another step to this one: times as much; None where there is nothing to compare."""

    rate: Ratio | NoRatio | None = None
    functions: Ratio | None = None
    """Times as few cycles in the functions."""
    way: Ratio | None = None
    """Likewise of all that a packet passes but the tester."""


@dataclass(frozen=True)
class Step:
    """One of them, at one goal."""

    name: str
    setup: Setup
    case: Case | None
    """None: this machine cannot run it."""
    found: Throughput | None
    flags: str
    functions: Cost | None
    way: Cost | None
    before: Step | None
    """The last one before it with a rate; None: there is none."""
    to_before: Gain
    to_first: Gain

    @property
    def why(self) -> str | None:
        """Why it has no rate."""
        if self.found is not None and self.found.load_pps is not None:
            return None
        if self.setup.refused is not None:
            return f"left out: {self.setup.refused}"
        if self.case is None:
            return "not measured"
        return (
            (self.found.why if self.found is not None else None) or self.case.problem or "no rate was found"
        )


@dataclass(frozen=True)
class Ladder:
    """The steps of one chain, frame size and goal, in their order."""

    chain: str
    frame: str
    goal: str
    technology: str | None
    """Where variants are run under several."""
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """ "ran-upf, 128 B"."""
        parts = (self.chain, self.technology, summary.sizes(self.frame))
        return ", ".join(part for part in parts if part)


def ladders(result: Result, goal: str | None = None) -> list[Ladder]:
    """Of the first goal, or of that one; none of a lab without steps, or without a goal."""
    asked, goals = names(result), summary.goals(result)
    if not asked or not goals:
        return []
    chosen = goal or goals[0]
    technologies = list(dict.fromkeys(setup.technology for setup in result.setups))
    found = []
    for chain in summary.chains(result):
        for frame in summary.frames(result, chain):
            for technology in technologies:
                steps = tuple(_steps(result, asked, (chain, frame, technology), chosen))
                if sum(step.case is not None for step in steps) > 1:
                    several = len(technologies) > 1
                    found.append(Ladder(chain, frame, chosen, technology if several else None, steps))
    return found


def names(result: Result) -> list[str]:
    """As the lab has them."""
    said = result.spec.get("steps")
    return [str(one) for one in said] if isinstance(said, list) else []


def _steps(result: Result, asked: list[str], what: tuple[str, str, str], goal: str) -> Iterator[Step]:
    chain, frame, technology = what
    first: Step | None = None
    before: Step | None = None
    for name in asked:
        setup = _setup(result, name, chain, technology)
        if setup is None:
            continue
        step = _step(name, setup, frame, goal, (before, first))
        yield step
        if step.found is not None and step.found.load_pps:
            first, before = first or step, step


def _setup(result: Result, name: str, chain: str, technology: str) -> Setup | None:
    """Of a variant that is run under several technologies its name in reports has that one behind it."""
    called = {name, f"{name} {technology}"}
    every = (one for one in result.setups if one.chain == chain and one.technology == technology)
    return next((one for one in every if one.variant in called), None)


def _step(name: str, setup: Setup, frame: str, goal: str, others: tuple[Step | None, Step | None]) -> Step:
    case = next((one for one in setup.cases if one.frame == frame), None)
    rates = case.throughput if case is not None else []
    found = next((one for one in rates if one.goal == goal), None)
    functions, way = (cost(case, what, goal) for what in (in_functions, on_the_way)) if case else (None, None)
    before, first = others
    gains = [
        Gain()
        if other is None or found is None
        else Gain(compared(found, other.found), fewer(other.functions, functions), fewer(other.way, way))
        for other in (before, first)
    ]
    row = None if case is None or found is None else summary.Row(setup, case, found, None, None)
    flags = legend.flags_of(row, case) if case is not None else ""
    return Step(name, setup, case, found, flags, functions, way, before, *gains)
