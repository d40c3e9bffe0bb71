# SPDX-License-Identifier: Apache-2.0
"""A trial taken apart: its cores, its losses, and the rows of evidence that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.base.topology import Topology
from weir.explain.cores import Core, cores
from weir.explain.losses import Losses, Overflow, losses
from weir.results.explanation import AreaSeen, Evidence
from weir.results.result import Case, Ceiling, Trial, slowness


@dataclass(frozen=True)
class Seen:
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

    @property
    def offered_pps(self) -> float:
        return self.trial.offered / self.trial.duration_s

    @property
    def carried_pps(self) -> float:
        return self.trial.delivered / self.trial.duration_s

    def core_of(self, area: str) -> Core | None:
        """The core that runs it."""
        numbers = [one.core for one in self.trial.areas if one.name == area]
        return next((core for core in self.cores if core.number in numbers), None)


def seen(trial: Trial, topology: Topology | None, hz: float, case: Case) -> Seen:
    """Takes a trial of a case apart. `hz`: rate of the time-stamp counter."""
    return Seen(
        trial,
        topology,
        hz,
        case.ceiling,
        case.mean_frame_bytes,
        cores=tuple(cores(trial, hz)),
        losses=losses(trial, topology),
        slowed=slowness([trial, *case.trials, *case.curve])[0],
    )


def areas(one: Seen) -> list[AreaSeen]:
    """Each of the trial's."""
    available = one.trial.duration_s * one.hz
    return [
        AreaSeen(
            name=area.name,
            core=area.core,
            kind=area.kind,
            busy=min(1.0, area.own_cycles / available),
            packets=area.packets,
            cycles_per_packet=area.own_cycles / area.packets if area.packets else None,
            dropped=area.dropped,
        )
        for area in one.trial.areas
    ]


def busy(one: Seen) -> tuple[Evidence, ...]:
    """A row a core."""
    return tuple(
        share(f"core {core.number} busy", core.busy, "full" if core.full else "not full")
        for core in one.cores
    )


def lost(one: Seen, overflows: Sequence[Overflow]) -> tuple[Evidence, ...]:
    """A row for each of the first three."""
    return tuple(
        Evidence(
            what=f"lost at {each.place}",
            value=each.packets,
            unit="packets",
            note=f"{each.reason}, {each.packets / one.trial.offered:.1%} of the offered",
        )
        for each in overflows[:3]
    )


def share(what: str, value: float, note: str) -> Evidence:
    """A row whose value is a share."""
    return Evidence(what=what, value=value, unit="share", note=note)
