# SPDX-License-Identifier: Apache-2.0
"""Clouds of tenants in reports: what each that sends gets through, and where the rest is lost."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import product

from rich.console import RenderableType

from weir.lab.frames import frame_label
from weir.procedures.tenants import section_paper, section_tcp
from weir.procedures.tenants.section_rows import (
    CARRIED,
    WAYS,
    Group,
    Row,
    TcpRow,
    carried,
    disturbed,
    ends,
    groups,
    lost,
    named,
    of_group,
    rows,
    tcp_rows,
)
from weir.procedures.tenants.section_steps import costs
from weir.procedures.tenants.section_where import UNKNOWN, where
from weir.report import blocks, numbers
from weir.report.page.markup import sheet
from weir.report.sections import HOW_TO_READ, Cell, CsvTable, Note, PagePart, PlainTable, Section
from weir.results.case import TCP
from weir.results.result import Result
from weir.results.tenants import OUTWARD, TenantShare, TenantsPoint

HEAD = (
    "Sending", "direction", "frame", "of each are sent, pps", "of each arrive, pps", "least–most", "lost",
    "worst tenant's p99", "where most is lost",
)  # fmt: skip
WORDS = 3
SENT = 0.99
"""Of a load: with less it is said what was sent."""
TITLE = "Tenants that send at once"
COLUMNS = (
    "run", "lab", "security", "variant", "sending", "standing", "frame", "tenant", "direction", "load_pps",
    "trials", "counted_share", "offered_pps", "delivered_pps", "delivered_min_pps", "delivered_max_pps",
    "loss_ratio", "latency_p99_us", *section_tcp.COLUMNS,
)  # fmt: skip
_OF_POINT = {"load_pps", "trials", "counted_share"}
PAPER = "What the paper found, here"
MEANING = (
    "Each sends at the same load, from a host of its own network to the host outside; or as much is sent "
    "from there to its floating address; where the table has both directions, at once. Arrive: the median "
    "tenant; least–most: those with the fewest and the most packets, medians of the repeats. Latency: of the "
    "tenant that has the greatest, the median of its trials' 99th percentiles.",
    "What arrives and what is lost is of the time in which every core was there; where, and latency, are of "
    "the whole trial. D: less than half of the time of a trial was such.",
    "Where: the device and its reason, by its own counters, of those that these tenants' packets pass; one "
    "that others pass, too, or that packets pass in both directions, has all of these losses with it. "
    "socket_full: a switch in user space had not read it; "
    "interface_tx_dropped: the next core's queue in the kernel was full.",
)


def _lines(row: Row) -> Iterator[list[str]]:
    for point in row.record.points:
        for group, direction in product(groups(row.record), row.record.directions):
            yield [
                named(row.sending, group),
                WAYS[direction],
                frame_label(row.case.frame),
                f"{point.load_pps:,.0f}{disturbed(point)}",
                *_cells(row, point, group, direction),
            ]


def _cells(row: Row, point: TenantsPoint, group: Group, direction: str) -> list[str]:
    shares = of_group(point, group, direction)
    if not shares:
        return ["none", numbers.NONE, numbers.NONE, numbers.NONE, point.why or ""]
    arrives = sorted(one.delivered_pps for one in shares)
    late = [one.latency_p99_us for one in shares if one.latency_p99_us is not None]
    less = lost(shares)
    return [
        f"{statistics.median(arrives):,.0f}",
        ends(arrives),
        numbers.share(less),
        numbers.us(max(late, default=None)),
        where(point.drops, group, row.record) if less else "nowhere",
    ]


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each load."""
    return [line for row in rows(result) for line in _lines(row)]


def terminal(result: Result) -> Iterator[RenderableType]:
    """Three tables, of what there is."""
    for one in plain(result):
        table = blocks.table(f"\n{one.title}")
        for index, name in enumerate(one.head):
            words = index < one.words or name == HEAD[-1]
            table.add_column(name.replace(", ", ",\n"), justify="left" if words else "right", overflow="fold")
        for line in one.lines:
            table.add_row(*line)
        yield table


def plain(result: Result) -> Iterator[PlainTable]:
    """The same."""
    for title, head, cells, words in (
        (TITLE, HEAD, lines(result), WORDS),
        (section_tcp.TITLE, section_tcp.HEAD, section_tcp.lines(result), section_tcp.WORDS),
        (PAPER, section_paper.HEAD, paper_lines(result), len(section_paper.HEAD)),
    ):
        if cells:
            yield PlainTable(title, head, cells, words)


def paper_lines(result: Result) -> list[list[str]]:
    """In the order of its HEAD."""
    return [[one.finding, one.paper, one.here, one.answer] for one in section_paper.checks(result)]


def findings(result: Result) -> Iterator[str]:
    """Up to which load each frame size is carried, what happens above it, TCP, and what one more costs."""
    for row in sorted(rows(result), key=lambda one: -len(one.record.tenants)):
        for group in groups(row.record):
            yield from _of_group(row, group)
    yield from section_tcp.findings(result)
    yield from costs(result)


def _of_group(row: Row, group: Group) -> Iterator[str]:
    """Both directions at once are one finding: the one says little without the other."""
    title = f"{row.title}, {group.title}" if group.title else row.title
    told = {
        WAYS[direction]: said
        for direction in row.record.directions
        if (said := _carried(row, group, direction)) is not None
    }
    if row.record.directions == [OUTWARD]:
        yield from (f"{title}: {said}" for said in told.values())
    elif told:
        yield f"{title}, " + " ".join(
            f"{way if number == 0 else way.capitalize()}: {said}"
            for number, (way, said) in enumerate(told.items())
        )


def _carried(row: Row, group: Group, direction: str) -> str | None:
    """Up to which load every tenant gets through all but what counts as carried, and what the least gets; and
    what is so at the lowest load at which some tenant does not. None: nothing is known."""
    known = [(point, shares) for point in row.record.points if (shares := of_group(point, group, direction))]
    known.sort(key=lambda one: one[0].load_pps)
    above = next((number for number, (_, shares) in enumerate(known) if not carried(shares)), len(known))
    over = "." if above == len(known) else f"; {_above(row, group, *known[above])}."
    if above:
        point, shares = known[above - 1]
        least = min(one.delivered_pps for one in shares)
        each, gets = ("each", "the least gets") if len(shares) > 1 else ("it", "gets")
        sent = f"{point.load_pps:,.0f} packets a second{_short(point, shares)}"
        at_most = numbers.share(CARRIED)
        return f"{each} loses {at_most} at most of {sent}, and {gets} {least:,.0f}{over}"
    return f"the lowest of the loads is not carried{over}" if known else None


def _short(point: TenantsPoint, shares: list[TenantShare]) -> str:
    """ " (1,500 were sent)": by the one that sent the least, where that is less than the load."""
    sent = min(one.offered_pps for one in shares)
    return f" ({sent:,.0f} were sent)" if sent < SENT * point.load_pps else ""


def _above(row: Row, group: Group, point: TenantsPoint, shares: list[TenantShare]) -> str:
    """ "of 10,000 arrive 4,000 to 4,003, lost at compute1:qvo (socket_full) 91%, 1 more place"."""
    arrives = ends([one.delivered_pps for one in shares]).replace("–", " to ")
    at = where(point.drops, group, row.record)
    return f"of {point.load_pps:,.0f} arrive {arrives}{'' if at == UNKNOWN else f', lost at {at}'}"


def notes(result: Result) -> Iterator[Note]:
    """How it is read."""
    if rows(result):
        yield Note(HOW_TO_READ, list(MEANING))
    behind = [row.record.background_pps for row in rows(result) if row.record.background_pps]
    if behind:
        said = (
            f"Tenants that are not counted as sending have {behind[0]:,.0f} packets a second each, in each "
            "direction, in the background; rates of all together are with these."
        )
        yield Note(HOW_TO_READ, [said])
    if any(len(row.record.directions) > 1 for row in rows(result)):
        yield Note(HOW_TO_READ, ["Rates of goals are of all tenants together, in both directions together."])
    if section_tcp.lines(result):
        yield Note(HOW_TO_READ, list(section_tcp.MEANING))


def page(result: Result) -> Iterator[PagePart]:
    """The tables."""
    if lines(result):
        content = (sheet("What arrived", HEAD, lines(result), WORDS, last_wraps=True),)
        yield PagePart("Tenants", TITLE, " ".join(MEANING), content)
    over_tcp = section_tcp.lines(result)
    if over_tcp:
        content = (sheet("Goodput", section_tcp.HEAD, over_tcp, section_tcp.WORDS),)
        yield PagePart("TCP", section_tcp.TITLE, " ".join(section_tcp.MEANING), content)
    told = paper_lines(result)
    if told:
        head = section_paper.HEAD
        content = (sheet("Findings", head, told, len(head), wrap=True),)
        yield PagePart("Paper", PAPER, section_paper.MEANING, content)


def csv(result: Result) -> CsvTable | None:
    """A row for each tenant and load, and one for its TCP."""
    return CsvTable(COLUMNS, _csv_rows(result)) if rows(result) else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for row in rows(result):
        for point in row.record.points:
            for one in point.shares:
                points = {**point.model_dump(include=_OF_POINT), **one.model_dump()}
                yield {**_whose(result, row), "frame": row.case.frame, **points}
    for over_tcp in tcp_rows(result):
        for found in section_tcp.csv_rows(over_tcp):
            yield {**_whose(result, over_tcp), "frame": TCP, **found}


def _whose(result: Result, row: Row | TcpRow) -> dict[str, Cell]:
    return {
        "run": result.id,
        "lab": result.lab,
        "security": row.setup.technology,
        "variant": row.setup.variant,
        "sending": len(row.record.tenants),
        "standing": row.record.standing,
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
