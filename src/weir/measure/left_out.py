# SPDX-License-Identifier: Apache-2.0
"""Times in which cores were away, as the result keeps them: no more of a trial than somebody can read."""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from weir.measure.absences import Absence
from weir.results.slices import HOST, SLOWED, LeftOut, program

MOST = 100
"""Of one trial. Programs that take turns on a core do so some thousand times a second."""
_PIECES = (512, 256, 128, 64, 32, 16, 8)
"""Of the time from the first to the last, in which there may be too many: as many as MOST allows."""

_Had = tuple[int, str]
"""Core, and who had it."""


def recorded(away: Collection[Absence]) -> tuple[LeftOut, ...]:
    """In order; neighbouring times of one core and one cause as one.

    Of too many, those of one core and one cause in one piece of the time are one, from where the first of
    them was and as long as all of them: who had which core for how long is as it was. If even so there are
    too many, threads of the same name are one.
    """
    whole = _without_gaps_explained(_neighbours_together(away))
    if len(whole) <= MOST:
        return tuple(_kept(whole))
    from_us, to_us = min(one.from_us for one in whole), max(one.to_us for one in whole)
    for pieces in _PIECES:
        few = _in_pieces(whole, from_us, (to_us - from_us) / pieces)
        if len(few) <= MOST:
            return tuple(_kept(few))
    by_program = [Absence(one.core, one.from_us, one.to_us, program(one.by)) for one in whole]
    return tuple(_kept(_in_pieces(by_program, from_us, (to_us - from_us) / _PIECES[-1])))


def _kept(away: Sequence[Absence]) -> Iterator[LeftOut]:
    for one in sorted(away, key=lambda one: one.from_us):
        yield LeftOut(core=one.core, from_us=round(one.from_us, 1), to_us=round(one.to_us, 1), by=one.by)


def _in_pieces(away: Sequence[Absence], start_us: float, piece_us: float) -> list[Absence]:
    first_us: dict[tuple[int, _Had], float] = {}
    us: defaultdict[tuple[int, _Had], float] = defaultdict(float)
    for one in away:
        at_us, piece = one.from_us, int((one.from_us - start_us) / piece_us)
        while at_us < one.to_us:
            until_us = min(one.to_us, start_us + (piece + 1) * piece_us)
            key = piece, (one.core, one.by)
            first_us[key] = min(at_us, first_us.get(key, at_us))
            us[key] += max(0.0, until_us - at_us)
            at_us, piece = max(at_us, until_us), piece + 1
    return [
        Absence(core, from_us, from_us + us[piece, (core, by)], by)
        for (piece, (core, by)), from_us in first_us.items()
    ]


def _neighbours_together(away: Collection[Absence]) -> list[Absence]:
    whole: list[Absence] = []
    for one in sorted(away, key=lambda one: (one.core, one.by, one.from_us)):
        last = whole[-1] if whole else None
        if last is not None and (last.core, last.by) == (one.core, one.by) and one.from_us <= last.to_us:
            whole[-1] = Absence(one.core, last.from_us, max(last.to_us, one.to_us), one.by)
        else:
            whole.append(one)
    return whole


def _without_gaps_explained(whole: Sequence[Absence]) -> list[Absence]:
    """A gap of a loop in which the kernel says who had its core is that one's."""
    named: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for one in sorted(whole, key=lambda one: one.from_us):
        if one.by not in (HOST, SLOWED):
            spans = named[one.core]
            latest_us = max(one.to_us, spans[-1][1] if spans else one.to_us)
            spans.append((one.from_us, latest_us))
    return [one for one in whole if one.by != HOST or not _touches(one, named[one.core])]


def _touches(one: Absence, spans: Sequence[tuple[float, float]]) -> bool:
    """`spans`: from, in order, and the latest end of all up to each."""
    begun = bisect.bisect_left(spans, one.to_us, key=lambda span: span[0])
    return begun > 0 and spans[begun - 1][1] > one.from_us
