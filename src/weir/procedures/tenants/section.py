# SPDX-License-Identifier: Apache-2.0
"""Clouds of tenants in reports: what each that sends gets through, and where the rest is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from weir.procedures.tenants.section_slope import Slope, fitted
from weir.report import blocks, numbers
from weir.report.page.markup import sheet
from weir.report.sections import HOW_TO_READ, Cell, CsvTable, Note, PagePart, PlainTable, Section
from weir.report.summary import frame_label
from weir.results.result import Case, Result, Setup
from weir.results.tenants import Tenants, TenantsPoint

NAME = "tenants"
HEAD = (
    "Sending", "frame", "each sends, pps", "of each arrives, pps", "least–most", "lost",
    "latency, p99", "where most is lost",
)  # fmt: skip
WORDS = 2
TITLE = "Tenants that send at once"
PLACES = 1
"""Named of those where packets were lost; the result has all of them."""
LEAST = 0.01
"""Of all that was lost: a place with less is in the result alone."""
LOSSY = 0.005
"""Of its packets that a load may lose and still be called carried."""
COLUMNS = (
    "run", "lab", "security", "sending", "standing", "frame", "tenant", "load_pps", "trials", "offered_pps",
    "delivered_pps", "delivered_min_pps", "delivered_max_pps", "loss_ratio", "latency_p99_us",
)  # fmt: skip
MEANING = (
    "Each sends at the same load, from a host of its own network to the host outside. Arrives: the median "
    "tenant; least–most: those with the fewest and the most packets, medians of the repeats.",
    "Where: the device and its reason, by its own counters. socket_full: a switch in user space had not read "
    "it; interface_tx_dropped: the next core's queue in the kernel was full.",
)


@dataclass(frozen=True)
class Row:
    """One frame size, sent by so many tenants."""

    setup: Setup
    case: Case
    record: Tenants
    filtered: bool
    """Whether several ways to filter are compared, so that it must be said which this is."""

    @property
    def title(self) -> str:
        """ "4 of 4 tenants, 64 B"; "none, 4 of 4 tenants, 64 B"."""
        way = f"{self.setup.name}, " if self.filtered else ""
        return f"{way}{self.setup.chain} tenants, {frame_label(self.case.frame)} B"

    @property
    def frame(self) -> str:
        """ "64 B"; "64 B, none"."""
        way = f", {self.setup.name}" if self.filtered else ""
        return f"{frame_label(self.case.frame)} B{way}"

    @property
    def sending(self) -> str:
        """ "4 of 4"; "none, 4 of 4"."""
        return f"{self.setup.name}, {self.setup.chain}" if self.filtered else self.setup.chain


def rows(result: Result) -> list[Row]:
    """All, in stored order."""
    filtered = len({setup.name for setup in result.setups}) > 1
    return [
        Row(setup, case, Tenants.model_validate(case.records[NAME]), filtered)
        for setup, case in result.cases()
        if NAME in case.records
    ]


def slopes(result: Result) -> list[Slope]:
    """Of each goal and frame that several numbers of tenants have a rate of."""
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in rows(result):
        for one in row.case.throughput:
            rates = (one.load_pps, one.load_min_pps, one.load_max_pps)
            known = [rate for rate in rates if rate is not None]
            known = known if one.repeats > 1 else known[:1]
            place = points.setdefault((one.goal, row.frame), [])
            place += [(len(row.record.tenants), rate) for rate in known]
    found = (fitted(goal, of, some) for (goal, of), some in points.items())
    return [one for one in found if one is not None]


def _where(point: TenantsPoint) -> str:
    lost: Counter[str] = Counter()
    for one in point.drops:
        lost[f"{_device(one.place)} ({one.reason})"] += one.packets
    every = lost.total()
    told = [(place, packets) for place, packets in lost.most_common() if packets >= LEAST * every]
    named = [f"{place} {packets / every:.0%}" for place, packets in told[:PLACES]]
    more = len(told) - len(named)
    return (
        ", ".join([*named, *([f"{more} more {'place' if more == 1 else 'places'}"] if more else [])])
        or "nowhere"
    )


def _device(place: str) -> str:
    """Whoever's it is: "compute1:qvo of customer-1.1" as "compute1:qvo"; "customer-1.1:eth0" as "eth0" of the
    hosts that send."""
    device = place.partition(" of ")[0]
    owner, colon, interface = device.partition(":")
    return f"hosts:{interface}" if colon and "." in owner else device


def _line(row: Row, point: TenantsPoint) -> list[str]:
    name = [row.sending, frame_label(row.case.frame), f"{point.load_pps:,.0f}"]
    if not point.shares:
        return [*name, "none", numbers.NONE, numbers.NONE, numbers.NONE, point.why or ""]
    arrives = sorted(one.delivered_pps for one in point.shares)
    late = [one.latency_p99_us for one in point.shares if one.latency_p99_us is not None]
    return [
        *name,
        f"{arrives[len(arrives) // 2]:,.0f}",
        f"{arrives[0]:,.0f}–{arrives[-1]:,.0f}",
        numbers.share(_lost(point)),
        numbers.us(max(late, default=None)),
        _where(point),
    ]


def arrived(point: TenantsPoint) -> str:
    """ "4,132–4,160, 59 % lost": of each, and of all; why there is nothing."""
    if not point.shares:
        return point.why or ""
    ends = dict.fromkeys(f"{end:,.0f}" for end in _ends([one.delivered_pps for one in point.shares]))
    lost = _lost(point)
    return "–".join(ends) + (f", {numbers.share(lost)} lost" if lost else "")


def _lost(point: TenantsPoint) -> float:
    """Of what all of them sent."""
    offered = sum(one.offered_pps for one in point.shares)
    return 1 - sum(one.delivered_pps for one in point.shares) / offered if offered else 0.0


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each load."""
    return [_line(row, point) for row in rows(result) for point in row.record.points]


def terminal(result: Result) -> Iterator[RenderableType]:
    """One table."""
    cells = lines(result)
    if cells:
        table = blocks.table(f"\n{TITLE}")
        for index, name in enumerate(HEAD):
            words = index < WORDS or index == len(HEAD) - 1
            table.add_column(name.replace(", ", ",\n"), justify="left" if words else "right", overflow="fold")
        for line in cells:
            table.add_row(*line)
        yield table


def plain(result: Result) -> Iterator[PlainTable]:
    """The same."""
    cells = lines(result)
    if cells:
        yield PlainTable(TITLE, HEAD, cells, WORDS)


def findings(result: Result) -> Iterator[str]:
    """Up to which load each frame size is carried, what happens above it, and what a tenant more costs."""
    for row in sorted(rows(result), key=lambda one: -len(one.record.tenants)):
        known = [point for point in row.record.points if point.shares]
        carried = [point for point in known if _lost(point) <= LOSSY]
        above = next((point for point in known if _lost(point) > LOSSY), None)
        if carried:
            highest = max(point.load_pps for point in carried)
            yield f"{row.title}: each gets {highest:,.0f} packets a second through" + _above(above)
        elif above is not None:
            yield f"{row.title}: none of the loads is carried{_above(above)}"
    for slope in slopes(result):
        word = "more" if slope.share > 0 else "less"
        certain = "" if slope.low * slope.high > 0 else ", which may be nothing"
        yield (
            f"{slope.goal} at {slope.of}: each tenant more that sends, from {slope.fewest} "
            f"to {slope.most}, makes it {abs(slope.share):.1%} {word} for all together (95 %: "
            f"{slope.low:+.1%} to {slope.high:+.1%}){certain}."
        )


def _above(point: TenantsPoint | None) -> str:
    if point is None:
        return "."
    ends = dict.fromkeys(f"{end:,.0f}" for end in _ends([one.delivered_pps for one in point.shares]))
    return (
        f"; of {point.load_pps:,.0f} arrive {' to '.join(ends)}, and most of the rest is lost at "
        f"{_where(point).partition(' (')[0]}."
    )


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def notes(result: Result) -> Iterator[Note]:
    """How it is read."""
    if rows(result):
        yield Note(HOW_TO_READ, list(MEANING))


def page(result: Result) -> Iterator[PagePart]:
    """The table."""
    if lines(result):
        content = (sheet("What arrived", HEAD, lines(result), WORDS),)
        yield PagePart("Tenants", TITLE, " ".join(MEANING), content)


def csv(result: Result) -> CsvTable | None:
    """A row for each tenant and load."""
    return CsvTable(COLUMNS, _csv_rows(result)) if rows(result) else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for row in rows(result):
        for point in row.record.points:
            for one in point.shares:
                yield {
                    "run": result.id,
                    "lab": result.lab,
                    "security": row.setup.technology,
                    "sending": len(row.record.tenants),
                    "standing": row.record.standing,
                    "frame": row.case.frame,
                    "load_pps": point.load_pps,
                    "trials": point.trials,
                    **one.model_dump(),
                }


SECTION = Section(
    kind=lambda result: "tenants" if rows(result) else None,
    findings=findings,
    tables=plain,
    terminal=terminal,
    notes=notes,
    page=page,
    csv=csv,
    leads=True,
)
