# SPDX-License-Identifier: Apache-2.0
"""`measure` of a lab: what is searched for, how long trials last, how often things are repeated.

Terms are MLRsearch's (IETF draft-ietf-bmwg-mlrsearch) and RFC 2544's. Loads are packets a second over both
directions together.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from weir.base.packet_rate import LEAST_PPS, MOST_PPS
from weir.base.record import LabSection
from weir.lab.delay import LatencyOptions, SoakOptions
from weir.lab.rfc2544 import Rfc2544Options
from weir.lab.units import IN_PPS, IN_SECONDS, Microseconds, Milliseconds, Seconds

Duration = Annotated[float, Field(gt=0, le=3600), IN_SECONDS]
Load = Annotated[float, Field(ge=LEAST_PPS, le=MOST_PPS), IN_PPS]
Ratio = Annotated[float, Field(ge=0, lt=1)]
_DIGITS = 12
"""Of a share: 1 - 0.9 is a little less than 0.1."""


class Goal(LabSection):
    """One search goal: the highest load whose loss ratio is not above `loss_ratio`."""

    name: str = Field(min_length=1, description="how reports call it: NDR, PDR, …")
    loss_ratio: Ratio = Field(description="share of the offered packets that may be lost")

    @classmethod
    def of_successes(cls, name: str, success_ratio: float) -> Self:
        """Where at least that share is to succeed."""
        return cls(name=name, loss_ratio=round(1 - success_ratio, _DIGITS))


def _distinct(goals: tuple[Goal, ...]) -> tuple[Goal, ...]:
    for one, other in combinations(goals, 2):
        for what in ("name", "loss_ratio"):
            if (both := getattr(one, what)) == getattr(other, what):
                raise ValueError(f"has {both} as {what} twice; expected goals that differ in both")
    return goals


Goals = Annotated[tuple[Goal, ...], AfterValidator(_distinct)]


def require_ordered(initial_duration_s: float, duration_s: float, duration_sum_s: float) -> None:
    """ValueError unless each is as long as the one before it."""
    if not initial_duration_s <= duration_s <= duration_sum_s:
        raise ValueError(
            f"has initial_duration_s {initial_duration_s:g}, duration_s {duration_s:g} and duration_sum_s"
            f" {duration_sum_s:g}; expected none to be shorter than the one before it"
        )


class TrialOptions(LabSection):
    """How long trials last, and how often one that cannot be used is repeated."""

    duration_s: Duration = Field(default=0.25, description="length of the trials that decide")
    initial_duration_s: Duration = Field(
        default=0.1, description="length of the trials that look for the region"
    )
    duration_sum_s: Duration = Field(default=2.25, description="trial time at one load that decides")
    drain_ms: Milliseconds = Field(
        default=100, gt=0, le=60_000, description="wait for the last packets after a trial"
    )
    retries: int = Field(
        default=3, ge=0, le=100, description="repeats of an invalid trial before it is given up"
    )
    backlog_ms: Milliseconds = Field(
        default=1,
        ge=0,
        le=60_000,
        description="growth of latency in a trial that shows a backlog; 0: ignore it",
    )
    stretch_max: float = Field(
        default=4,
        ge=1,
        le=100,
        description="on a machine that others disturb, a trial lasts so many times as long at most, to have "
        "as much undisturbed time",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_ordered(self.initial_duration_s, self.duration_s, self.duration_sum_s)
        return self


class CurveOptions(LabSection):
    """The offered-load curve: received against generated."""

    points: int = Field(default=10, ge=0, le=1000, description="loads; 0, or absent without goals: no curve")
    lowest: float = Field(default=0.1, gt=0, lt=1, description="first load, as a share of the last")
    beyond: float = Field(default=1.3, ge=1, le=100, description="last load, as a multiple of the throughput")
    duration_s: Duration = Field(default=0.5, description="length of one trial")


class CalibrationOptions(LabSection):
    """The tester measured alone, in loopback."""

    duration_s: Duration = Field(default=0.5, description="length of one trial")


class Measure(LabSection):
    """What to measure on each built chain, for each frame size."""

    goals: Goals = Field(
        default=(Goal(name="NDR", loss_ratio=0.0), Goal(name="PDR", loss_ratio=0.005)),
        description="what is searched for; none: delays at given rates alone",
    )
    relative_width: float = Field(
        default=0.004, gt=0, lt=1, description="how close a search's bounds must be"
    )
    exceed_ratio: Ratio = Field(
        default=0.5,
        description="share of the trial time at a load that may exceed the loss ratio (MLRsearch)",
    )
    trial: TrialOptions = TrialOptions()
    min_load: float = Field(
        default=0.01,
        gt=0,
        lt=1,
        description="lowest load, as a share of the highest, or of what came through of that, if that was "
        "less than a tenth; too much loss there: irregular",
    )
    max_load_pps: Load | None = Field(
        default=None,
        description="highest load that a search or a warm-up sends; loads that are given may be higher; "
        "absent: what the tester itself can do",
    )
    warm_up_s: Seconds = Field(
        default=0.5,
        ge=0,
        le=3600,
        description="traffic before the first trial, not used: as fast as the tester can, or max_load_pps; "
        "with neither goals nor a curve, the first of the loads",
    )
    repeats: int = Field(
        default=3, ge=1, le=100, description="searches for each frame: median, min and max are quoted"
    )
    rounds: int = Field(
        default=1,
        ge=1,
        le=100,
        description="times that everything is built and measured: there and back, so that what is compared "
        "stands side by side",
    )
    revisit_s: Seconds = Field(
        default=300,
        ge=0,
        le=86_400,
        description="after the rounds: time in which what was only measured in a worse state of the machine "
        "than the rest (cores slower, or slower to pass data to each other) is measured again; not longer "
        "than all took",
    )
    confirm_trials: int = Field(default=3, ge=0, le=100, description="trials at each load found")
    time_limit_s: Duration = Field(default=300, description="for all searches of one frame")
    curve: CurveOptions = CurveOptions()
    calibration: CalibrationOptions = CalibrationOptions()
    latency: LatencyOptions | None = Field(
        default=None, description="delay and its variation at given loads; absent: not measured"
    )
    rfc2544: Rfc2544Options = Rfc2544Options()
    soak: SoakOptions = SoakOptions()
    stall_threshold_us: Microseconds = Field(
        default=50,
        gt=0,
        le=1e6,
        description="a gap of a polling loop longer than this is a stall of the host",
    )
    sample_stacks: bool = Field(
        default=False,
        description="sample the kernel's stacks with perf in trials that keep a ledger: which part of the "
        "kernel takes the time of kernel ports; costs the cores some of theirs",
    )
    seed: int = Field(default=1, ge=0, description="of everything random in the traffic")

    @property
    def allowed_pps(self) -> float:
        """The highest load that the lab allows, all directions together; infinite: any."""
        return math.inf if self.max_load_pps is None else self.max_load_pps

    @model_validator(mode="after")
    def _loads_named(self) -> Self:
        """Without goals only loads that the lab names are sent: a curve where it says so."""
        if not self.goals and "points" not in self.curve.model_fields_set:
            curve = self.curve.model_copy(update={"points": 0})
            object.__setattr__(self, "curve", curve)  # frozen, and not handed to anybody yet
        return self
