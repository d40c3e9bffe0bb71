# SPDX-License-Identifier: Apache-2.0
"""`host` of a lab: what it asks of the machine beyond free cores. Deployments apply it and undo it.

What is absent, a deployment leaves as it is; `weir tune` then does what is best where the machine allows it.
`auto` is done where the machine allows it, and the result says what was done, and why the rest was not.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weir.base.record import LabSection


class Host(LabSection):
    """Enhanced platform awareness: each key can be switched by itself, to measure what it brings."""

    pinning: bool = Field(
        default=True,
        description="each polling thread stays on its own CPU; false: the scheduler moves weir-dp's threads",
    )
    isolation: Literal["partition", "auto", "none"] | None = Field(
        default=None,
        description="partition: the scheduler leaves polling CPUs alone (isolated cgroup v2 partition); "
        "auto: where it can be had",
    )
    interrupts: Literal["away", "auto", "leave"] | None = Field(
        default=None, description="away: devices are served on CPUs that do not poll; auto: where they can be"
    )
    governor: Literal["performance", "auto", "leave"] | None = Field(
        default=None,
        description="performance: polling CPUs keep their highest frequency; auto: where they have one",
    )
    hugepages: Literal["auto", "required", "none"] = Field(
        default="auto",
        description="of 2 MiB. auto: reserved where they can be had; required: or else refused; none: 4 KiB",
    )
    numa: int | None = Field(
        default=None,
        ge=0,
        le=1023,
        description="NUMA node of all cores and all packet memory; absent: pages on the nodes of the cores",
    )
    rt: bool | Literal["auto"] = Field(
        default=False,
        description="polling threads under SCHED_FIFO, with realtime throttling off; needs a CPU that does "
        "not poll; auto: where there is one",
    )
