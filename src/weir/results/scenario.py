# SPDX-License-Identifier: Apache-2.0
"""A scenario that was done several times on a cloud, and how long each of its operations took."""

from __future__ import annotations

from typing import Literal

from weir.base.record import Record

Change = Literal["slower", "faster", "not shown", "not compared"]


class EarlierTimes(Record):
    """The same operation in an earlier run of the same system under test."""

    run: str
    """Its identifier."""
    times: int
    p50_s: float
    ratio: float | None = None
    """This run's median to that one's; None: that one is 0."""
    p_value: float | None = None
    """Two-sided Mann-Whitney test of both samples; None: they are too few to tell, at
    the level that so many comparisons leave to each."""
    change: Change = "not compared"
    """ "not shown": chance explains the difference."""


class OperationTimes(Record):
    """Turn-around times of one operation that succeeded, over all iterations: each, in order, and
    nearest-rank percentiles of them. A percentile is None where the sample is too small for it."""

    name: str
    """Rally's: "nova.boot_server"; "iteration": all of one, with what lies between."""
    seconds: list[float]
    failed: int = 0
    """Times that it did not succeed: they are in no percentile."""
    p50_s: float | None = None
    p90_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    earlier: EarlierTimes | None = None


class ScenarioLoad(Record):
    """`planned` = `succeeded` + `failed`, and `failed` = Σ `causes`."""

    planned: int
    succeeded: int
    failed: int
    causes: dict[str, int] = {}
    concurrency: int
    """Iterations at a time, at most."""
    failure_ratio_limit: float
    time_limit_s: float | None
    """Of an iteration; None: not judged."""
    longest_s: float | None = None
    """Of all iterations, also those that failed; None: there was none, or an older result."""
    operations: list[OperationTimes] = []
    """The iteration first."""
