# SPDX-License-Identifier: Apache-2.0
"""What each compared set-up takes off the baseline's delays, round by round: the worse direction counts, as
in the study on customer-edge functions whose method this is. Pure: from a result alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from weir.results.result import Case, DelayMeasure, DelayPoint, Reduction, Result, Setup, StreamCount, Trial

SAME_LOAD = 0.01
_READ: dict[DelayMeasure, Callable[[StreamCount], float | None]] = {
    "mean": lambda stream: stream.latency.mean_us if stream.latency else None,
    "p99": lambda stream: stream.latency.p99_us if stream.latency else None,
    "max": lambda stream: stream.latency.max_us if stream.latency else None,
    "ipdv_mean": lambda stream: stream.ipdv.mean_size_us if stream.ipdv else None,
    "ipdv_max": lambda stream: stream.ipdv.greatest_us if stream.ipdv else None,
    "jitter_max": lambda stream: stream.jitter.max_us if stream.jitter else None,
}
MEASURES: Sequence[DelayMeasure] = get_args(DelayMeasure)


def reductions(result: Result) -> list[Reduction]:
    """For each chain, frame size and load of every way but the baseline; nothing where delays are missing."""
    return list(_reductions(result))


def _reductions(result: Result) -> Iterator[Reduction]:
    for setup in result.setups:
        base = next(
            (one for one in result.setups if (one.name, one.chain) == (result.baseline, setup.chain)), None
        )
        if base is None or base is setup:
            continue
        for case in setup.cases:
            for point in case.delays:
                other = _counterpart(base, case, point)
                if other is not None:
                    yield from _of_point(result.baseline, setup, case, point, other)


def _counterpart(base: Setup, case: Case, point: DelayPoint) -> DelayPoint | None:
    points = [other for one in base.cases if one.frame == case.frame for other in one.delays]
    wanted = (point.load, point.first_packets)
    return next((other for other in points if (other.load, other.first_packets) == wanted), None)


def _of_point(
    baseline: str, setup: Setup, case: Case, point: DelayPoint, base: DelayPoint
) -> Iterator[Reduction]:
    if point.first_packets:
        return
    pairs = [
        (one, other)
        for one, other in zip(point.trials, base.trials, strict=False)
        if one.valid and other.valid and one.delivered and other.delivered
    ]
    for measure in MEASURES:
        taken = [(_worst(one, measure), _worst(other, measure)) for one, other in pairs]
        known = [(found, was) for found, was in taken if found is not None and was]
        if not known:
            continue
        shares = [1 - found / was for found, was in known if found is not None and was]
        yield Reduction(
            chain=setup.chain,
            frame=case.frame,
            load=point.load,
            way=setup.name,
            baseline=baseline,
            measure=measure,
            baseline_us=statistics.median(was for _, was in known if was is not None),
            found_us=statistics.median(found for found, _ in known if found is not None),
            reduction=statistics.median(shares),
            reduction_min=min(shares),
            reduction_max=max(shares),
            rounds=len(shares),
            same_load=abs(point.load_pps - base.load_pps) <= SAME_LOAD * base.load_pps,
            loss_ratio=max(trial.loss_ratio for pair in pairs for trial in pair),
        )


def _worst(trial: Trial, measure: DelayMeasure) -> float | None:
    """Of the directions."""
    values = [value for stream in trial.streams if (value := _READ[measure](stream)) is not None]
    return max(values) if values else None
