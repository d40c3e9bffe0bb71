# SPDX-License-Identifier: Apache-2.0
"""A case while it is measured: its progress, for whoever shows it; a light load before it, which tells what
lets nothing through from what is full; and how it ends: with what stopped it and the trials finished by then.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weir.base.words import counted
from weir.lab.execution import FUNCTION_KINDS
from weir.lab.sla import Sla
from weir.measure.counting import Watched
from weir.measure.outside import Outside
from weir.measure.tester import Reset, SutCounters, Tester, Traffic
from weir.measure.trial import PortGoneError, TrialRunner
from weir.results.result import AreaLoad, Case, Ceiling, Drop, Throughput, Trial
from weir.results.rounds import INTERRUPTED

Phase = Literal[
    "calibrate",
    "warm-up",
    "search",
    "confirm",
    "curve",
    "latency",
    "replay",
    "throughput",
    "frame loss",
    "back-to-back",
    "recovery",
    "reset",
]


@dataclass(frozen=True)
class PhaseStarted:
    """A phase of one frame's case begins. `step` of `steps`: repeats of the search, points of the curve."""

    frame: str
    phase: Phase
    step: int = 1
    steps: int = 1


@dataclass(frozen=True)
class TrialFinished:
    """One trial is over, valid or not."""

    frame: str
    mean_frame_bytes: float
    trial: Trial


@dataclass(frozen=True)
class GoalFound:
    """A goal's throughput is known (or irregular)."""

    frame: str
    throughput: Throughput


Event = PhaseStarted | TrialFinished | GoalFound


PROBE_S = 0.1  # shortest trial that says how fast the tester is on this chain
PACKETS_LEAST = 10
"""Of each stream, that say whether anything comes through: a load of fewer is sent for longer."""
BUSY_SHARE = 0.9
"""Of its time: a loop that is busy for more of a light load is too slow for that."""
LIGHT_PPS, LIGHT_S = 1000.0, 0.2
"""Of each direction: what every chain has time for."""
DROPS_NAMED = 3
DECIDED_SHARE = 0.001
"""Of the packets: functions that drop more by their own decision may do so at any load."""


@dataclass(frozen=True)
class Time:
    """The clock that limits a search, and how to wait. Tests give a virtual one."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class OnChain:
    """A built chain, and all that whoever measures it is given of it."""

    tester: Tester
    counters: SutCounters
    """Of the system under test."""
    on_event: Callable[[Event], None]
    """Called from the measuring thread, often: keep it quick."""
    ceilings: Mapping[str, Ceiling] = field(default_factory=dict)
    """By frame, from `weir.measure.calibrate.ceilings`; a Case of a frame without one has none."""
    timing: Time = field(default_factory=Time)
    sla: Sla | None = None
    outside: Outside | None = None
    """Loads of areas that are not weir-dp's."""
    watched: Watched | None = None
    """What tells of disturbances."""
    resets: Sequence[Reset] = ()
    """What can be reset while traffic runs."""
    unready: Sequence[str] = ()
    """Functions of which nobody knows that they forward."""
    failed: Callable[[Exception], None] = lambda _error: None
    """Called with what ended a case, before that is written down: it may learn more."""


class OneCase(ABC):
    """One frame size on one built chain. Subclasses give it a `runner` whose trials go to `took`."""

    runner: TrialRunner

    def __init__(self, traffic: Traffic, chain: OnChain) -> None:
        self.traffic = traffic
        self.chain = chain
        self.ceiling = chain.ceilings.get(traffic.frame)
        self.trials: list[Trial] = []
        self.throughput: list[Throughput] = []
        self.problem: str | None = None
        self._began_s = chain.timing.clock()

    @abstractmethod
    def measure(self) -> None:
        """Runs its trials. What is finished is kept when this raises."""

    @abstractmethod
    def found(self) -> dict[str, Any]:
        """Fields of the Case that are this measurement's own."""

    def finished(self, problem: str | None = None) -> Case:
        """What has been measured."""
        case = Case(
            frame=self.traffic.frame,
            mean_frame_bytes=self.traffic.mean_frame_bytes,
            ceiling=self.ceiling,
            clocks=self.runner.clocks(),
            throughput=self.throughput,
            trials=self.trials,
            problem=problem or self.problem,
            seconds=self.chain.timing.clock() - self._began_s,
        )
        return case.model_copy(update=self.found())

    def warm_up(self, seconds: float, load_pps: float = 0.0, most_pps: float | None = None) -> Trial | None:
        """At `load_pps`, 0: as fast as the tester can. None, and a `problem`, if it can send nothing, or if
        nothing of a direction comes through, however light the load; `most_pps`: of that, None: no limit.

        Where functions dropped packets by their own decision, a light load tells how many they always drop.
        """
        self.phase("warm-up")
        least_s = self.traffic.lasts_s(PACKETS_LEAST, load_pps) if load_pps else PROBE_S
        probe = self.runner.run("calibration", load_pps, max(PROBE_S, least_s, seconds)).trial
        if not probe.offered:
            self.problem = "The tester could send nothing: look at the data plane's log."
            return None
        decided = sum(drop.packets for drop in probe.drops if drop.decided_by is not None)
        if probe.silent or decided > DECIDED_SHARE * probe.offered:
            self.problem = nothing_comes(self.runner, most_pps, self.chain.unready)
            if self.problem is not None:
                return None
        return probe

    def took(self, trial: Trial) -> None:
        """A trial is over."""
        self.trials.append(trial)
        self.chain.on_event(TrialFinished(self.traffic.frame, self.traffic.mean_frame_bytes, trial))

    def phase(self, phase: Phase, step: int = 1, steps: int = 1) -> None:
        """A phase begins."""
        self.chain.on_event(PhaseStarted(self.traffic.frame, phase, step, steps))


def nothing_comes(
    runner: TrialRunner, most_pps: float | None = None, unready: Sequence[str] = ()
) -> str | None:
    """A sentence, if nothing of a direction comes through however light the load; None: some does, be it late
    or of an earlier trial. `most_pps`: of all directions together, sent for as long as it takes; None: no
    limit. `unready`: functions of which nobody knows that they forward.

    PortGoneError of a port that disappears.
    """
    traffic = runner.traffic
    load_pps = LIGHT_PPS * len(traffic.streams)
    load_pps = load_pps if most_pps is None else min(load_pps, most_pps)
    light = runner.valid("preflight", load_pps, max(LIGHT_S, traffic.lasts_s(PACKETS_LEAST, load_pps))).trial
    return _sentence(light, traffic, unready)


def where_dropped(drops: Sequence[Drop]) -> str:
    """ "400 at f1/firewall (denied)": the places that dropped most."""
    lost: Counter[str] = Counter()
    for drop in drops:
        lost[f"{drop.decided_by or drop.place} ({drop.reason})"] += drop.packets
    named = ", ".join(f"{packets} at {place}" for place, packets in lost.most_common(DROPS_NAMED))
    return named or "nobody counted where"


def _sentence(light: Trial, traffic: Traffic, unready: Sequence[str] = ()) -> str | None:
    """Of what, at which load, and where it went; None: some came."""
    busy = [area for area in light.areas if _all_the_time(area)]
    slow = max(busy, key=lambda area: area.packets, default=None)
    never = [one for one in light.silent if slow is not None or not (one.too_late or one.from_earlier)]
    if not never:
        return None
    silent = {one.stream: one for one in never}
    rates_pps = traffic.rates_pps(light.intended_load_pps)
    sent: dict[str, list[str]] = {}
    for one in traffic.config.streams:
        if one.id in silent:
            sent.setdefault(f"{rates_pps[one.id]:g} a second", []).append(
                f"{silent[one.id].offered} packets {one.template.src_ip} → {one.template.dst_ip} "
                f"{one.template.l4} ({silent[one.id].direction})"
            )
    none = ", and ".join(f"of {' and of '.join(of)}, {at}" for at, of in sent.items()) + ", none arrived"
    if slow is not None:
        each = f"{slow.own_cycles / slow.packets:,.0f} cycles each"
        return (
            f"Even a light load is too much: {none} in time. {slow.name} was busy all the time, with "
            f"{counted(slow.packets, 'packet')}, {each}."
        )
    said = f"Nothing comes through: {none}. Dropped: {where_dropped(light.drops)}."
    if not unready or any(drop.decided_by is not None for drop in light.drops):
        return said
    which = unready[0] if len(unready) == 1 else f"one of {', '.join(unready)}"
    option = "`program: {ready_packets: true}`"
    return f"{said} If {which} forwards only some time after it is ready, say {option}."


def _all_the_time(area: AreaLoad) -> bool:
    """Whether a loop for functions did nothing else than packets, of which it had some."""
    polled = area.busy_cycles + area.idle_cycles
    return area.kind in FUNCTION_KINDS and area.packets > 0 and area.busy_cycles > BUSY_SHARE * polled


def measured(case: OneCase) -> Generator[Case, None, bool]:
    """Measures it and yields what came of it. False: a port is gone, and no other case can be measured.

    What Ctrl-C or an error ended is yielded first; the next step raises that KeyboardInterrupt or error.
    """
    try:
        case.measure()
    except PortGoneError as gone:
        case.chain.failed(gone)
        yield case.finished(problem=str(gone))
        return False
    except KeyboardInterrupt:
        yield case.finished(problem=INTERRUPTED)
        raise
    except Exception as error:
        case.chain.failed(error)
        yield case.finished(problem=str(error))
        raise
    yield case.finished()
    return True
