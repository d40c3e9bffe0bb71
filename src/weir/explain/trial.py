# SPDX-License-Identifier: Apache-2.0
"""A trial taken apart: the one of a case that shows most, its cores, and where its packets were lost.

Best is a trial with a little too much load, and a ledger of its areas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.base.node import Node
from weir.base.si import US_PER_S
from weir.base.topology import Topology
from weir.explain.cores import Core, cores
from weir.lab.execution import SWITCH_THREAD_KINDS
from weir.results.result import Case, Ceiling, Drop, StreamCount, Trial, slowness

LOST_SHARE = 0.001
"""Losing less than this is no overload."""
FAR_TOO_MUCH_LEAVES = 0.5
"""Share that still comes through: where less does, a trial shows what overload does, not what its beginning
did."""
_PURPOSES = ("calibration", "confirm", "curve")
"""Best last."""


def shows_most(case: Case) -> Trial | None:
    """Best first: balanced accounts, a valid one, loss that counts, the curve (it goes a little beyond the
    throughput), more load. Of given loads, and no search, only trials at these. Where even the lowest load
    was too much, of the trials that lost some of it; where nothing came through any more, of those that show
    it."""
    ledgered = case.ledgered
    too_much_pps = _lowest_too_much_pps(case)
    lowest = [one for one in ledgered if one.intended_load_pps <= too_much_pps and lossy(one)]
    stopped = any(one.status == "irregular" and one.loss_ratio == 1 for one in case.throughput)
    silent = [one for one in ledgered if stopped and not one.delivered]
    return max(silent or lowest or ledgered, key=_merit, default=None)


def _lowest_too_much_pps(case: Case) -> float:
    """0 where some goal found a rate."""
    if any(one.load_pps is not None for one in case.throughput):
        return 0.0
    return max((one.upper_bound_pps or 0.0 for one in case.throughput), default=0.0)


def lossy(trial: Trial) -> bool:
    """Whether more was lost, or left in queues, than by accident, of what counts."""
    return trial.counted_offered > 0 and trial.counted_lost >= LOST_SHARE * trial.counted_offered


def lost_some(trial: Trial) -> bool:
    """Whether more was lost than by accident, be it in time that does not count."""
    return trial.offered - trial.delivered >= LOST_SHARE * trial.offered


def balanced(trial: Trial) -> bool:
    """Whether its counters can be believed, about."""
    return abs(trial.unaccounted) <= LOST_SHARE * trial.offered and not trial.duplicates


def _merit(trial: Trial) -> tuple[bool, bool, bool, bool, int, float]:
    return (
        balanced(trial),
        trial.valid,
        lossy(trial),
        trial.delivered >= FAR_TOO_MUCH_LEAVES * trial.offered,
        _PURPOSES.index(trial.purpose) if trial.purpose in _PURPOSES else -1,
        trial.intended_load_pps,
    )


SWITCH = "switch"
PROGRAM = "program:"
"""Begins the names of a program's areas, before its node's."""
_NO_ROOM = frozenset({"tx_queue_full"})
_NOT_TAKEN = frozenset({"rx_missed", "rx_nombuf", "rx_ring_full"})
_UNREAD = frozenset({"socket_full"})
NOT_RETURNED = "not_returned"
"""Why packets are lost in a function of which nobody knows more."""
TOO_LATE = "too_late"
"""Why packets are lost that come after the trial's end."""
_BACKLOG_FULL = frozenset({"interface_tx_dropped", "interface_rx_dropped"})


def only_outside(topology: Topology | None) -> list[Node]:
    """The program that alone of a chain's functions is not in weir-dp, so that only it can hold packets for
    long; none where there is none, or another one."""
    found = [node for node in topology.functions() if not node.in_weir_dp] if topology is not None else []
    return found if len(found) == 1 and found[0].kind == "program" else []


@dataclass(frozen=True)
class Overflow:
    """Packets that found a queue full."""

    queue: str
    """For people: "ring f1.right.1", "wire0 from tester.left"."""
    place: str
    reason: str
    packets: int
    emptied_by: tuple[str, ...]
    """Names of areas, or "switch" where its threads are not in the result, or of a program's node behind
    PROGRAM; none: not known."""


@dataclass(frozen=True)
class Decision:
    """Packets that a function dropped."""

    stage: str
    """As "f1/firewall"."""
    place: str
    reason: str
    packets: int


@dataclass(frozen=True)
class Losses:
    """Most packets first."""

    overflows: tuple[Overflow, ...]
    decisions: tuple[Decision, ...]

    @property
    def overflowed(self) -> int:
        return sum(one.packets for one in self.overflows)

    @property
    def decided(self) -> int:
        return sum(one.packets for one in self.decisions)


def losses(trial: Trial, topology: Topology | None) -> Losses:
    """All of a trial's drops."""
    queues = _Queues(trial, topology)
    stages = {area.name for area in trial.areas}
    stages |= _without_areas(topology) if topology is not None else set()
    overflows, decisions = [], []
    for drop in sorted(trial.drops, key=lambda one: -one.packets):
        stage = drop.decided_by
        if stage is not None and (not stages or stage.partition("/")[0] in stages):
            decisions.append(Decision(stage, drop.place, drop.reason, drop.packets))
        else:
            overflows.append(queues.overflow(drop))
    return Losses(tuple(overflows), tuple(decisions))


def _without_areas(topology: Topology) -> set[str]:
    """Functions of which a trial has no areas: those in namespaces, and those on other hosts."""
    nodes = topology.functions()
    return {node.name for node in nodes if node.in_namespace or node not in topology.here()}


class _Queues:
    """Who empties what."""

    def __init__(self, trial: Trial, topology: Topology | None) -> None:
        self._topology = topology
        self._ports = {port.name for port in topology.ports} if topology else set()
        self._emptied_by: dict[str, str] = {}
        self._filled: dict[str, list[str]] = {}
        self._switch = [area.name for area in trial.areas if area.kind in SWITCH_THREAD_KINDS and area.paths]
        self._kernel = [area.name for area in trial.areas if area.kind == "softirq"]
        for area in trial.areas:
            if area.kind == "receiver":
                self._emptied_by[area.name.replace("receiver", "tester", 1)] = area.name
            for path in area.paths:
                self._filled[f"{area.name}/{path.name}"] = path.outputs
                self._emptied_by |= dict.fromkeys(path.inputs, area.name)
        self._only_program = [f"{PROGRAM}{node.name}" for node in only_outside(topology)]
        for node in topology.functions() if topology is not None else ():
            if node.kind == "program" and topology is not None:
                own = [port.name for port in topology.ports if port.node == node.name]
                self._emptied_by |= dict.fromkeys([*own, f"{node.name}/program"], f"{PROGRAM}{node.name}")

    def overflow(self, drop: Drop) -> Overflow:
        """The queue behind a drop."""
        name, takers = drop.place, list[str]()
        if drop.place in self._filled and drop.reason in _NO_ROOM:
            outputs = self._filled[drop.place]
            found = [self._behind(queue) for queue in outputs]
            name = found[0][0] if len(found) == 1 else f"rings {outputs[0]} to {outputs[-1]}"
            takers = [taker for _, one in found for taker in one]
        elif drop.place in self._ports and drop.reason in _NO_ROOM:
            name, takers = self._behind(drop.place)
        elif drop.place in self._ports and drop.reason in _NOT_TAKEN:
            name, takers = f"receive queue of {drop.place}", self._taker(drop.place)
        elif drop.place.partition(":")[0] == SWITCH:
            port = drop.place.partition(":")[2]
            to_port = port in self._ports and drop.reason in _NO_ROOM
            name = f"switch port {port}" if port else SWITCH
            takers = self._taker(port) if to_port else self._switched(drop.place)
        elif drop.reason == NOT_RETURNED:
            takers = self._taker(drop.place)
        elif drop.reason == TOO_LATE:
            name, takers = f"what came too late at {drop.place}", self._only_program
        elif drop.reason in _UNREAD:
            name, takers = f"receive queue of {drop.place}", self._taker(drop.place)
        if drop.reason in _BACKLOG_FULL and self._kernel:
            name, takers = f"backlog of {drop.place}", self._kernel
        return Overflow(name, drop.place, drop.reason, drop.packets, tuple(dict.fromkeys(takers)))

    def _taker(self, queue: str) -> list[str]:
        return [self._emptied_by[queue]] if queue in self._emptied_by else []

    def _switched(self, place: str) -> list[str]:
        """Who takes what waits at the switch's end: the thread that polls it, or all that switch."""
        return self._taker(place) or self._switch or self._kernel or [SWITCH]

    def _behind(self, queue: str) -> tuple[str, list[str]]:
        """What a full ring or sending port leads to."""
        if self._topology is None or queue not in self._ports:
            return f"ring {queue}", self._taker(queue)
        link = self._topology.links[self._topology.port(queue).link]
        if link.network:
            return f"{queue} into {link.name}", self._switched(f"{SWITCH}:{queue}")
        peer = link.right if queue == link.left else link.left
        return f"{link.name} from {queue}", self._taker(peer)


@dataclass(frozen=True)
class Analysis:
    """One trial, taken apart."""

    trial: Trial
    topology: Topology | None
    hz: float
    ceiling: Ceiling | None
    mean_frame_bytes: float
    cores: tuple[Core, ...]
    losses: Losses
    slowed: Mapping[int, float]
    """By core: how much longer it took for the same work than at its best in the case's trials."""
    silent: Trial | None
    """Of a case that was given up, since nothing of a direction comes through: a trial of a light load."""
    problem: str | None
    """Why the case was given up."""

    @property
    def offered_pps(self) -> float:
        return self.trial.offered / self.trial.duration_s

    @property
    def carried_pps(self) -> float:
        """While packets were sent: what queues held then and gave afterwards, a second's work and more of a
        slow function, was carried in the time of their delay besides."""
        seconds = self.trial.duration_s
        if not self.trial.streams:
            return self.trial.delivered / seconds
        return sum(
            one.delivered / (seconds * _in_time(one) + _behind_s(one))
            for one in self.trial.streams
            if one.delivered
        )

    def core_of(self, area: str) -> Core | None:
        """The core that runs it."""
        numbers = [one.core for one in self.trial.areas if one.name == area]
        return next((core for core in self.cores if core.number in numbers), None)


def _in_time(stream: StreamCount) -> float:
    """Of the time of sending, how much had gone by when the last packet left that did not come too late."""
    return stream.delivered / (stream.delivered + stream.too_late)


def _behind_s(stream: StreamCount) -> float:
    """By how much the last packets came later than those before any queue: their delay, whether it grew or a
    queue was full from the beginning; of one that was seldom behind, little."""
    seen = stream.latency
    return 0.0 if seen is None else min(seen.p99_us, 2 * seen.p50_us) / US_PER_S


def analysis(trial: Trial, topology: Topology | None, hz: float, case: Case) -> Analysis:
    """Takes a trial of a case apart. `hz`: rate of the time-stamp counter."""
    return Analysis(
        trial,
        topology,
        hz,
        case.ceiling,
        case.mean_frame_bytes,
        cores=tuple(cores(trial, hz)),
        losses=losses(trial, topology),
        slowed=slowness([trial, *case.trials, *case.curve])[0],
        silent=_silent(case),
        problem=case.problem,
    )


def _silent(case: Case) -> Trial | None:
    """Valid or not: time that others had makes no function drop what it lets through."""
    light = next((one for one in reversed(case.trials) if one.purpose == "preflight"), None)
    found = any(one.load_pps for one in case.throughput)
    return light if light is not None and light.silent and case.problem and not found else None
