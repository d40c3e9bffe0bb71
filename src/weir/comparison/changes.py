# SPDX-License-Identifier: Apache-2.0
"""From samples before and after to changes, each with its interval and its outcome."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from weir.comparison.noise import Difference, Usual, difference, holm, usual
from weir.comparison.samples import Key, Samples, of_runs
from weir.comparison.warnings import warnings
from weir.results.comparison import Bound, Change, ComparedRun, Comparison, Outcome, Unit
from weir.results.result import Result

SIGNIFICANT = 0.01
"""Of a hundred comparisons in which nothing changed, one may call anything a change."""
UNITS: tuple[Unit, ...] = ("pps", "us")
SAME_LOAD = 0.01
"""Delays at loads that differ by more do not compare."""


@dataclass(frozen=True)
class _Pair:
    """The two sides of one change that compares."""

    key: Key
    before: Samples
    after: Samples

    @property
    def shift(self) -> float:
        return _mean(self.after) - _mean(self.before)

    @property
    def samples(self) -> tuple[int, int]:
        return len(self.before.values), len(self.after.values)

    @property
    def freedom(self) -> int:
        return sum(self.samples) - 2

    @property
    def variance(self) -> float:
        """Of the logarithms on both sides, and no less than the searches can tell apart."""
        squares = sum(
            (math.log(value) - _mean(side)) ** 2
            for side in (self.before, self.after)
            for value in side.values
        )
        exact = max(self.before.resolution, self.after.resolution) ** 2 / 12  # of an even distribution
        return max(squares / self.freedom if self.freedom else 0.0, exact)


def compare(before: Sequence[Result], after: Sequence[Result], smallest: float) -> Comparison:
    """Of one or more runs each. `smallest`: the share below which a change does not matter."""
    ours, theirs = of_runs(before), of_runs(after)
    pairs = {
        key: _Pair(key, ours[key], theirs[key])
        for key in ours
        if key in theirs and _hindrance(ours[key], theirs[key]) is None
    }
    like = {unit: _usual([pair for pair in pairs.values() if pair.before.unit == unit]) for unit in UNITS}
    found = {key: _difference(pair, like[pair.before.unit]) for key, pair in pairs.items()}
    judged = {key: one for key, one in found.items() if one is not None}
    corrected = dict(zip(judged, holm([one.p_value for one in judged.values()]), strict=True))
    changes = [
        _change(pairs[key], found[key], corrected.get(key), smallest)
        if key in pairs
        else _uncompared(key, ours.get(key), theirs.get(key))
        for key in dict.fromkeys((*ours, *theirs))
    ]
    return Comparison(
        before=[_run(result) for result in before],
        after=[_run(result) for result in after],
        smallest=smallest,
        changes=changes,
        warnings=warnings(before, after),
    )


def _usual(pairs: Sequence[_Pair]) -> Usual:
    """Of all measurements of one unit: rates vary otherwise than delays."""
    several = [pair for pair in pairs if pair.freedom]
    return usual([pair.variance for pair in several], [pair.freedom for pair in several])


def _difference(pair: _Pair, like: Usual) -> Difference | None:
    variance, freedom = like.moderated(pair.variance, pair.freedom)
    return difference(pair.shift, variance, freedom, pair.samples)


def _hindrance(before: Samples, after: Samples) -> str | None:
    """Why two sides do not compare."""
    for when, side in (("before", before), ("after", after)):
        if not side.values:
            return f"{when}: {side.why}"
        if min(side.values) <= 0:
            return f"{when}: a value of 0"
    if before.tester_bound and after.tester_bound:
        return "the tester was the limit both times"
    if before.worse_state != after.worse_state:
        return f"{'after' if after.worse_state else 'before'}: only measured in a worse state of the machine"
    if before.load_pps and after.load_pps and abs(after.load_pps / before.load_pps - 1) > SAME_LOAD:
        return f"at other loads: {before.load_pps:,.0f} and {after.load_pps:,.0f} packets a second"
    return None


def _change(pair: _Pair, found: Difference | None, p_value: float | None, smallest: float) -> Change:
    chain, way, frame, what = pair.key
    change = math.expm1(pair.shift)
    interval = (math.expm1(found.low), math.expm1(found.high)) if found is not None else None
    bound: Bound = ">=" if pair.after.tester_bound else "<=" if pair.before.tester_bound else "="
    why = None
    if interval is None:
        why = "one sample on each side: nothing says how much they vary; more rounds, repeats or runs do"
    elif pair.before.worse_state:
        why = "both only measured in a worse state of the machine"
    return Change(
        chain=chain,
        way=way,
        frame=frame,
        what=what,
        unit=pair.before.unit,
        before=pair.before.middle,
        after=pair.after.middle,
        change=change,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        bound=bound,
        samples_before=pair.samples[0],
        samples_after=pair.samples[1],
        p_value=p_value,
        outcome=_outcome(pair, change, interval, p_value, smallest, bound),
        why=why,
    )


def _outcome(  # noqa: PLR0917
    pair: _Pair,
    change: float,
    interval: tuple[float, float] | None,
    p_value: float | None,
    smallest: float,
    bound: Bound,
) -> Outcome:
    if interval is None or p_value is None:
        return "not shown"
    if bound == "=" and -smallest < interval[0] <= interval[1] < smallest:
        return "same"
    # A bound tells that a rate rose or fell at least so far, and nothing of the other way.
    told = bound == "=" or (bound == ">=") == (change > 0)
    if p_value >= SIGNIFICANT or not told:
        return "not shown"
    return "better" if (change > 0) == (pair.before.unit == "pps") else "worse"


def _uncompared(key: Key, before: Samples | None, after: Samples | None) -> Change:
    chain, way, frame, what = key
    either = before or after
    assert either is not None
    why = "not in the runs after" if after is None else "not in the runs before" if before is None else None
    if before is not None and after is not None:
        why = _hindrance(before, after)
    return Change(
        chain=chain,
        way=way,
        frame=frame,
        what=what,
        unit=either.unit,
        before=before.middle if before else None,
        after=after.middle if after else None,
        samples_before=len(before.values) if before else 0,
        samples_after=len(after.values) if after else 0,
        outcome="not compared",
        why=why,
    )


def _mean(side: Samples) -> float:
    return statistics.fmean(map(math.log, side.values))


def _run(result: Result) -> ComparedRun:
    return ComparedRun(
        id=result.id,
        lab=result.lab,
        started_at=result.started_at,
        weir=result.fingerprint.versions.get("weir", result.weir),
        quick=result.quick,
    )
