# SPDX-License-Identifier: Apache-2.0
"""Turn-around times of a scenario's iterations, and of the operations in them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence

from weir.results.scenario import OperationTimes, ScenarioLoad
from weir.verify.driver import Iteration, ScenarioWanted

ITERATION = "iteration"


def load(found: Sequence[Iteration], wanted: ScenarioWanted) -> ScenarioLoad:
    """All of it."""
    failed = [one.cause for one in found if one.cause is not None]
    whole = [one.seconds for one in found if one.cause is None]
    names = dict.fromkeys(done.name for one in found for done in one.operations)
    operations = [times(ITERATION, whole, len(failed))]
    for name in names:
        done = [each for one in found for each in one.operations if each.name == name]
        seconds = [each.seconds for each in done if not each.failed]
        operations.append(times(name, seconds, len(done) - len(seconds)))
    return ScenarioLoad(
        planned=wanted.iterations,
        succeeded=len(whole),
        failed=len(failed),
        causes=dict(Counter(failed).most_common()),
        concurrency=wanted.concurrency,
        failure_ratio_limit=wanted.failure_ratio,
        time_limit_s=wanted.time_s,
        longest_s=round(max(one.seconds for one in found), 4) if found else None,
        operations=operations,
    )


def times(name: str, seconds: Sequence[float], failed: int = 0) -> OperationTimes:
    """Of one operation."""
    ordered = sorted(seconds)
    return OperationTimes(
        name=name,
        seconds=[round(one, 4) for one in seconds],
        failed=failed,
        p50_s=round(statistics.median(ordered), 4) if ordered else None,
        p90_s=_percentile(ordered, 90),
        p95_s=_percentile(ordered, 95),
        p99_s=_percentile(ordered, 99),
        max_s=round(ordered[-1], 4) if ordered else None,
    )


def _percentile(ordered: Sequence[float], percent: int) -> float | None:
    """By the nearest rank; None where that would be the greatest of a sample too small to have it."""
    if len(ordered) * (100 - percent) < 100:
        return None
    return round(ordered[math.ceil(len(ordered) * percent / 100) - 1], 4)
