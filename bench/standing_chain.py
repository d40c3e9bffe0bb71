# SPDX-License-Identifier: Apache-2.0
"""A chain that stands, searched again and again: what a lab's search finds of it, and says beside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.fabric import stop_signals
from weir.lab import Lab, load_lab
from weir.measure import measure_setup
from weir.measure.counting import Watched
from weir.measure.machine_state import MachineState
from weir.measure.one_case import OnChain
from weir.measure.tester import Traffic
from weir.measure.trial import TrialRunner
from weir.procedures.driver import planned, running
from weir.report.rates import flags
from weir.results.result import Case, Throughput, Trial

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Search:
    """One search of one goal."""

    found: Throughput
    trials: tuple[Trial, ...]

    @property
    def flags(self) -> str:
        """Letters of what reports say beside the rate."""
        return flags(self.found)


@dataclass(frozen=True)
class Carried:
    """What came back of more than a chain can carry."""

    pps: float
    slower: bool
    """Too much of the time a core was slowed: it says nothing of the machine's better state."""


class StandingChain:
    """A chain under a technology."""

    def __init__(self, state: MachineState, lab: Lab, traffic: Traffic, chain: OnChain) -> None:
        self._state = state
        self._measure = lab.measure
        self._traffic = traffic
        self._chain = chain

    def search(self) -> Search:
        """NDR at one frame size."""
        cases: list[Case] = list(measure_setup(self._measure, [self._traffic], self._chain))
        case = cases[0]
        if not case.throughput:
            raise RuntimeError(case.problem or "nothing was measured")
        found = case.throughput[0]
        found.farther_times = self._state.farther_times(found.distances_cycles)
        return Search(found, tuple(case.trials))

    def carried(self, seconds: float, load_pps: float = 0) -> Carried:
        """What comes back of more than it can carry, in the time that counts, without what waits in its queue
        at the end. `load_pps` 0: as fast as the tester can."""
        self._chain.tester.configure_traffic(self._traffic.config)
        runner = TrialRunner(
            self._chain.tester,
            self._chain.counters,
            self._traffic,
            options=self._measure.trial,
            on_trial=lambda _trial: None,
            watched=self._chain.watched,
        )
        trial = runner.run("calibration", load_pps, seconds).trial
        counted = trial.counted
        if counted is None or not counted.seconds:
            raise RuntimeError("nothing of an overload counted")
        waiting = counted.backlog if load_pps else 0  # without a rate the tester's own pace is in it
        pps = (counted.offered - counted.lost - waiting) / counted.seconds
        return Carried(pps, trial.slower_times is not None)


@contextmanager
def standing(lab: Lab, technology: str, chain_name: str, state: MachineState) -> Iterator[StandingChain]:
    """Built once for the body. `state`: of the machine, of all searches of a bench."""
    chain = next(chain for chain in lab.chains() if chain.name == chain_name)
    with stop_signals.held(), running(lab, planned(lab, technology, chain)) as here:
        traffic = here.traffic(str(lab.traffic.frames[0]))
        watched = Watched(here.cores, state)
        yield StandingChain(
            state, lab, traffic, OnChain(here.tester(), here.counters, lambda _event: None, watched=watched)
        )


def switching(frame: str = "64", **measure: Any) -> Lab:
    """labs/switching --quick with one frame size, its searches alone."""
    lab = load_lab(ROOT / "labs" / "switching", quick=True)
    options = {
        "repeats": 1,
        "rounds": 1,
        "curve": lab.measure.curve.model_copy(update={"points": 0}),
        "confirm_trials": 0,
        "goals": lab.measure.goals[:1],
        **measure,
    }
    return lab.model_copy(
        update={
            "measure": lab.measure.model_copy(update=options),
            "traffic": lab.traffic.model_copy(update={"frames": (frame,)}),
        }
    )
