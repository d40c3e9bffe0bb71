# SPDX-License-Identifier: Apache-2.0
"""From samples before and after to changes, each with its interval and its outcome."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from weir.comparison.exactness import deviation
from weir.comparison.noise import Difference, Usual, difference, holm, usual
from weir.comparison.samples import Key, Samples, of_runs
from weir.comparison.warnings import warnings
from weir.results.comparison import Bound, Change, ComparedRun, Comparison, Outcome
from weir.results.figures import LESS_IS_BETTER, Unit
from weir.results.result import Result

SIGNIFICANT = 0.01
"""Of a hundred comparisons in which nothing changed, one may call anything a change."""
UNITS: tuple[Unit, ...] = get_args(Unit)
SAME_LOAD = 0.01
"""Delays at loads that differ by more do not compare."""


@dataclass(frozen=True)
class _Group:
    """One rate or delay of the first side, and of all others that compare with it."""

    key: Key
    before: Samples
    after: Mapping[int, Samples]
    """By the number of the side."""

    @property
    def sides(self) -> tuple[Samples, ...]:
        return (self.before, *self.after.values())

    @property
    def freedom(self) -> int:
        return sum(len(side.values) - 1 for side in self.sides)

    @property
    def variance(self) -> float:
        """Of the logarithms on all sides, and no less than the searches can tell apart."""
        squares = sum((math.log(value) - _mean(side)) ** 2 for side in self.sides for value in side.values)
        exact = deviation(max(side.resolution for side in self.sides)) ** 2
        return max(squares / self.freedom if self.freedom else 0.0, exact)


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


def compare(before: Sequence[Result], after: Sequence[Result], smallest: float) -> Comparison:
    """Of one or more runs each. `smallest`: the share below which a change does not matter."""
    (found,) = compare_several(before, [after], smallest)
    return found


def compare_several(
    before: Sequence[Result], others: Sequence[Sequence[Result]], smallest: float
) -> list[Comparison]:
    """Each of the others with the first. All of them together say how much samples vary, and p-values are
    corrected for all that is judged: of a hundred such questions one may have a change by chance."""
    ours, sides = of_runs(before), [of_runs(after) for after in others]
    groups = {key: _group(key, one, sides) for key, one in ours.items()}
    like = {unit: _usual([one for one in groups.values() if one.before.unit == unit]) for unit in UNITS}
    pairs = {
        (number, key): _Pair(key, group.before, after)
        for key, group in groups.items()
        for number, after in group.after.items()
    }
    found = {at: _difference(pair, groups[pair.key], like[pair.before.unit]) for at, pair in pairs.items()}
    judged = {at: one for at, one in found.items() if one is not None}
    corrected = dict(zip(judged, holm([one.p_value for one in judged.values()]), strict=True))

    def change(number: int, key: Key) -> Change:
        at = number, key
        if at in pairs:
            return _change(pairs[at], found[at], corrected.get(at), smallest)
        return _uncompared(key, ours.get(key), sides[number].get(key))

    return [
        Comparison(
            before=[_run(result) for result in before],
            after=[_run(result) for result in after],
            smallest=smallest,
            changes=[change(number, key) for key in dict.fromkeys((*ours, *sides[number]))],
            warnings=warnings(before, after),
        )
        for number, after in enumerate(others)
    ]


def _group(key: Key, before: Samples, sides: Sequence[Mapping[Key, Samples]]) -> _Group:
    after = {
        number: side[key]
        for number, side in enumerate(sides)
        if key in side and _hindrance(before, side[key]) is None
    }
    return _Group(key, before, after)


def _usual(groups: Sequence[_Group]) -> Usual:
    """Of all measurements of one unit: rates vary otherwise than delays."""
    several = [group for group in groups if group.after and group.freedom]
    return usual([group.variance for group in several], [group.freedom for group in several])


def _difference(pair: _Pair, group: _Group, like: Usual) -> Difference | None:
    variance, freedom = like.moderated(group.variance, group.freedom)
    return difference(pair.shift, variance, freedom, pair.samples)


def _hindrance(before: Samples, after: Samples) -> str | None:
    """Why two sides do not compare."""
    for when, side in (("before", before), ("after", after)):
        if not side.values:
            return f"{when}: {side.why}"
        if min(side.values) <= 0:
            return f"{when}: a value of 0"
    if before.at_least and after.at_least:
        return f"{_limit(before, after)} was the limit both times"
    if before.worse_state != after.worse_state:
        return f"{'after' if after.worse_state else 'before'}: only measured in a worse state of the machine"
    if before.load_pps and after.load_pps and abs(after.load_pps / before.load_pps - 1) > SAME_LOAD:
        return f"at other loads: {before.load_pps:,.0f} and {after.load_pps:,.0f} packets a second"
    return None


def _limit(before: Samples, after: Samples) -> str:
    lab = "`measure.max_load_pps`"
    limits = [lab if one.lab_bound else "the tester" for one in (before, after)]
    return " or ".join(dict.fromkeys(limits))


def _change(pair: _Pair, found: Difference | None, p_value: float | None, smallest: float) -> Change:
    chain, way, frame, what = pair.key
    change = math.expm1(pair.shift)
    interval = (math.expm1(found.low), math.expm1(found.high)) if found is not None else None
    bound: Bound = ">=" if pair.after.at_least else "<=" if pair.before.at_least else "="
    why = None
    if interval is None:
        why = "one sample on each side: nothing says how much they vary; more rounds, repeats or runs do"
    elif pair.before.worse_state:
        why = "both only measured in a worse state of the machine"
    elif (remark := pair.before.why or pair.after.why) is not None:
        why = f"{'before' if pair.before.why else 'after'}: {remark}"
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
        at_least_before=pair.before.at_least,
        at_least_after=pair.after.at_least,
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
    return "better" if (change > 0) != (pair.before.unit in LESS_IS_BETTER) else "worse"


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
        at_least_before=before is not None and before.at_least,
        at_least_after=after is not None and after.at_least,
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
