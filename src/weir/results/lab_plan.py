# SPDX-License-Identifier: Apache-2.0
"""What `weir plan` answers: where the areas of a chain stand, what that carries, what else was near."""

from __future__ import annotations

from typing import Any

from weir.base.node import Architecture
from weir.base.record import FixedRecord, document_schema

LAB_PLAN_VERSION = 2


class Asked(FixedRecord):
    """What was asked for."""

    rate_pps: float | None
    """Of all directions together; null: as much as possible."""
    frames: tuple[str, ...]
    """Each of them must be carried at that rate."""
    flows: int
    latency_us: float | None
    """Longest P99 of one-way delay at that rate; null: any."""
    link_bps: float | None
    """Of each direction; null: no link limits."""
    cores: int
    """Most cores, the tester's among them."""


class PlannedFunction(FixedRecord):
    """How one function of the chain is run, and where."""

    function: str
    architecture: Architecture
    workers: int | None
    state_cores: int | None
    fastpath: bool
    cores: tuple[int, ...]
    """CPU of each area, as `cores` of a lab's function."""

    def text(self) -> str:
        """For people: "dispatch, 3 workers"."""
        said: list[str] = [self.architecture]
        for count, name in ((self.state_cores, "state core"), (self.workers, "worker")):
            if count:
                said.append(f"{count} {name}{'s' * (count > 1)}")
        return ", ".join([*said, "fast path"] if self.fastpath else said)


class AreaLoad(FixedRecord):
    """One area of a core."""

    area: str
    cycles_per_packet: float
    """Of each packet that the tester sends."""


class PlannedCore(FixedRecord):
    """One core at the rate asked for, or at the predicted one if none was or it is lower."""

    core: int
    utilisation: float
    """Share of its time that its areas work."""
    areas: tuple[AreaLoad, ...]
    """Most expensive first."""


class Delay(FixedRecord):
    """One-way delay at the rate asked for."""

    mean_us: float
    p50_us: float
    p90_us: float
    p99_us: float


class FrameFigures(FixedRecord):
    """What a placement carries of one frame size or mix."""

    frame: str
    pps: float
    """Forwarding rate at maximum offered load."""
    low_pps: float
    high_pps: float
    """The 95 % interval."""
    margin: float | None
    """low_pps / rate - 1; null: no rate was asked for."""
    limited_by: str
    """The full core and its most expensive area; or the link."""
    delay: Delay | None
    """Null unless asked for, or if the placement does not carry the rate."""
    cores: tuple[PlannedCore, ...]


class PlannedPlacement(FixedRecord):
    """One placement."""

    functions: tuple[PlannedFunction, ...]
    tester: tuple[int, ...]
    cores: int
    """How many are in use, the tester's among them."""
    shares: tuple[str, ...]
    """What it has together with others that should stand alone: a core with the tester, a physical core."""
    carries: bool
    """The rate with every frame, at the lower bound of the interval, within the delay."""
    margin: float | None
    """The least of all frames."""
    figures: tuple[FrameFigures, ...]
    notices: tuple[str, ...]
    """Where the prediction extrapolates, and what it does not know."""


class PlanModel(FixedRecord):
    """What predicted."""

    lab: str
    created_at: str
    cpu: str
    ghz: float
    """Of the cycles that costs are in."""


class LabPlan(FixedRecord):
    """The answer."""

    plan: int = LAB_PLAN_VERSION
    """Version of this format."""
    lab: str
    chain: str
    asked: Asked
    model: PlanModel
    placements: int
    """How many were predicted."""
    complete: bool
    """These were all; otherwise those with more areas were left out."""
    carrying: int
    """How many of them carry what was asked for."""
    why: tuple[str, ...]
    """Sentences about the choice."""
    best: PlannedPlacement
    runners_up: tuple[PlannedPlacement, ...]
    """The best of each other way to run the functions, on each number of cores; best first."""
    notices: tuple[str, ...]
    """What to know of all of them."""
    written: str | None = None
    """The lab file of the best one; null: none was written."""


def schema() -> dict[str, Any]:
    """The JSON Schema."""
    return document_schema(LabPlan, f"Weir lab plan, version {LAB_PLAN_VERSION}")
