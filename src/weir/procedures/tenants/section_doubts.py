# SPDX-License-Identifier: Apache-2.0
"""What stands against a rate of a cloud that a sentence is made from, in the words of such a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from weir.procedures.tenants.section_rows import Row
from weir.report import doubts, numbers, rates
from weir.results.result import Case, Throughput

ONCE = "one repeat"
"""In place of a spread: nothing is told from it."""
SPREAD_REPEATS = 2
"""Fewer have no spread."""
_WORDS = {
    "L": "out of time",
    "S": "slower state",
    "D": "disturbed",
    "R": "one repeat alone",
    "U": "unsteady",
}
"""Of the letters beside rates. T is a bound, which is said by "at least" and "at most"."""


def once(*found: Throughput) -> bool:
    """Whether one of them has no spread."""
    return any(one.repeats < SPREAD_REPEATS for one in found)


def in_doubt(found: Iterable[tuple[str, Row, Throughput]]) -> str:
    """Of rates and what each is called, those that are doubtful: "; in doubt: 1 of 4 (unsteady), 4 of 4 (a
    trial carried 20,600 pps without loss)"; empty: none."""
    named = [
        f"{called} ({', '.join(said)})" for called, row, one in found if (said := _against(one, row.case))
    ]
    return f"; in doubt: {', '.join(named)}" if named else ""


def _against(found: Throughput, case: Case) -> list[str]:
    said = [_WORDS[letter] for letter in rates.flags(found) if letter in _WORDS]
    most_pps, worst = doubts.contradicted_pps(found, case), doubts.lost_below(found, case)
    if most_pps is not None:
        said.append(f"a trial carried {most_pps:,.0f} pps without loss")
    if worst is not None:
        lost = numbers.share(worst.counted_loss_ratio)
        said.append(f"a trial lost {lost} of {worst.intended_load_pps:,.0f} pps")
    return said
