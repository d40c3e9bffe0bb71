# SPDX-License-Identifier: Apache-2.0
"""The page on what was tried: its tables, between marks, are of the lines that the regimes have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.regime import LINES, TARGETS, Tried, What, counting, read

PAGE = "docs/design/regime.md"
MARKS = ("<!-- tables, by tools/docs/regime_page.py -->\n", "<!-- end of tables -->\n")
_TITLES: dict[What, str] = {
    "points": "points: a system call that is killed, stopped or refused",
    "sequences": "sequences of weirs, kills and an administrator",
    "executions": "executions of fuzz targets",
}
_SECONDS_PER_MINUTE = 60


def page(root: Path) -> str:
    """The page with its tables made anew."""
    before, rest = (root / PAGE).read_text(encoding="utf-8").split(MARKS[0])
    lines = read(root / LINES)
    made = "\n\n".join("\n".join(table) for table in (_sums(lines), _each(lines)))
    return f"{before}{MARKS[0]}\n{made}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def _sums(lines: Sequence[Tried]) -> Iterator[str]:
    yield "| what | tried | target | | faults found | hours |"
    yield "|---" * 6 + "|"
    counted = counting(lines)
    for what, target in TARGETS.items():
        tried = sum(one.tried for one in counted if one.what == what)
        faults = sum(one.faults for one in lines if one.what == what)
        seconds = sum(one.seconds for one in lines if one.what == what)
        met = "met" if tried >= target else f"**MISSED** ({tried / target:.1%})"
        hours = seconds / _SECONDS_PER_MINUTE**2
        yield f"| {_TITLES[what]} | {tried:,} | {target:,} | {met} | {faults} | {hours:.1f} |"


def _each(lines: Sequence[Tried]) -> Iterator[str]:
    yield "| what | of | parts | tried | asked | not come to | faults found | minutes | last | commits |"
    yield "|---" * 10 + "|"
    counted = counting(lines)
    for what, of in dict.fromkeys((one.what, one.of) for one in lines):
        some = [one for one in counted if (one.what, one.of) == (what, of)]
        every = [one for one in lines if (one.what, one.of) == (what, of)]
        cells = (
            what,
            f"`{of}`" if what == "executions" else of,
            _parts(some),
            f"{sum(one.tried for one in some):,}",
            f"{sum(one.asked for one in some):,}",
            str(sum(one.not_come_to for one in some)),
            str(sum(one.faults for one in every)),
            f"{sum(one.seconds for one in every) / _SECONDS_PER_MINUTE:.0f}",
            max(one.date for one in every),
            ", ".join(dict.fromkeys(one.commit for one in some)),
        )
        yield f"| {' | '.join(cells)} |"


def _parts(some: Sequence[Tried]) -> str:
    """ "3 of 12"; of executions how often they were run."""
    if some[0].what == "executions":
        return f"{len(some)} runs" if len(some) > 1 else "1 run"
    return f"{len({one.part for one in some})} of {some[0].part.partition('/')[2]}"
