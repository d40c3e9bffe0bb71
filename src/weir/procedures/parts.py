# SPDX-License-Identifier: Apache-2.0
"""Parts of a chain on other hosts than the tester's: built with it, counted with it, taken down with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from weir.base.started import boot_id
from weir.base.topology import Topology
from weir.hosts.parts import (
    BuildPart,
    CountPart,
    PartAnswer,
    PartCounted,
    PartDown,
    PartError,
    PartFailed,
    PartOrder,
    PartStands,
    TakeDownPart,
    Talk,
)
from weir.measure import tester
from weir.measure.spans import Count, at_wires, lost_between
from weir.procedures.elsewhere import NOTHING, StandingElsewhere
from weir.results.setup import OtherHost

BUILD_S, COUNT_S, DOWN_S = 180.0, 30.0, 90.0
"""How long a part may take for that."""
READS = 5
"""Of all hosts, at most, until two in a row agree."""


@dataclass(frozen=True)
class StandingParts:
    """All other parts of a chain, which stand."""

    talk: Talk
    topology: Topology
    parts: Mapping[str, PartStands]
    """By host."""

    _lost: dict[str, Count] = field(default_factory=dict)
    """Between hosts, when nothing moved there the last time."""

    def counters(self, own: Callable[[], Sequence[tester.Counter]]) -> Sequence[tester.Counter]:
        """What all parts count, and what is lost between hosts; `own`: what this part counts now. PartError.

        Hosts are read one after the other. A packet that goes from one to another meanwhile would look like a
        lost one, so all are read until two readings agree. Where they do not, nothing is lost as far as is
        known: what is missing is unaccounted for.
        """
        before: dict[str, int] = {}
        counted: list[tester.Counter] = []
        for _ in range(READS):
            counted = [*own(), *self._there()]
            now = at_wires(self.topology.spans, counted)
            if now == before:
                self._lost.update({one.place: one for one in lost_between(self.topology.spans, counted)})
                break
            before = now
        return [*counted, *self._lost.values()]

    def _there(self) -> list[tester.Counter]:
        answers = _all(self.talk, self.parts, CountPart(), COUNT_S)
        counted = (answer.counts for answer in answers.values() if isinstance(answer, PartCounted))
        return [one for counts in counted for one in counts]

    def fidelity(self) -> Sequence[str]:
        """What is said of the other parts, in sentences."""
        said = []
        for host, part in self.parts.items():
            here, own = part.fingerprint, ", the tester's own machine" if part.boot_id == boot_id() else ""
            said.append(
                f"Host {host}{own}: {here.cpu}, {here.cores} cores, Linux {here.kernel}. What others do with "
                "its cores is not taken out of the measurement."
            )
            said += [f"On {host}: {one}" for one in part.fidelity]
        return said

    def other_hosts(self) -> Sequence[OtherHost]:
        """Their machines, and what of the chain is there."""
        return [
            OtherHost(
                host=host,
                nodes=[node.name for node in self.topology.nodes if node.host == host],
                fingerprint=part.fingerprint,
            )
            for host, part in self.parts.items()
        ]


@dataclass(frozen=True)
class Parts:
    """How the other hosts are reached, and which of the lab's set-ups they are asked for."""

    talk: Talk
    name: str
    """Of the technology or variant."""
    chain: str

    @contextmanager
    def standing(self, topology: Topology) -> Iterator[StandingElsewhere]:
        """PartError."""
        others = [host for host in _hosts(topology) if host != topology.host]
        if not others:
            yield NOTHING
            return
        order = BuildPart(name=self.name, chain=self.chain, deployment=topology.deployment)
        try:
            stand = {}
            for host in others:  # one after the other: the next one need not begin where one has failed
                (built,) = _all(self.talk, (host,), order, BUILD_S).values()
                assert isinstance(built, PartStands), built
                stand[host] = built
            yield StandingParts(self.talk, topology, stand)
        finally:
            _take_down(self.talk, others)


def _hosts(topology: Topology) -> list[str]:
    """With an end of a wire between hosts, or anything else of it."""
    return [*dict.fromkeys(node.host for node in topology.nodes)] if topology.spans else []


def _take_down(talk: Talk, hosts: Sequence[str]) -> None:
    """PartError for what is left of a part; one that does not answer any more takes itself down."""
    left = []
    for host in hosts:
        talk.tell(host, TakeDownPart())
    for host in hosts:
        with suppress(PartError):
            while not isinstance(answer := talk.hear(host, DOWN_S, ending=True), PartDown):
                pass  # what it was asked before
            left += [f"{host}: {answer.left}"] if answer.left is not None else []
    if left:
        raise PartError("; ".join(left))


def _all(
    talk: Talk, hosts: Sequence[str] | Mapping[str, object], order: PartOrder, within_s: float
) -> dict[str, PartAnswer]:
    """The answer of each; all are asked before the first is heard. PartError after all were heard."""
    for host in hosts:
        talk.tell(host, order)
    answers, failed = {}, []
    for host in hosts:
        try:
            answers[host] = talk.hear(host, within_s)
        except PartError as error:
            failed.append(str(error))
    failed += [f"{host}: {one.why}" for host, one in answers.items() if isinstance(one, PartFailed)]
    failed += [
        f"{host} does not stand any more" for host, one in answers.items() if isinstance(one, PartDown)
    ]
    if failed:
        raise PartError("; ".join(failed))
    return answers
