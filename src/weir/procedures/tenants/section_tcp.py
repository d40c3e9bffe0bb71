# SPDX-License-Identifier: Apache-2.0
"""Goodput over TCP in reports."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from weir.procedures.tenants.section_rows import TcpRow, groups, named, tcp_rows
from weir.report import numbers
from weir.report.sections import Cell
from weir.results.result import Result
from weir.results.tenants import TcpShare

TITLE = "Over TCP, all at once"
HEAD = ("Sending", "each gets, Mbit/s", "least–most", "all together", "sent again")
WORDS = 1
MEANING = (
    "Goodput of iperf3 from each tenant's host to the host outside: payload that arrives, the median of the "
    "repeats; least–most: of tenants and repeats. Sent again: segments, of all together. The tester stands "
    "still meanwhile, and iperf3 has its core.",
)
COLUMNS = (
    "tcp_repeats", "goodput_bps", "goodput_min_bps", "goodput_max_bps", "retransmits",
)  # fmt: skip


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each number of tenants, and each of their groups."""
    return [line for row in tcp_rows(result) for line in _lines(row)]


def _lines(row: TcpRow) -> Iterator[list[str]]:
    for group in groups(row.record):
        name = named(row.sending, group)
        shares = [one for one in row.record.shares if one.tenant in group.tenants]
        yield [name, *_cells(shares, row.record.why)]


def _cells(shares: list[TcpShare], why: str | None) -> list[str]:
    known = [one for one in shares if one.goodput_bps is not None]
    if not known:
        said = why or next((one.why for one in shares if one.why), "")
        return [f"none: {said}", numbers.NONE, numbers.NONE, numbers.NONE]
    rates = [one.goodput_bps or 0.0 for one in known]
    low = min(one.goodput_min_bps or 0.0 for one in known)
    high = max(one.goodput_max_bps or 0.0 for one in known)
    return [
        _mbps(statistics.median(rates)),
        f"{_mbps(low)}–{_mbps(high)}",
        _mbps(sum(rates)),
        f"{sum(one.retransmits or 0 for one in known):,}",
    ]


def _mbps(bps: float) -> str:
    """ "203", "9.3"."""
    return f"{bps / 1e6:,.{0 if bps >= 1e8 else 1}f}"


def findings(result: Result) -> Iterator[str]:
    """Of the most tenants that send."""
    known = [row for row in tcp_rows(result) if any(one.goodput_bps for one in row.record.shares)]
    for row in sorted(known, key=lambda one: -len(one.record.tenants))[:1]:
        said = [
            f"{name.rpartition(': ')[2] + ' ' if ': ' in name else ''}{cells[0]} each"
            for name, *cells in _lines(row)
        ]
        whole = sum(one.goodput_bps or 0.0 for one in row.record.shares)
        yield f"{row.sending} tenants over TCP: {_mbps(whole)} Mbit/s together, {' and '.join(said)}."


def csv_rows(row: TcpRow) -> Iterator[dict[str, Cell]]:
    """A row for each tenant."""
    for one in row.record.shares:
        shown = one.model_dump(exclude={"repeats", "why"})
        yield {"tcp_repeats": one.repeats, **shown}
