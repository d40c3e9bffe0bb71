# SPDX-License-Identifier: Apache-2.0
"""`sanity` of a system under test: how often its scenarios are done, and within which limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from weir.base.record import LabSection
from weir.lab.complaint import Complaint
from weir.lab.problem import nearest
from weir.lab.scenario_names import SCENARIO_NAMES
from weir.lab.units import Seconds

IterationTime = Annotated[Seconds, Field(gt=0, le=86_400)]


class IterationTimes(LabSection):
    """Upper limits on the time of a scenario's iterations, also of those that fail."""

    max: IterationTime | None = Field(default=None, description="of the longest")


class ScenarioLimits(LabSection):
    """What one scenario must keep to; absent: what all must."""

    failure_ratio: float | None = Field(
        default=None, ge=0, lt=1, description="share of its iterations that may fail"
    )
    time_s: IterationTimes = Field(default=IterationTimes(), description="that an iteration takes")


class ScenarioSla(LabSection):
    """The service level of the suite `sanity`: each scenario keeps to it, or has failed."""

    failure_ratio: float = Field(default=0.0, ge=0, lt=1, description="share of its iterations that may fail")
    time_s: IterationTimes = Field(
        default=IterationTimes(), description="that an iteration takes; absent: 15 s to 240 s, by its kind"
    )
    own: dict[str, ScenarioLimits] = Field(
        default_factory=dict,
        description="limits of single scenarios, by name",
        json_schema_extra={"propertyNames": {"enum": list(SCENARIO_NAMES)}},
        examples=[{"NovaServers.pause_and_unpause_server": {"time_s": {"max": 120}}}],
    )


class Sanity(LabSection):
    """The suite `sanity`: how often each scenario is done."""

    iterations: int = Field(default=1, ge=1, le=10_000, description="of each scenario")
    concurrency: int = Field(
        default=1, ge=1, le=1000, description="of them at a time, at most; not on the local driver"
    )
    projects: int = Field(default=1, ge=1, le=100, description="made for each scenario, which takes turns")
    users_per_project: int = Field(default=1, ge=1, le=100, description="likewise")


def sanity_complaints(sla: ScenarioSla) -> Iterator[Complaint]:
    """Limits of scenarios that there are not, by which nothing would be judged."""
    for name in sla.own:
        if name not in SCENARIO_NAMES:
            kind = f"{name.partition('.')[0]}."
            alike = ", ".join(one for one in SCENARIO_NAMES if one.startswith(kind))
            listed = "a scenario's name, as `weir verify SUT --suite sanity --dry-run` lists them"
            yield Complaint(
                ("sla", "scenarios", "own", name),
                "names no scenario of `sanity`",
                f"one of {alike}" if alike else listed,
                nearest(name, SCENARIO_NAMES),
            )
