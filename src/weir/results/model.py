# SPDX-License-Identifier: Apache-2.0
"""The cost model of a machine and its functions, from `weir model calibrate`. Units are in the names."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any, ClassVar, Self

from pydantic import model_validator

from weir.base.record import Record, document_schema
from weir.results.document import Document
from weir.results.result import Fingerprint
from weir.results.upgrades import present_kind, renamed

_MOST = 1e15
"""Of cycles: days of a processor, for one packet. Variances are of their squares."""
MODEL_VERSION = 3
VALIDATION_VERSION = 2


class ModelParameter(Record):
    """What one term costs."""

    name: str
    """`nf nat`, `headers`, `take ring across cores` …"""
    cycles: float
    """Of one unit of the term: a packet; for `rules` the binary logarithm of one more than there are; for
    `memory` a cycle of the memory's latency; for `bytes` 1000 bytes of frame."""
    deviation_cycles: float
    """Its standard deviation."""


class ModelRange(Record):
    """What the trials covered; outside of it a prediction extrapolates."""

    name: str
    """`frame_bytes`, `flows`, `functions` in an area, `rules NF`."""
    low: float
    high: float


class MemoryPoint(Record):
    """One load that depends on the last, over so much memory."""

    size_bytes: int
    cycles: float


class ModelTrial(Record):
    """One trial, and how the model fits it."""

    text: str
    """Functions, architecture, frame, flows, cores."""
    measured_pps: float
    """Forwarding rate at maximum offered load."""
    visits_pps: list[float]
    """Of each measurement: the windows at one distance of the cores. The rate is that of the fastest."""
    fitted_pps: float
    """What the model says of it."""
    host_factor: float
    """How much slower than undisturbed everything was, in its best measurement."""
    lost_in_functions: float
    """Share of the packets that functions dropped."""
    settled: bool
    """Rates stood still before it was measured."""


class ModelSpread(Record):
    """How far off a rate may be: `times` deviations, of scatter and of what the model says itself."""

    scatter: float
    """Standard deviation of what the model does not know of itself, as a share of a rate."""
    times: float
    """So many standard deviations hold 95 % of rates."""


class ModelLeftOut(Record):
    """A set-up, predicted without its own measurements where others tell what it costs."""

    text: str
    conditional_error: float
    """Natural logarithm of measured over predicted rate, in the state in which it was measured."""
    blind_error: float
    """The same in the median state of all trials."""
    fitted: bool = False
    """No other set-up tells what it costs: the errors are those of the fit, with its own measurements."""


class ModelQuality(Record):
    """How good the fit is."""

    mean_error: float
    """Mean absolute error of the trials' rates, as a share of them."""
    worst_error: float
    left_out_deviation: float
    """Root mean square of errors of rates, each predicted without its own trial where others tell it."""
    conditional: ModelSpread
    """Of intervals in a state of the machine that is known."""
    blind: ModelSpread
    """Of intervals in a state that is not."""
    left_out: list[ModelLeftOut] = []
    """From which these come: set-ups that were drawn at random, or all trials if none were."""
    row_deviation: float
    """The same of single costs of stages and areas, fitted."""

    @property
    def predicted(self) -> list[ModelLeftOut]:
        """Of `left_out`, those whose errors are of predictions."""
        return [one for one in self.left_out if not one.fitted]

    @property
    def predicted_deviation(self) -> float | None:
        """Root mean square of their errors; None: others tell of none what it costs."""
        errors = [one.conditional_error for one in self.predicted]
        return math.hypot(*errors) / math.sqrt(len(errors)) if errors else None


class ModelCoreSpeed(Record):
    """How fast cores were at their best, and what slower ones cost, when the trials were measured."""

    best_cycles: float
    """For the work that polling loops time between polls."""
    slope: float
    """Packets cost 1 + slope x (cycles / best_cycles - 1) times as many cycles."""
    slowed: float = 1.0
    """How many times as much the trials would have carried, in the median, on cores at their best."""


class ModelDocument(Document):
    """A calibrated cost model."""

    VERSION: ClassVar[int] = MODEL_VERSION

    version: int = MODEL_VERSION
    """Version of this format."""
    weir: str
    """Version of Weir."""
    lab: str
    """The lab whose functions it knows."""
    created_at: str
    technology: str
    """What joins the functions; labs with another one are not predicted."""
    wire: str
    """Between them, or between them and the switch: `memory`, or a kind of port such as `virtio-user`."""
    counter_hz: float
    """Cycles a second of the time-stamp counter, in which all costs are."""
    utilisation: float
    """Share of a full core's time that its areas had, the tester's among them."""
    fed_utilisation: float | None = None
    """The same of a core that another one feeds; absent: as `utilisation`."""
    core_speed: ModelCoreSpeed | None = None
    """Absent: nothing timed it."""
    core_distances_cycles: list[float]
    """To read a cache line that another core has: least, median and most over the trials; empty on one core.
    A hypervisor that moves virtual cores changes it, and with it all costs across cores."""
    state_distances_cycles: list[float] = []
    """The same in the best measurement of each set-up: the states in which rates are predicted blind."""
    memory: list[MemoryPoint]
    parameters: list[ModelParameter]
    covariance: list[list[float]]
    """Of the parameters, in their order."""
    ranges: list[ModelRange]
    options: dict[str, dict[str, str | int | float | bool]]
    """Of each function, as it was measured."""
    quality: ModelQuality
    trials: list[ModelTrial]
    notes: list[str] = []
    """What to know when using it."""
    fingerprint: Fingerprint

    @model_validator(mode="after")
    def _sound(self) -> Self:
        """A prediction would be made of whatever stands there."""
        size = len(self.parameters)
        if [len(row) for row in self.covariance] != [size] * size:
            raise ValueError(f"covariance: expected {size} rows of {size}, one for each parameter")
        costs = [value for one in self.parameters for value in (one.cycles, one.deviation_cycles)]
        if not all(abs(value) <= _MOST for value in [self.counter_hz, self.utilisation, *costs]):
            raise ValueError(f"costs: expected numbers of at most {_MOST:g}")
        if not all(abs(value) <= _MOST**2 for value in chain.from_iterable(self.covariance)):
            raise ValueError(f"covariance: expected numbers of at most {_MOST**2:g}")
        if any(self.covariance[at][at] < 0 for at in range(size)):
            raise ValueError("covariance: expected no negative variance of a parameter")
        return self

    @classmethod
    def upgrade(cls, document: dict[str, Any], version: int) -> None:
        """Terms of areas and of the fast path had other names up to version 2."""
        if version < 3:
            renamed(document, "pace", "core_speed")
            for parameter in document.get("parameters", []):
                area, *rest = parameter["name"].split(" ")
                name = " ".join([present_kind(area), *rest])
                parameter["name"] = name.replace("fast path walk", "fast path miss")


class CasePrediction(Record):
    """What the model says of a set-up."""

    pps: float
    low_pps: float
    high_pps: float
    """The 95 % interval."""
    naive_pps: float
    """From the sum of stage costs, each measured as first in an area, without interference or hand-over."""
    limited_by: str


class CaseState(Record):
    """The state of the machine in which a set-up was measured."""

    distance_cycles: float | None
    """Of its cores; null on one core."""
    slowed: float
    """How many times as much it would have carried had no core been slowed."""


class ValidationCase(Record):
    """One set-up that the model was not made of."""

    name: str
    """Lab, chain, frame size."""
    measured_pps: float
    """Forwarding rate at maximum offered load, as received, in the best state that came often enough."""
    states_pps: list[float]
    """The same in each state."""
    state: CaseState
    blind: CasePrediction
    """From the calibration alone, before the set-up was measured."""
    conditional: CasePrediction
    """Given the state that it was measured in."""
    notices: list[str]
    lab: str
    """Its lab file."""
    disturbed: bool = False
    """The host slowed or moved the cores whenever it was measured."""


class ErrorShares(Record):
    """Absolute errors of predicted rates, as shares of the measured ones."""

    mean: float
    p90: float
    worst: float
    bias: float
    """Mean with sign; above zero: predicted too high."""


class PredictionErrors(Record):
    """Of all predictions of one kind."""

    error: ErrorShares
    naive: ErrorShares
    """Of the sum of stage costs."""
    count: int
    """Cases."""
    held: int
    """Cases whose interval held what was measured."""
    held_low: float
    held_high: float
    """Bounds of the share that holds in the long run, after so many cases: 95 %, Clopper and Pearson."""


class Redrawn(Record):
    """Draws that were no set-up to hold the model against."""

    why: str
    count: int


class RandomDraws(Record):
    """How the cases were drawn."""

    seed: int
    redrawn: list[Redrawn]


class ModelValidation(Record):
    """What `weir model validate` found."""

    version: int = VALIDATION_VERSION
    model_created_at: str
    """Of the model."""
    technology: str = "direct"
    """That the model is of."""
    cases: list[ValidationCase]
    blind: PredictionErrors
    """Of all cases, whatever the host did."""
    conditional: PredictionErrors
    """Of the cases that were seen undisturbed; of all if none was."""
    draws: RandomDraws | None = None
    """Absent: the labs were named."""
    silent: list[str] = []
    """Set-ups of which no packet came back to the tester: they are no cases."""


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the model's document."""
    return document_schema(ModelDocument, f"Weir cost model, version {MODEL_VERSION}")
