# SPDX-License-Identifier: Apache-2.0
"""`performance` of a system under test: chains of its instances that the tester loads, and the factors that
are varied (Chung and Wang, Table 3). Keys that labs have too mean the same there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from weir.base.record import ONE_OR_MANY, LabSection, listed
from weir.lab.command_check import commands_complaints
from weir.lab.complaint import Complaint
from weir.lab.delay import LatencyOptions, load_of
from weir.lab.frames import Frame
from weir.lab.kernel import CommandForm
from weir.lab.measure import (
    CalibrationOptions,
    CurveOptions,
    Duration,
    Goal,
    Goals,
    Measure,
    Ratio,
    TrialOptions,
)
from weir.lab.problem import nearest
from weir.lab.sla import Sla
from weir.lab.source import KeyPath
from weir.lab.tenants_measure import TenantsCores, TenantsTrials, require_to_pass

ChainName = Literal["PVP", "PVVP"]
INSTANCES: Mapping[ChainName, int] = {"PVP": 1, "PVVP": 2}
Acceleration = Literal["generic", "unfiltered", "ovs-conntrack", "pinned", "hugepages", "ovs-dpdk", "sr-iov"]
ACCELERATIONS: tuple[str, ...] = get_args(Acceleration)
GENERIC = "generic"


def _technique(text: str) -> str:
    parts = text.split("+")
    unknown = next((one for one in parts if one not in ACCELERATIONS), None)
    expected = f"expected {', '.join(ACCELERATIONS)}, or several of them joined by +"
    if unknown is not None:
        raise ValueError(f"has {unknown!r}; {expected}")
    if len(set(parts)) < len(parts) or (GENERIC in parts and len(parts) > 1):
        raise ValueError(f"is {text!r}, which joins one to itself, or generic to others; {expected}")
    return text


Technique = Annotated[
    str, AfterValidator(_technique), Field(max_length=80, examples=["generic", "pinned+hugepages"])
]
_Vcpus = Annotated[int, Field(ge=0, le=64)]
_Flows = Annotated[int, Field(ge=1, le=10_000)]


class ChainTraffic(LabSection):
    """What goes through a chain, in one direction: UDP, IPv4."""

    frames: Annotated[tuple[Frame, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=("64", "1518"),
        min_length=1,
        max_length=16,
        description="frame sizes in L2 bytes with FCS, at most 1518, or mixes",
        examples=[[64, 128, 256, 512, 1024, 1280, 1518]],
    )
    flows: Annotated[tuple[_Flows, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=(1,), min_length=1, max_length=8, description="numbers of flows, each with all frames"
    )

    @model_validator(mode="after")
    def _pass(self) -> Self:
        require_to_pass(self.frames)
        return self


class Performance(LabSection):
    """The suite `performance`: chains of instances that forward, from the test host and back to it."""

    chains: Annotated[tuple[ChainName, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=("PVP", "PVVP"), min_length=1, description="with one instance, and with two in a row"
    )
    techniques: Annotated[tuple[Technique, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=(GENERIC,),
        min_length=1,
        max_length=16,
        description="ways to build a chain, each a case: generic, as the cloud does it; unfiltered, without "
        "security groups; ovs-conntrack, filtered by flows of the switch; pinned, hugepages, ovs-dpdk, "
        "sr-iov; several are joined by +. What the cloud lacks is skipped, with its reason",
    )
    vcpus: Annotated[tuple[_Vcpus, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=(0,), min_length=1, max_length=8, description="of each instance, each a case; 0: as it comes"
    )
    traffic: ChainTraffic = Field(default_factory=ChainTraffic, description="what the tester sends")
    instance_commands: tuple[CommandForm, ...] = Field(
        default=(),
        max_length=64,
        description="run in each instance, one after the other, without a shell, once it forwards",
        examples=[["nft -f firewall.nft"]],
    )
    goals: Goals = Field(
        default=(Goal(name="NDR", loss_ratio=0.0), Goal(name="PDR", loss_ratio=0.005)),
        min_length=1,
        max_length=8,
        description="what is searched for",
    )
    latency: LatencyOptions | None = Field(
        default=LatencyOptions(loads=("50% PDR",), duration_s=1.0, settle_s=0.2),
        description="delay at given loads; absent: at half of PDR, or of the last goal where that is none; "
        "null: not measured",
    )
    repeats: int = Field(default=1, ge=1, le=100, description="searches: median, min and max are quoted")
    relative_width: float = Field(default=0.05, gt=0, lt=1, description="how close a search's bounds must be")
    exceed_ratio: Ratio = Field(
        default=0.5, description="share of the trial time at one load that may miss a goal"
    )
    time_limit_s: Duration = Field(
        default=40, description="for the searches of one frame size and number of flows"
    )
    trial: TenantsTrials = TenantsTrials()
    cores: TenantsCores = Field(
        default_factory=TenantsCores, description="who has which; `system` of `driver: local` alone"
    )
    seed: int = Field(default=1, ge=0, description="of everything random in the traffic")

    @model_validator(mode="after")
    def _of_a_goal(self) -> Self:
        """Nobody is refused for a load that they did not name."""
        names = [goal.name for goal in self.goals]
        if self.latency is not None and "latency" not in self.model_fields_set and "PDR" not in names:
            at = self.latency.model_copy(update={"loads": (f"50% {names[-1]}",)})
            object.__setattr__(self, "latency", at)  # frozen, and not handed to anybody yet
        return self

    def measured(self, time_limit_s: float) -> Measure:
        """As the instrument that measures chains takes it."""
        return Measure(
            goals=self.goals,
            latency=self.latency,
            relative_width=self.relative_width,
            exceed_ratio=self.exceed_ratio,
            repeats=self.repeats,
            time_limit_s=min(self.time_limit_s, time_limit_s),
            trial=TrialOptions(**self.trial.model_dump()),
            curve=CurveOptions(points=0),
            calibration=CalibrationOptions(duration_s=self.trial.initial_duration_s),
            confirm_trials=1,
            seed=self.seed,
        )


def performance_complaints(wanted: Performance, sla: Sla) -> Iterator[Complaint]:
    """Goals that latency loads or the service level name, and that are not searched for; commands that
    nothing could run."""
    yield from commands_complaints(("performance", "instance_commands"), wanted.instance_commands)
    known = [goal.name for goal in wanted.goals]
    named: list[tuple[KeyPath, str | None]] = [
        (("performance", "latency", "loads", number), load_of(text).goal)
        for number, text in enumerate(wanted.latency.loads if wanted.latency is not None else ())
    ]
    if wanted.latency is not None and wanted.latency.sweep is not None:
        named.append((("performance", "latency", "sweep", "goal"), wanted.latency.sweep.goal))
    named += [
        (("sla", "chains", "throughput", number, "goal"), one.goal)
        for number, one in enumerate(sla.throughput)
    ]
    for path, goal in named:
        if goal is not None and goal not in known:
            message = f"names {goal}, which is no goal of `performance`"
            yield Complaint(path, message, f"one of {', '.join(known)}", nearest(goal, known))
    if sla.limits_packets() and wanted.latency is None:
        message = "limits loss or delay, and no latency is measured"
        yield Complaint(("sla", "chains"), message, "`performance.latency`, or limits on throughput alone")
