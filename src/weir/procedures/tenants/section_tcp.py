# SPDX-License-Identifier: Apache-2.0
"""Goodput over TCP in reports."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from itertools import product

from weir.procedures.tenants.section_rows import WAYS, TcpRow, groups, named, tcp_rows
from weir.report import numbers
from weir.report.sections import Cell
from weir.results.result import Result
from weir.results.tenants import OUTWARD, TcpShare, TenantsTcp

TITLE = "Over TCP, all at once"
HEAD = ("Sending", "direction", "each gets, Mbit/s", "least–most", "all together", "sent again", "repeats")
WORDS = 2
MEANING = (
    "Goodput of iperf3 between each tenant's host and the host outside, over connections of the tenant's: "
    "payload that arrives, the median of the repeats, and of tenants where there are several; least–most: of "
    "tenants and repeats. All together: the median of the repeats' sums. Sent again: segments, tenants' "
    "medians added up. Repeats: those in which each of these tenants got something. The tester "
    "stands still meanwhile, and iperf3 has its core.",
)
COLUMNS = (
    "tcp_repeats", "goodput_bps", "goodput_min_bps", "goodput_max_bps", "retransmits",
)  # fmt: skip


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each number of tenants, and each of their groups."""
    return [line for row in tcp_rows(result) for line in _lines(row)]


def _lines(row: TcpRow) -> Iterator[list[str]]:
    for group, direction in product(groups(row.record), row.record.directions):
        yield [
            named(row.sending, group),
            WAYS[direction],
            *_cells(row.record, group.tenants, direction),
        ]


def _cells(record: TenantsTcp, tenants: Sequence[str], direction: str) -> list[str]:
    shares = _shares(record, tenants, direction)
    known = [one for one in shares if one.goodput_bps is not None]
    if not known:
        said = record.why or next((one.why for one in shares if one.why), "")
        return [
            f"none: {said}",
            numbers.NONE,
            numbers.NONE,
            numbers.NONE,
            _repeats(record, tenants, direction),
        ]
    low = min(one.goodput_min_bps or 0.0 for one in known)
    high = max(one.goodput_max_bps or 0.0 for one in known)
    return [
        _mbps(statistics.median(one.goodput_bps or 0.0 for one in known)),
        "–".join(dict.fromkeys((_mbps(low), _mbps(high)))),
        _mbps(together_bps(record, tenants, direction)),
        f"{sum(one.retransmits or 0 for one in known):,}",
        _repeats(record, tenants, direction),
    ]


def _shares(record: TenantsTcp, tenants: Sequence[str], direction: str) -> list[TcpShare]:
    return [one for one in record.shares if one.tenant in tenants and one.direction == direction]


def together_bps(record: TenantsTcp, tenants: Sequence[str], direction: str) -> float | None:
    """What these got together in that direction: the median of the repeats' sums. None: in no repeat did each
    get something, or in an older result whose repeats nobody knows."""
    sums = _sums_bps(record, tenants, direction)
    if sums:
        return statistics.median(sums)
    shares = _shares(record, tenants, direction)
    of_one = not record.runs_bps and all(one.repeats == 1 and one.goodput_bps is not None for one in shares)
    return sum(one.goodput_bps or 0.0 for one in shares) if shares and of_one else None


def _sums_bps(record: TenantsTcp, tenants: Sequence[str], direction: str) -> list[float]:
    """Of each repeat in which each of them got something."""
    wanted = _shares(record, tenants, direction)
    places = [place for place, one in enumerate(record.shares) if one in wanted]
    found = []
    for run in record.runs_bps:
        known = [rate for place in places if (rate := run[place]) is not None]
        if len(known) == len(places):
            found.append(sum(known))
    return found


def _repeats(record: TenantsTcp, tenants: Sequence[str], direction: str) -> str:
    """ "2 of 3": those that are valid for all of these; of an older result the fewest of one of them."""
    if record.runs_bps:
        return f"{len(_sums_bps(record, tenants, direction))} of {len(record.runs_bps)}"
    return str(min((one.repeats for one in _shares(record, tenants, direction)), default=0))


def _mbps(bps: float | None) -> str:
    """ "203", "9.3"."""
    if bps is None:
        return numbers.NONE
    return f"{bps / 1e6:,.{0 if bps >= 1e8 else 1}f}"


def findings(result: Result) -> Iterator[str]:
    """Of the most tenants that send."""
    known = [row for row in tcp_rows(result) if any(one.goodput_bps for one in row.record.shares)]
    for row in sorted(known, key=lambda one: -len(one.record.tenants))[:1]:
        for direction in row.record.directions:
            said = [
                f"{name.rpartition(': ')[2] + ' ' if ': ' in name else ''}{cells[0]} each"
                for name, way, *cells in _lines(row)
                if way == WAYS[direction]
            ]
            whole = together_bps(row.record, row.record.tenants, direction)
            together = "" if whole is None else f"{_mbps(whole)} Mbit/s together, "
            way = "" if row.record.directions == [OUTWARD] else f", {WAYS[direction]}"
            yield f"{row.sending} tenants over TCP{way}: {together}{' and '.join(said)}."


def csv_rows(row: TcpRow) -> Iterator[dict[str, Cell]]:
    """A row for each tenant."""
    for one in row.record.shares:
        shown = one.model_dump(exclude={"repeats", "why"})
        yield {"tcp_repeats": one.repeats, **shown}
