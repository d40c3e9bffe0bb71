# SPDX-License-Identifier: Apache-2.0
"""`traffic`, `measure` and `cores` of a tenants file: what `weir run` sends through a cloud, and how it
judges what arrives. Keys that chains have too mean the same there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from weir.base.cloud import Router, Security
from weir.base.node import Direction
from weir.base.record import ONE_OR_MANY, LabSection, listed
from weir.lab.frames import CAPTURE, CONNECTIONS, Frame, frame_sizes_bytes
from weir.lab.measure import (
    CurveOptions,
    Duration,
    Goal,
    Goals,
    Load,
    Measure,
    Ratio,
    TrialOptions,
    require_ordered,
)
from weir.lab.units import Milliseconds

STREAMS_MAX = 64
"""Of weir-dp: so many tenants can send at once, or half as many in both directions."""
DISCARD_PORT = 9
"""UDP, discard (RFC 863): to it all packets are sent. Those who translate addresses may change source ports,
never this one."""
FRAME_BYTES_MAX = 1518
"""Of instances' MTU of 1500 bytes."""
_Sending = Annotated[int, Field(ge=1, le=STREAMS_MAX)]


class TenantsTraffic(LabSection):
    """What the first instance of each tenant and the host outside send each other: UDP, IPv4."""

    frames: Annotated[tuple[Frame, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=("64", "1518"),
        min_length=1,
        max_length=64,
        description="frame sizes in L2 bytes with FCS, at most 1518, or mixes; one result each",
    )
    flows: int = Field(
        default=1, ge=1, le=10_000, description="source ports of each tenant, and in each direction"
    )

    @model_validator(mode="after")
    def _pass(self) -> Self:
        require_to_pass(self.frames)
        return self


class TenantsTester(LabSection):
    """The traffic generator and receiver: left are the tenants' hosts, right is the host outside."""

    direction: Literal["left-to-right", "right-to-left", "bidirectional"] = Field(
        default="left-to-right",
        description="where traffic comes from: tenants' hosts; the host outside, which sends to their "
        "floating addresses; or both at once",
    )

    @property
    def directions(self) -> tuple[Direction, ...]:
        """One, or both."""
        return ("left-to-right", "right-to-left") if self.direction == "bidirectional" else (self.direction,)


def require_to_pass(frames: Sequence[Frame]) -> None:
    """ValueError names frames that instances do not let through, or that are none."""
    for frame in frames:
        if frame in (CAPTURE, CONNECTIONS):
            raise ValueError(f"has frames of a {frame}, which chains alone have; expected sizes or mixes")
        if max(frame_sizes_bytes(frame)) > FRAME_BYTES_MAX:
            raise ValueError(
                f"has frames of {max(frame_sizes_bytes(frame))} bytes, which instances' MTU of 1500 does "
                f"not let through; expected at most {FRAME_BYTES_MAX}"
            )


class TenantsTrials(LabSection):
    """How long trials last."""

    duration_s: Duration = Field(default=0.5, description="length of the trials that decide")
    initial_duration_s: Duration = Field(
        default=0.2, description="length of the trials that look for the region"
    )
    duration_sum_s: Duration = Field(default=1.5, description="trial time at one load that decides")
    drain_ms: Milliseconds = Field(
        default=300,
        gt=0,
        le=60_000,
        description="so long nothing more must have come before a trial is over",
    )
    retries: int = Field(
        default=3, ge=0, le=100, description="repeats of an invalid trial before it is given up"
    )
    backlog_ms: Milliseconds = Field(
        default=1,
        ge=0,
        le=60_000,
        description="growth of latency in a trial that shows a backlog: a queue of the cloud that fills; 0: "
        "ignore it",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_ordered(self.initial_duration_s, self.duration_s, self.duration_sum_s)
        return self


class TcpOptions(LabSection):
    """What TCP/IP stacks get through between the tenants' hosts and the host outside, in the directions of
    the traffic, all at once: iperf3."""

    duration_s: int = Field(
        default=5, ge=1, le=3600, description="length of one repeat in seconds, after one for slow start"
    )
    connections: int = Field(default=1, ge=1, le=64, description="of each tenant")


class Background(LabSection):
    """What tenants send whose turn it is not: so much all the time."""

    load: Load = Field(description="of each, in each direction", examples=["1kpps"])
    frame: Annotated[int, Field(ge=64, le=FRAME_BYTES_MAX)] = Field(
        default=FRAME_BYTES_MAX, description="its size in L2 bytes with FCS"
    )


class TenantsMeasure(LabSection):
    """What to measure, for each frame size and each number of tenants that send at once."""

    sending: tuple[_Sending, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=STREAMS_MAX,
        description="how many tenants take part at once, the first ones; absent: one, and all",
    )
    security: tuple[Security, ...] | None = Field(
        default=None,
        min_length=1,
        description="ways to filter that are compared, each in a cloud of its own; ratios are to the first; "
        "absent: that of `cloud` alone",
    )
    router: tuple[Router, ...] | None = Field(
        default=None,
        min_length=1,
        description="kinds of routers that are compared, each in a cloud of its own; ratios are to the "
        "first; absent: that of `cloud` alone",
    )
    functions: tuple[Annotated[int, Field(ge=0)], ...] | None = Field(
        default=None,
        min_length=1,
        description="how many of `cloud.functions` are there, the first ones, each in a cloud of its own; "
        "ratios are to the first; absent: all",
        examples=[[0, 1, 2]],
    )
    loads: tuple[Load, ...] = Field(
        default=(1e3, 3e3, 10e3, 30e3, 100e3),
        max_length=64,
        description="what each of them sends, and gets where the host outside sends: received against "
        "generated, tenant by tenant",
        examples=["10kpps"],
    )
    duration_s: Duration = Field(default=1.0, description="length of a trial at one of these loads")
    background: Background | None = Field(
        default=None,
        description="of the tenants that `sending` leaves out in a round, in the same directions, counted in "
        "the load of all together; absent: they are silent",
    )
    tcp: TcpOptions | None = Field(
        default=None, description="TCP besides, at the end: goodput of each; absent: none"
    )
    goals: Goals = Field(
        default=(Goal(name="PDR", loss_ratio=0.005),),
        max_length=8,
        description="what is searched for, of all together, in all directions; none: the loads alone",
    )
    repeats: int = Field(
        default=3, ge=1, le=100, description="searches, and trials at each load: median, min and max count"
    )
    relative_width: float = Field(
        default=0.05, gt=0, lt=1, description="of the bounds at which a search ends, to the upper one"
    )
    exceed_ratio: Ratio = Field(
        default=0.5, description="share of the trial time at one load that may miss a goal"
    )
    time_limit_s: Duration = Field(default=120, description="for all searches of one case")
    trial: TenantsTrials = TenantsTrials()
    seed: int = Field(default=1, ge=0, description="of everything random")

    def of_searches(self) -> Measure:
        """As the instrument that measures chains takes it."""
        return Measure(
            goals=self.goals,
            relative_width=self.relative_width,
            exceed_ratio=self.exceed_ratio,
            repeats=self.repeats,
            time_limit_s=self.time_limit_s,
            trial=TrialOptions(**self.trial.model_dump()),
            curve=CurveOptions(points=0),
            confirm_trials=1,
            seed=self.seed,
        )

    def in_a_hurry(self) -> TenantsMeasure:
        """Of `--quick`: one repeat, and of the loads the lowest, a middle and the highest one."""
        loads = sorted(set(self.loads))
        few = (loads[0], loads[len(loads) // 2], loads[-1]) if len(loads) > len(_FEW) else tuple(loads)
        return self.model_copy(update={"repeats": 1, "loads": few})


_FEW = ("lowest", "middle", "highest")


class TenantsCores(LabSection):
    """Who works where while a cloud is measured."""

    tester: int | None = Field(
        default=None, ge=0, le=1023, description="CPU on which the tester polls; absent: the first"
    )
    system: tuple[Annotated[int, Field(ge=0, le=1023)], ...] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="CPUs of the switches and of the kernel's work on the way; absent: all others",
    )
