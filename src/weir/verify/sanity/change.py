# SPDX-License-Identifier: Apache-2.0
"""Whether operations of a cloud became slower or faster since an earlier run, or chance explains it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence

from pydantic import ValidationError

from weir.lab.sut import SutFile
from weir.results.scenario import EarlierTimes, OperationTimes
from weir.results.verification import Verification

_LEVEL = 0.01
"""Of all comparisons of a run together (Bonferroni): there are a hundred and more."""
_FEWEST = 5
"""Samples of fewer show nothing at any level that is of use."""
_COUNTED = 10_000_000
"""Sums of ranks that are gone through at most: tens of milliseconds."""


def comparable(found: Verification, others: Iterable[Verification]) -> Verification | None:
    """The newest of the others that did scenarios of this system in the same way, and began no later."""
    way = _way(found)
    alike = [
        one
        for one in others
        if one.id != found.id
        and one.sut == found.sut
        and one.started_at <= found.started_at
        and next(_operations(one), None) is not None
        and _way(one) == way
    ]
    return max(alike, key=lambda one: one.started_at, default=None)


def _way(found: Verification) -> tuple[object, ...] | None:
    """What times depend on: the cloud, what servers are of, how many iterations at a time. None: this Weir
    cannot read its file."""
    try:
        sut = SutFile.model_validate(found.spec)
    except ValidationError:
        return None
    of_scenarios = sut.openstack.model_copy(update={"chains": None}) if sut.openstack is not None else None
    return sut.driver, sut.local, of_scenarios, sut.sanity


def compare(found: Verification, earlier: Verification) -> None:
    """Writes into each operation of `found` what became of it since."""
    before = {key: one for key, one in _operations(earlier) if one.seconds}
    pairs = [(one, before[key]) for key, one in _operations(found) if key in before and one.seconds]
    for now, then in pairs:
        now.earlier = _compared(now.seconds, then.seconds, earlier.id, _LEVEL / len(pairs))


def _operations(found: Verification) -> Iterator[tuple[tuple[str, str, str], OperationTimes]]:
    for suite in found.suites:
        for case in suite.cases:
            if case.scenario is not None:
                for one in case.scenario.operations:
                    yield (suite.name, case.name, one.name), one


def _compared(now: Sequence[float], then: Sequence[float], run: str, level: float) -> EarlierTimes:
    median_s, before_s = statistics.median(now), statistics.median(then)
    made = EarlierTimes(
        run=run,
        times=len(then),
        p50_s=before_s,
        ratio=round(median_s / before_s, 4) if before_s else None,
    )
    least = 2 / math.comb(len(now) + len(then), len(now))  # where each of one is longer than all of the other
    if min(len(now), len(then)) < _FEWEST or least >= level:
        return made
    made.p_value = p_value(now, then)
    if made.p_value >= level:
        made.change = "not shown"
    else:
        made.change = "slower" if median_s > before_s else "faster"
    return made


def p_value(now: Sequence[float], then: Sequence[float]) -> float:
    """Of a two-sided Mann-Whitney test: how often the same times, dealt out by chance, lie so far apart.

    Counted, also with equal times, which scipy does not: of ten against ten the normal distribution makes the
    least share seventeen times too large. Of many it is close."""
    import numpy as np
    from scipy.stats import mannwhitneyu, rankdata

    fewer, more = sorted((now, then), key=len)
    ranks = [int(2 * rank) for rank in rankdata([*fewer, *more])]  # those of equal times are halves
    if sum(ranks) * len(ranks) * len(fewer) > _COUNTED:
        return float(mannwhitneyu(now, then, alternative="two-sided", method="asymptotic").pvalue)
    ways = np.zeros((len(fewer) + 1, sum(ranks) + 1))  # to take so many of the ranks, with that sum
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    found, all_ways = sum(ranks[: len(fewer)]), ways[-1].sum()
    beyond = min(ways[-1, : found + 1].sum(), ways[-1, found:].sum())
    return min(1.0, float(2 * beyond / all_ways))
