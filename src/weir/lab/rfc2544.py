# SPDX-License-Identifier: Apache-2.0
"""`measure.rfc2544` of a lab: what `weir rfc2544` does. Defaults are those of RFC 2544, 6201 and 9004."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from weir.base.record import LabSection
from weir.lab.frames import Frame
from weir.lab.units import BPS, IN_SECONDS, In

Test = Literal["throughput", "latency", "frame-loss", "back-to-back", "recovery", "reset"]
TESTS: tuple[Test, ...] = get_args(Test)
Search = Literal["mlrsearch", "bisection"]
STANDARD_FRAMES = ("64", "128", "256", "512", "1024", "1280", "1518")  # RFC 2544, 9.1
IMIX = "imix:aaaaaaaddddg"
STANDARD = "standard"


def _named(value: Any) -> Any:
    if value == STANDARD:
        return (*STANDARD_FRAMES, IMIX)
    return tuple(value) if isinstance(value, list) else value


Frames = Annotated[
    tuple[Frame, ...],
    Field(min_length=1, max_length=64),
    BeforeValidator(_named, json_schema_input_type=Literal["standard"] | tuple[Frame, ...]),
]
Duration = Annotated[float, Field(gt=0, le=3600), IN_SECONDS]
Pause = Annotated[float, Field(ge=0, le=3600), IN_SECONDS]
LinkRate = Annotated[float, Field(gt=0, le=1e13), In(BPS, "bit/s", "10G")]


class Rfc2544Options(LabSection):
    """The procedures of RFC 2544 section 26, of RFC 9004 for bursts and of RFC 6201 for resets."""

    tests: tuple[Test, ...] = Field(default=TESTS, min_length=1, description="which, in the RFC's order")
    frames: Frames | None = Field(
        default=None,
        description="instead of traffic.frames, and sizes likewise; standard: those of RFC 2544 9.1, a mix",
    )
    link: LinkRate | None = Field(
        default=None,
        description="rate of the medium in each direction: rates are shares of the frames that fit on it. "
        "Absent: of what the tester itself can send and receive",
    )
    search: tuple[Search, ...] = Field(
        default=("mlrsearch",),
        min_length=1,
        max_length=2,
        description="how the throughput is found; the first one counts for the other tests",
    )
    width: float = Field(default=0.005, gt=0, lt=1, description="how close the throughput's bounds must be")
    trial_s: Duration = Field(default=60, description="length of trials for throughput and frame loss")
    residual_s: Pause = Field(default=2, description="longest wait for the last frames of a trial")
    restabilise_s: Pause = Field(default=5, description="rest before each trial")
    latency_s: Duration = Field(default=120, description="length of a latency trial")
    latency_tag_s: Duration = Field(default=60, description="when its tagged frame is sent")
    latency_repeats: int = Field(default=20, ge=1, le=1000, description="latency trials, averaged")
    loss_step: float = Field(default=0.1, gt=0, le=0.5, description="from one load to the next, of the whole")
    burst_s: Duration = Field(default=2, description="how long the longest burst takes")
    burst_step: float = Field(
        default=0.005, gt=0, lt=1, description="accuracy, as a share of the burst found"
    )
    burst_repeats: int = Field(default=50, ge=2, le=1000, description="searches for the longest burst (N)")
    burst_rest_s: Pause = Field(default=2, description="rest after each burst: the buffers drain")
    burst_verifications: int = Field(
        default=1, ge=0, le=100, description="times that a burst with loss is sent again (ETSI TST 009)"
    )
    overload_s: Duration = Field(default=60, description="overload before the rate is cut")
    recovery_s: Duration = Field(default=10, description="time watched after that")
    recovery_repeats: int = Field(default=5, ge=1, le=1000, description="overloads, averaged")
    reset_after_s: Duration = Field(default=10, description="load before the reset")
    reset_watch_s: Duration = Field(default=60, description="load from the reset on: longer than it takes")
    reset_repeats: int = Field(default=5, ge=1, le=1000, description="resets of each kind, averaged")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.latency_tag_s >= self.latency_s:
            raise ValueError("expected latency_tag_s < latency_s: the tagged frame is sent in the trial")
        if len(set(self.tests)) < len(self.tests) or len(set(self.search)) < len(self.search):
            raise ValueError("names a test or a search twice; expected each of them once")
        return self

    def sizes(self, of_lab: Sequence[str]) -> tuple[str, ...]:
        """The frames to send; those of the lab unless the procedures have their own."""
        return tuple(of_lab) if self.frames is None else self.frames

    def shortened(self) -> Rfc2544Options:
        """With short trials and few of them wherever the lab does not say how long and how many. A latency
        trial has room for its tagged frame, which the lab may have late."""
        left_open = {key: value for key, value in _QUICK.items() if key not in self.model_fields_set}
        if "latency_s" in left_open and "latency_tag_s" not in left_open:
            roomy_s = self.latency_tag_s * _QUICK["latency_s"] / _QUICK["latency_tag_s"]
            left_open["latency_s"] = min(self.latency_s, max(_QUICK["latency_s"], roomy_s))
        return Rfc2544Options.model_validate({**self.model_dump(exclude_unset=True), **left_open})


# Minutes, not hours: to try a procedure, never for a number to publish.
_QUICK: dict[str, Any] = {
    "trial_s": 0.5,
    "residual_s": 0.1,
    "restabilise_s": 0.0,
    "latency_s": 1.0,
    "latency_tag_s": 0.5,
    "latency_repeats": 5,
    "burst_s": 0.1,
    "burst_step": 0.01,
    "burst_repeats": 5,
    "burst_rest_s": 0.05,
    "overload_s": 0.5,
    "recovery_s": 0.5,
    "recovery_repeats": 3,
    "reset_after_s": 0.5,
    "reset_watch_s": 5.0,
    "reset_repeats": 2,
}
