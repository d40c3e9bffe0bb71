# SPDX-License-Identifier: Apache-2.0
"""Rounds of cases: which came to their end, and how many of a campaign's planned ones there are, in one run
or in all that its hosts have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Protocol

from weir.results.result import Case, Result

INTERRUPTED = "Interrupted before it was finished."
"""The problem of a case that Ctrl-C ended: it does not count as measured."""
UNFINISHED = "The run ended before this case was finished."
"""Of one that nobody ended: its program was killed, or still measures."""
UNDER_WAY = "It is being measured, or the run broke off before it was finished."
"""The same as those read it who cannot know which."""
CaseKey = tuple[str, str, str]
"""Technology or variant, chain, frame."""


class Round(Protocol):
    """What one measured of a case: by itself, or as the case of all rounds keeps it."""

    round: int | None
    problem: str | None


def ended(one: Round) -> bool:
    """Whether it came to its end, or was given up: it counts. Else it is measured anew."""
    return one.problem not in (INTERRUPTED, UNFINISHED)


def given_up(case: Case) -> bool:
    """Not one that is under way, or was when its program was killed."""
    return case.problem not in (None, UNFINISHED)


def why_not_whole(case: Case) -> str | None:
    """For readers, who may look while it is measured; None: it is whole."""
    return UNDER_WAY if case.problem == UNFINISHED else case.problem


def numbers(rounds: Sequence[Round]) -> list[int]:
    """Which round each of them is, from 0. Those that do not say it are the first that are free."""
    taken = {one.round for one in rounds}
    free = (number for number in count() if number not in taken)
    return [next(free) if one.round is None else one.round for one in rounds]


def finished(rounds: Sequence[Round]) -> set[int]:
    """Those that count, of one case."""
    return set(numbers([one for one in rounds if ended(one)]))


def kept_rounds(case: Case) -> Sequence[Round]:
    """Those that a stored case is made of."""
    return case.rounds or [case]


def rounds_done(runs: Iterable[Result]) -> dict[CaseKey, set[int]]:
    """Planned rounds that came to their end in any of these runs, which are of one campaign."""
    known: dict[CaseKey, list[Round]] = {}
    planned = 0
    for result in runs:
        planned = max(planned, result.campaign.rounds if result.campaign is not None else 0)
        # Of a killed run one frame may be there twice: its new round apart.
        for setup, case in result.cases():
            known.setdefault((setup.name, setup.chain, case.frame), []).extend(kept_rounds(case))
    return {key: {one for one in finished(rounds) if one < planned} for key, rounds in known.items()}


def rounds_measured(runs: Iterable[Result]) -> Counter[CaseKey]:
    """How many these are."""
    return Counter({key: len(done) for key, done in rounds_done(runs).items() if done})
