# SPDX-License-Identifier: Apache-2.0
"""`sla` of a lab: the service level that is promised. What it says nothing about is not judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weir.base.record import LabSection
from weir.lab.units import IN_PPS, Microseconds

Limit = Annotated[Microseconds, Field(gt=0, le=1e9)]
# One-way delay that most applications bear, mouth to ear (ITU-T G.114, 2003).
G114_ONE_WAY_US = 150_000.0


class DelayLimits(LabSection):
    """Upper limits, in microseconds, on parts of a distribution; absent: not judged."""

    mean: Limit | None = None
    p50: Limit | None = None
    p90: Limit | None = None
    p99: Limit | None = None
    p999: Limit | None = None
    p9999: Limit | None = None
    max: Limit | None = None

    def given(self) -> dict[str, float]:
        """Only what is limited: name → microseconds."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


class ThroughputFloor(LabSection):
    """A goal and the least throughput that it must show, for each frame size."""

    goal: str = Field(description="name of a goal in `measure.goals`")
    pps: Annotated[float, Field(gt=0, le=1e12), IN_PPS] = Field(description="both directions together")


class Sla(LabSection):
    """Limits on every latency trial of a run, each direction for itself, and on throughput."""

    loss_ratio: float | None = Field(
        default=None, ge=0, lt=1, description="share of the packets that may be lost in a latency trial"
    )
    latency_us: DelayLimits = Field(default=DelayLimits(), description="one-way latency")
    pdv_us: DelayLimits = Field(default=DelayLimits(), description="delay above the least one (RFC 5481)")
    ipdv_us: DelayLimits = Field(
        default=DelayLimits(), description="change of the delay from one packet to the next, without its sign"
    )
    jitter_us: Limit | None = Field(default=None, description="highest interarrival jitter (RFC 3550)")
    budget: Literal["g114"] | None = Field(
        default=None, description="g114: the greatest latency within 150 ms one way (ITU-T G.114)"
    )
    throughput: tuple[ThroughputFloor, ...] = Field(
        default=(), description="least rates, such as {goal: NDR, pps: 1Mpps}"
    )

    def limits_packets(self) -> bool:
        """Whether it says anything of loss or delay, which trials at given loads show."""
        others = type(self)(throughput=self.throughput)
        return self != others
