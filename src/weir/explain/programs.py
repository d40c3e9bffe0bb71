# SPDX-License-Identifier: Apache-2.0
"""Programs of the user's, where they limit a trial."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from weir.explain.conclusion import Verdict
from weir.explain.cores import FULL_SHARE
from weir.explain.evidence import busy, lost, share
from weir.explain.trial import NOT_RETURNED, PROGRAM, TOO_LATE, Analysis, Overflow, only_outside
from weir.results.explanation import Evidence, Limit


@dataclass(frozen=True)
class Program:
    """One of the user's. How much of a core it had says little: one that polls takes all of it."""

    name: str
    title: str
    core: int | None
    share: float
    evidence: tuple[Evidence, ...]

    @property
    def known_as(self) -> str:
        return f"{self.title} ({self.name})"

    @property
    def had(self) -> str:
        return f"has core {self.core} for {self.share:.0%} of the time"


def _program_of(one: Analysis, name: str) -> Program:
    nodes = one.topology.functions() if one.topology is not None else ()
    title = next((node.nf for node in nodes if f"{PROGRAM}{node.name}" == name), None) or "a program"
    threads = [area for area in one.trial.areas if area.name.split(".")[0] == name]
    available = one.trial.duration_s * one.hz
    evidence = [
        share(f"{area.name} on core {area.core}", min(1.0, area.own_cycles / available), "by CPU time")
        for area in threads
    ]
    cycles = sum(area.own_cycles for area in threads)
    if cycles and one.trial.delivered:
        note = "by CPU time, idle polls among it: at most"
        per_packet = cycles / one.trial.delivered
        evidence.append(Evidence(what=name, value=per_packet, unit="cycles/packet", note=note))
    by_core = Counter[int]()
    for area in threads:
        by_core[area.core] += area.own_cycles
    core, most = max(by_core.items(), key=itemgetter(1), default=(None, 0))
    return Program(name, title, core, min(1.0, most / available), tuple(evidence))


def not_emptied(one: Analysis, worst: Overflow) -> Verdict:
    """It empties a queue that overflows, or does not return what it was given."""
    found = _program_of(one, worst.emptied_by[0])
    part = f"{worst.packets:,} packets, {worst.packets / one.trial.offered:.2%} of what was offered"
    if worst.reason == TOO_LATE:
        says = f"{found.known_as} gives {part}, only when the trial is over"
        says += _how_busy(found, "it is too slow", "it holds them in queues of its own, or waits")
    elif worst.reason == NOT_RETURNED:
        says = f"{found.known_as} does not return {part}"
        drops = "it drops them by itself, or in queues of its own"
        says += _how_busy(found, "it is too slow, or drops them by itself", drops)
    else:
        says = f"{worst.queue} overflows, and {found.known_as} should empty it: it is too slow, or away."
    limit = Limit(kind="program", name=found.name, core=found.core, sentence=says)
    return Verdict(limit, (*lost(one, [worst]), *found.evidence, *busy(one)))


def _how_busy(found: Program, full: str, idle: str) -> str:
    if found.core is None:
        return "; how busy it was is not in this result."
    if found.share >= FULL_SHARE:
        return f", and {found.had}: {full}."
    return f", though it {found.had} only: {idle}."


def slowest(one: Analysis, left: str) -> Verdict | None:
    """The program that fills a core, of a trial in which something was `left` in queues; or the one that
    alone can hold it: no core is full, so that it waits. None: no such."""
    names = {area.name.split(".")[0] for area in one.trial.areas if area.name.startswith(PROGRAM)}
    found = max((_program_of(one, name) for name in names), key=attrgetter("share"), default=None)
    alone = [f"{PROGRAM}{node.name}" for node in only_outside(one.topology)]
    if found is None or (found.share < FULL_SHARE and found.name not in alone):
        return None
    says = f"{left}, and {found.known_as} {found.had}: it is too slow."
    if found.share < FULL_SHARE:
        waits = "it waits for something else than its core (a timer, a lock, a device)"
        says = f"{left}, though {found.known_as} {found.had} only: {waits}."
    limit = Limit(kind="program", name=found.name, core=found.core, sentence=says)
    return Verdict(limit, (*found.evidence, *busy(one)))
