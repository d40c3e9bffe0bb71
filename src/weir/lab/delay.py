# SPDX-License-Identifier: Apache-2.0
"""Loads of a lab that are offered and not searched for, and how long: `measure.latency`, `measure.soak`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator, model_validator

from weir.base.packet_rate import LEAST_PPS, MOST_PPS
from weir.base.record import LabSection
from weir.lab.units import BPS, IN_SECONDS, PPS, quantity

SHARE_DIGITS = 3
"""Of a share in percent, behind the point."""
_SHARE = re.compile(rf"\s*([0-9]{{1,3}}(?:\.[0-9]{{1,{SHARE_DIGITS}}})?)\s*%\s*(?:of\s+)?(\S+)\s*", re.ASCII)
BOUNDS = {"pps": (LEAST_PPS, MOST_PPS), "bit/s": (1e3, 4e12)}
"""Of a load. In bits: packets of no lab's frames are fewer, or more, than those a second."""
EXPECTED = 'a share of a goal such as "50% PDR", or a rate such as 1.5Mpps or 100Mbit/s'
LONGEST_S = 7 * 24 * 3600
Time = Annotated[float, Field(ge=0, le=LONGEST_S), IN_SECONDS]
MeasuredTime = Annotated[float, Field(gt=0, le=LONGEST_S), IN_SECONDS]


@dataclass(frozen=True)
class Load:
    """One load, over all directions together: a share of a goal's throughput, packets or L2 bits a second."""

    text: str
    share: float | None = None
    goal: str | None = None
    pps: float | None = None
    bps: float | None = None


def load_of(text: str) -> Load:
    """Reads "50% PDR", "1.5Mpps" or "100Mbit/s". ValueError says what was expected."""
    match = _SHARE.fullmatch(text)
    if match is not None:
        if not 0 < float(match[1]) <= 200:
            raise ValueError(f"is {match[1]} % of {match[2]}; expected above 0 and at most 200 %")
        return Load(text, share=float(match[1]) / 100, goal=match[2])
    for units, unit in ((PPS, "pps"), (BPS, "bit/s")):
        if any(text.rstrip().endswith(name) for name in units if name):
            try:
                value = quantity(text, units, unit)
            except ValueError:
                continue
            if value <= 0:
                raise ValueError(f"is a load of {text}; expected above 0")
            least, most = BOUNDS[unit]
            if not least <= value <= most:
                raise ValueError(f"is a load of {text}; expected {least:g}{unit} to {most / 1e9:g}G{unit}")
            return Load(text, pps=value) if unit == "pps" else Load(text, bps=value)
    raise ValueError(f"is {text!r}; expected {EXPECTED}")


def rate_text(load: Load) -> str:
    """A rate with the largest unit that leaves 1 or more before the point: one spelling of "1000kpps",
    "1 Mpps" and "1.0Mpps". ValueError for a share."""
    value, unit = (load.pps, "pps") if load.pps is not None else (load.bps, "bit/s")
    if value is None:
        raise ValueError(f"{load.text} is no rate")
    exact = Decimal(repr(value))
    sizes = [("G", 9), ("M", 6), ("k", 3), ("", 0)]
    prefix, power = next((one for one in sizes if exact >= 10 ** one[1]), sizes[-1])
    return f"{exact.scaleb(-power).normalize():f}{prefix}{unit}"


def _load_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"is {value!r}; expected {EXPECTED}")
    return load_of(value).text


LoadText = Annotated[
    str, PlainValidator(_load_text), WithJsonSchema({"type": "string", "examples": ["50% PDR", "100Mbit/s"]})
]


class Sweep(LabSection):
    """Latency over load: evenly spaced shares of a goal's throughput."""

    goal: str = Field(default="NDR", description="name of a goal in `measure.goals`")
    first: float = Field(default=0.1, gt=0, le=2, description="lowest load, as a share of it")
    last: float = Field(default=1.0, gt=0, le=2, description="highest load, likewise")
    points: int = Field(default=10, ge=2, le=100, description="loads measured")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first >= self.last:
            raise ValueError("expected first < last")
        percents = self._percents()
        if not percents[0] or len(set(percents)) < self.points:
            least = 10.0**-SHARE_DIGITS
            raise ValueError(f"expected loads of {least:g} % or more, and as far from each other")
        return self

    def _percents(self) -> list[float]:
        """Of the goal's throughput, as far as a load can be written."""
        step = (self.last - self.first) / (self.points - 1)
        return [round(100 * (self.first + index * step), SHARE_DIGITS) for index in range(self.points)]

    @property
    def loads(self) -> tuple[str, ...]:
        """As a lab would write them: "10% NDR"."""
        return tuple(f"{percent:g}% {self.goal}" for percent in self._percents())


class LatencyOptions(LabSection):
    """Delay at given loads: latency, PDV, IPDV and jitter of the same packets."""

    loads: tuple[LoadText, ...] = Field(
        default=("10% PDR", "50% PDR", "90% PDR"),
        min_length=1,
        max_length=64,
        description="shares of a goal's throughput, or rates (bits are L2); both directions together",
    )
    sweep: Sweep | None = Field(
        default=None, description="besides, latency over load, with a plot; `{}` sweeps 10 to 100 % of NDR"
    )
    duration_s: MeasuredTime = Field(default=60, description="time whose packets are measured, at each load")
    settle_s: Time = Field(
        default=20, description="traffic before it, counted but not measured: slow paths of first packets"
    )
    first_packets: bool = Field(
        default=False,
        description="also measure the first packet of each flow alone, after idle_s without traffic",
    )
    idle_s: Time = Field(
        default=12, description="so long that switches forget flows: Open vSwitch does after 10 s"
    )
    repeats: int = Field(default=1, ge=1, le=100, description="trials at each load")

    @property
    def all_loads(self) -> tuple[str, ...]:
        """Those given, then those of the sweep that are not among them."""
        swept = self.sweep.loads if self.sweep else ()
        return (*self.loads, *(load for load in swept if load not in self.loads))

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len(set(self.loads)) < len(self.loads):
            raise ValueError("names a load twice; expected each of them once")
        return self


PAUSE = "pause"
STEPS_MAX = 255


def _step_load(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f'is {value!r}; expected {EXPECTED}, or "{PAUSE}"')
    return value if value == PAUSE else load_of(value).text


StepLoad = Annotated[
    str,
    PlainValidator(_step_load),
    WithJsonSchema({"type": "string", "examples": ["50% PDR", "1.5Mpps", PAUSE]}),
]


class ScheduleStep(LabSection):
    """One load, for some time."""

    load: StepLoad = Field(description='a share of a goal\'s throughput, a rate, or "pause"')
    duration_s: MeasuredTime = Field(description="how long, each time that its turn comes")

    @property
    def asked(self) -> Load | None:
        """None: a pause."""
        return None if self.load == PAUSE else load_of(self.load)


class SoakOptions(LabSection):
    """What `weir soak` offers where neither --rate nor --load says it."""

    schedule: tuple[ScheduleStep, ...] = Field(
        default=(),
        max_length=STEPS_MAX,
        description="loads one after the other, and again from the first until the soak ends; none: one load",
    )

    @field_validator("schedule")
    @classmethod
    def _loaded(cls, steps: Any) -> Any:
        if steps and all(step.load == PAUSE for step in steps):
            raise ValueError("has pauses alone; expected a load among them")
        return steps
