# SPDX-License-Identifier: Apache-2.0
"""A case while it is measured: its progress, for whoever shows it; and how it ends: with what stopped it and
the trials finished by then."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weir.lab.sla import Sla
from weir.measure.counting import Watched
from weir.measure.outside import Outside
from weir.measure.preflight import PACKETS_LEAST, nothing_comes
from weir.measure.tester import Reset, SutCounters, Tester, Traffic
from weir.measure.trial import PortGoneError, TrialRunner
from weir.results.result import Case, Ceiling, Throughput, Trial
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
AS_FAST_AS_CAN = 0.0
"""What the tester is asked for then, in place of a rate."""
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

    def warm_up(self, seconds: float, load_pps: float = math.inf, most_pps: float = math.inf) -> Trial | None:
        """At `load_pps`, infinite: as fast as the tester can. None, and a `problem`, if it can send nothing,
        or if nothing of a direction comes through, however light the load: `most_pps` at most.

        Where functions dropped packets by their own decision, a light load tells how many they always drop.
        """
        self.phase("warm-up")
        limited = math.isfinite(load_pps)
        least_s = self.traffic.lasts_s(PACKETS_LEAST, load_pps) if limited else PROBE_S
        asked_pps = load_pps if limited else AS_FAST_AS_CAN
        probe = self.runner.run("calibration", asked_pps, max(PROBE_S, least_s, seconds)).trial
        if not probe.offered:
            self.problem = "The tester could send nothing: look at the data plane's log."
            return None
        decided = sum(drop.packets for drop in probe.drops if drop.decided_by is not None)
        if probe.silent or decided > DECIDED_SHARE * probe.offered:
            self.problem = nothing_comes(self.runner, most_pps, self.chain.unready, probe)
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
