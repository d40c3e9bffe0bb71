# SPDX-License-Identifier: Apache-2.0
"""`application` of a system under test: which functions carry calls, and which calls."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from weir.base.record import ONE_OR_MANY, LabSection, listed
from weir.lab.units import Milliseconds, Seconds

Variant = Literal["ims", "proxy"]
Cpus = Annotated[int, Field(ge=0, le=64)]
Rate = Annotated[float, Field(ge=0.01, le=10_000)]
"""SIPp is told two digits behind the point."""


class CallLimits(LabSection):
    """What calls must keep to, at each rate of `call_rate_cps`; absent: not judged."""

    failure_ratio: float | None = Field(
        default=None, ge=0, lt=1, description="share of the calls that may fail"
    )
    request_delay_p95_ms: Annotated[Milliseconds, Field(gt=0, le=60_000)] | None = Field(
        default=None, description="95th percentile of the session request delay (RFC 6076, 4.3.1)"
    )


class Application(LabSection):
    """The suite `application`: functions in servers of their own, and calls through them."""

    variant: Variant = Field(
        default="ims",
        description="ims: P-, I- and S-CSCF with a subscriber server and AKA; proxy: a registrar and proxy",
    )
    subscribers: int = Field(
        default=100, ge=2, le=5000, multiple_of=2, description="half of them call, half are called"
    )
    register_rate_cps: Rate = Field(default=40.0, description="registrations a second")
    call_rate_cps: Annotated[tuple[Rate, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=(20.0,), min_length=1, max_length=20, description="calls a second of `sip_calls`, one by one"
    )
    duration_s: Seconds = Field(default=10.0, gt=0, le=3600, description="in which calls begin, at each rate")
    ring_s: Seconds = Field(default=0.2, ge=0, le=60, description="until a call is answered")
    talk_s: Seconds = Field(default=1.0, ge=0, le=600, description="from the answer to the hold")
    hold_s: Seconds = Field(default=0.5, ge=0, le=600, description="on hold, by a second INVITE; 0: none")
    media: bool = Field(default=False, description="whether callers send RTP, and get it back")
    vcpus: Annotated[tuple[Cpus, ...], ONE_OR_MANY, BeforeValidator(listed)] = Field(
        default=(0,),
        min_length=1,
        max_length=8,
        description="CPUs that the programs of each server may run on; 0: all; several: `sip_calls` has "
        "each, the other cases the first",
    )
    success_ratio: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="share of the calls that must succeed: at the rate that `sip_capacity` finds, and for "
        "`sip_calls` to pass",
    )
    highest_rate_cps: float = Field(
        default=400.0, ge=1, le=10_000, description="of `sip_capacity`: the highest rate tried"
    )
    trial_s: Seconds = Field(default=5.0, ge=1, le=600, description="of its trials that decide")
    search_s: Seconds = Field(default=150.0, gt=0, le=7200, description="after which its search ends")
