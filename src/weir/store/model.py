# SPDX-License-Identifier: Apache-2.0
"""The cost model of a machine and its functions, as `weir calibrate` writes it. Units are in the names."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from weir.store.database import StoreError
from weir.store.result import Fingerprint

MODEL_VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ModelParameter(_Record):
    """What one term costs."""

    name: str
    """`nf nat`, `headers`, `take ring across cores` …"""
    cycles: float
    """Of one unit of the term: a packet; for `rules` the binary logarithm of one more than there are; for
    `memory` a cycle of the memory's latency; for `bytes` 1000 bytes of frame."""
    deviation_cycles: float
    """Its standard deviation."""


class ModelRange(_Record):
    """What the trials covered; outside of it a prediction extrapolates."""

    name: str
    """`frame_bytes`, `flows`, `functions` in an area, `rules NF`."""
    low: float
    high: float


class MemoryPoint(_Record):
    """One load that depends on the last, over so much memory."""

    size_bytes: int
    cycles: float


class ModelTrial(_Record):
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


class ModelQuality(_Record):
    """How good the fit is."""

    mean_error: float
    """Mean absolute error of the trials' rates, as a share of them."""
    worst_error: float
    left_out_deviation: float
    """Standard deviation of the error of a trial's rate, predicted without it where the others tell it."""
    row_deviation: float
    """The same of single costs of stages and areas, fitted."""


class ModelPace(_Record):
    """How fast cores were at their best, and what slower ones cost, when the trials were measured."""

    best_cycles: float
    """For the work that polling loops time between polls."""
    slope: float
    """Packets cost 1 + slope x (pace / best - 1) times as many cycles."""


class ModelDocument(_Record):
    """A calibrated cost model."""

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
    pace: ModelPace | None = None
    """Absent: nothing timed it."""
    core_distances_cycles: list[float]
    """To read a cache line that another core has: least, median and most over the trials; empty on one core.
    A hypervisor that moves virtual cores changes it, and with it all costs across cores."""
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


class ValidationCase(_Record):
    """One set-up that the model was not made of."""

    name: str
    """Lab, chain, frame size."""
    measured_pps: float
    """Forwarding rate at maximum offered load, of the fastest measurement, as if no core had been slowed."""
    visits_pps: list[float]
    predicted_pps: float
    low_pps: float
    high_pps: float
    """The 95 % interval."""
    naive_pps: float
    """From the sum of stage costs, each measured as first in an area, without interference or hand-over."""
    limited_by: str
    notices: list[str]
    disturbed: bool = False
    """The host slowed or moved the cores whenever it was measured: it is not in the errors."""


class ErrorShares(_Record):
    """Absolute errors of predicted rates, as shares of the measured ones."""

    mean: float
    p90: float
    worst: float
    bias: float
    """Mean with sign; above zero: predicted too high."""


class ModelValidation(_Record):
    """What `weir validate-model` found."""

    version: int = MODEL_VERSION
    model_created_at: str
    """Of the model."""
    technology: str = "direct"
    """Likewise."""
    cases: list[ValidationCase]
    error: ErrorShares
    naive_error: ErrorShares
    """Of the sum of stage costs."""
    covered: float
    """Share of the cases whose interval held what was measured."""


def default_model_path() -> Path:
    """$WEIR_MODEL, or model.json in the user's data directory."""
    chosen = os.environ.get("WEIR_MODEL")
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(chosen) if chosen else Path(data) / "weir" / "model.json"


def write_model(document: ModelDocument, path: Path) -> None:
    """StoreError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; choose another file with --model") from error


def read_model(path: Path) -> ModelDocument:
    """StoreError if there is none, or it is not one."""
    try:
        return ModelDocument.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(f"there is no model at {path}; `weir calibrate LAB` measures one") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; expected a model of `weir calibrate`") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        what = f"{place}: {first['msg']}" if place else first["msg"]
        raise StoreError(f"{path}: no model of version {MODEL_VERSION}: {what}") from error
