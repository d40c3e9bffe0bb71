# SPDX-License-Identifier: Apache-2.0
"""Repeats of a search, and what they say together: median, min and max (docs/design/method.md)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from weir.lab.frames import BITS_PER_BYTE, l1_bps
from weir.lab.measure import Goal, Measure
from weir.results.result import Ceiling, Throughput

if TYPE_CHECKING:
    from weir.measure.search import GoalResult


class Answer(Protocol):
    """What one search, or one round of searches, says."""

    @property
    def load_pps(self) -> float | None:
        """None: it found none, and `why` says why."""

    @property
    def why(self) -> str | None:
        """Or what to bear in mind."""

    @property
    def unmeasured(self) -> bool:
        """It found none for want of time or of trials that can be believed."""


def too_much_pps(tried_pps: Sequence[float | None]) -> float | None:
    """Of what found no rate and says something of the system under test: the load that was too much for each.
    None: of one no such load is known, or there is none."""
    known = [one for one in tried_pps if one is not None]
    return max(known) if known and len(known) == len(tried_pps) else None


AnswerT = TypeVar("AnswerT", bound=Answer)
Highest = Literal["tester", "lab", "medium"]
"""Who says what the highest load of a search is."""
SearchOnce = Callable[[tuple[float, float], int], "list[GoalResult]"]


def repeated(
    search_once: SearchOnce, repeats: int, limits_pps: tuple[float, float], out_of_time: Callable[[], bool]
) -> list[list[GoalResult]]:
    """`repeats` searches: the first between the limits, the others near what the first found.

    A repeat that runs into the nearer limits is made again between the full ones. Stops early when out of
    time. Each entry has one GoalResult a goal.
    """
    rounds = [search_once(limits_pps, 1)]
    near = _near(rounds[0], limits_pps)
    for number in range(2, repeats + 1):
        if out_of_time():
            break
        found = search_once(near, number)
        if near != limits_pps and any(one.lower_pps is None or one.upper_pps is None for one in found):
            if out_of_time():
                break
            found = search_once(limits_pps, number)
        rounds.append(found)
    return rounds


def _near(found: Sequence[GoalResult], limits_pps: tuple[float, float]) -> tuple[float, float]:
    """Limits for the repeats: 20 % around all bounds, or the full limits when a bound is missing."""
    lowers = [one.lower_pps for one in found if one.lower_pps is not None]
    uppers = [one.upper_pps for one in found if one.upper_pps is not None]
    if len(lowers) < len(found) or len(uppers) < len(found):
        return limits_pps
    return max(limits_pps[0], 0.8 * min(lowers)), min(limits_pps[1], 1.2 * max(uppers))


def throughput(
    goal: Goal,
    found: Sequence[GoalResult],
    mean_frame_bytes: float,
    *,
    ceiling: Ceiling | None,
    highest_by: Highest,
    shares_cores: bool = False,
) -> Throughput:
    """The repeats of one goal as one result; irregular unless more than half of those that say something
    found a rate.

    `highest_by`: carrying the highest load says nothing of the tester unless that is its own. `shares_cores`:
    the system under test works on the tester's cores, so what keeps the tester from sending as much as it can
    alone is that.
    """
    good, bad, why_none = vote(found)
    if why_none is not None:
        why = none_found(len(bad), len(found), "searches", why_none.why) if good else why_none.why
        return Throughput(
            goal=goal.name,
            goal_loss_ratio=goal.loss_ratio,
            status="irregular",
            why=why,
            unmeasured=why_none.unmeasured,
            upper_bound_pps=None
            if good
            else too_much_pps(
                [None if one.tester_limited else one.upper_pps for one in bad if not one.unmeasured]
            ),
            repeats=len(found),
            searches=len(found),
            left_out_share=statistics.median(one.left_out_share for one in found),
        )
    loads = [one.load_pps for one in good if one.load_pps is not None]
    load_pps = statistics.median(loads)
    uppers = [one.upper_pps for one in good if one.upper_pps is not None]
    # Where nothing was too much for it, nobody knows how much more it carries; nor, if that is not above the
    # median already, how high the median is.
    middle = [one for one in good if (one.load_pps or 0.0) <= statistics.median_high(loads)]
    carried_all = any(one.upper_pps is None for one in middle)
    open_above = carried_all and highest_by == "tester"
    bound = open_above or any(one.tester_limited for one in middle)
    if ceiling is not None:
        bound = ceiling.near(load_pps) or open_above or (bound and not shares_cores)
    return Throughput(
        goal=goal.name,
        goal_loss_ratio=goal.loss_ratio,
        status="found",
        why=remarked(next((one.why for one in good if one.why), None), bad, len(found), "searches"),
        load_pps=load_pps,
        load_min_pps=min(loads),
        load_max_pps=max(loads),
        lower_bound_pps=statistics.median(one.lower_pps for one in good if one.lower_pps is not None),
        upper_bound_pps=statistics.median(uppers) if uppers else None,
        repeats=len(good),
        searches=len(found),
        l2_bps=load_pps * mean_frame_bytes * BITS_PER_BYTE,
        l1_bps=l1_bps(load_pps, mean_frame_bytes),
        tester_bound=bound,
        lab_bound=carried_all and highest_by == "lab",
        out_of_time=2 * sum(one.out_of_time for one in good) >= len(good),
        slower_times=_slower(good),
        distances_cycles=_nearest(good),
        unsteady=2 * sum(one.unsteady for one in good) >= len(good),
        left_out_share=statistics.median(one.left_out_share for one in good),
    )


def vote(answers: Sequence[AnswerT]) -> tuple[list[AnswerT], list[AnswerT], AnswerT | None]:
    """Searches or rounds with a rate and without; and the one that says why there is none in all, unless more
    found a rate than found that there is none: what could not be measured has no vote."""
    good = [one for one in answers if one.load_pps is not None]
    bad = [one for one in answers if one.load_pps is None]
    failed = [one for one in bad if not one.unmeasured]
    return good, bad, None if len(good) > len(failed) else (failed or bad)[0]


def none_found(bad: int, count: int, what: str, why: str | None, others: str = "") -> str:
    """ "1 of 2 rounds found no rate: …", or with what the others found before the colon."""
    return f"{bad} of {count} {what} found no rate{others}: {why}"


def remarked(why: str | None, bad: Sequence[Answer], count: int, what: str) -> str | None:
    """What to bear in mind of a rate: its own remark, and that others found none."""
    none = none_found(len(bad), count, what, bad[0].why) if bad else None
    return " ".join(part for part in (why, none) if part) or None


def _slower(good: Sequence[GoalResult]) -> float | None:
    """A repeat in the best state that came speaks for all."""
    times = [one.slower_times for one in good]
    return None if None in times else min(one for one in times if one is not None)


def _nearest(good: Sequence[GoalResult]) -> dict[str, float]:
    nearest = min(good, key=lambda one: max(one.distances_cycles.values(), default=0.0))
    return dict(nearest.distances_cycles)


def goals_of(measure: Measure, rounds: Sequence[Sequence[GoalResult]]) -> list[tuple[Goal, list[GoalResult]]]:
    """Each goal with what every round found for it."""
    return [(goal, [found[index] for found in rounds]) for index, goal in enumerate(measure.goals)]
