# SPDX-License-Identifier: Apache-2.0
"""Clouds of tenants in reports: what each that sends gets through, and where the rest is lost."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from weir.procedures.tenants import section_paper, section_tcp
from weir.procedures.tenants.section_rows import (
    CARRIED,
    Group,
    Row,
    TcpRow,
    ends,
    groups,
    lost,
    named,
    of_group,
    rows,
    tcp_rows,
    where,
)
from weir.procedures.tenants.section_slope import costs
from weir.report import blocks, numbers
from weir.report.page.markup import sheet
from weir.report.sections import HOW_TO_READ, Cell, CsvTable, Note, PagePart, PlainTable, Section
from weir.report.summary import frame_label
from weir.results.result import TCP, Result
from weir.results.tenants import TenantsPoint

HEAD = (
    "Sending", "frame", "each sends, pps", "of each arrives, pps", "least–most", "lost",
    "latency, p99", "where most is lost",
)  # fmt: skip
WORDS = 2
TITLE = "Tenants that send at once"
COLUMNS = (
    "run", "lab", "security", "variant", "sending", "standing", "frame", "tenant", "load_pps", "trials",
    "offered_pps", "delivered_pps", "delivered_min_pps", "delivered_max_pps", "loss_ratio", "latency_p99_us",
    *section_tcp.COLUMNS,
)  # fmt: skip
PAPER = "What the paper found, here"
PAPER_MEANING = (
    "Callegati, Cerroni and Contoli measured it on machines of their own for senders, nodes and receivers. "
    "Not told: the interval of the repeats holds both, or there is one repeat."
)
MEANING = (
    "Each sends at the same load, from a host of its own network to the host outside. Arrives: the median "
    "tenant; least–most: those with the fewest and the most packets, medians of the repeats.",
    "Where: the device and its reason, by its own counters. socket_full: a switch in user space had not read "
    "it; interface_tx_dropped: the next core's queue in the kernel was full.",
)


def _lines(row: Row) -> Iterator[list[str]]:
    for point in row.record.points:
        for group in groups(row.record):
            name = named(row.sending, group)
            yield [name, frame_label(row.case.frame), f"{point.load_pps:,.0f}", *_cells(row, point, group)]


def _cells(row: Row, point: TenantsPoint, group: Group) -> list[str]:
    shares = of_group(point, group)
    if not shares:
        return ["none", numbers.NONE, numbers.NONE, numbers.NONE, point.why or ""]
    arrives = sorted(one.delivered_pps for one in shares)
    late = [one.latency_p99_us for one in shares if one.latency_p99_us is not None]
    less = lost(shares)
    return [
        f"{arrives[len(arrives) // 2]:,.0f}",
        f"{arrives[0]:,.0f}–{arrives[-1]:,.0f}",
        numbers.share(less),
        numbers.us(max(late, default=None)),
        where(point.drops, group, row.record.tenants) if less else "nowhere",
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
            yield from _carried(row, group)
    yield from section_tcp.findings(result)
    yield from costs(result)


def _carried(row: Row, group: Group) -> Iterator[str]:
    known = {point.load_pps: (point, of_group(point, group)) for point in row.record.points}
    known = {load: (point, shares) for load, (point, shares) in known.items() if shares}
    title = f"{row.title}, {group.title}" if group.title else row.title
    carried = [load for load, (_, shares) in known.items() if lost(shares) <= CARRIED]
    above = next((load for load, (_, shares) in known.items() if lost(shares) > CARRIED), None)
    over = "."
    if above is not None:
        point, shares = known[above]
        arrives = ends([one.delivered_pps for one in shares]).replace("–", " to ")
        at = where(point.drops, group, row.record.tenants).partition(" (")[0]
        over = f"; of {above:,.0f} arrive {arrives}, and most of the rest is lost at {at}."
    if carried:
        yield f"{title}: each gets {max(carried):,.0f} packets a second through{over}"
    elif above is not None:
        yield f"{title}: none of the loads is carried{over}"


def notes(result: Result) -> Iterator[Note]:
    """How it is read."""
    if rows(result):
        yield Note(HOW_TO_READ, list(MEANING))
    behind = [row.record.background_pps for row in rows(result) if row.record.background_pps]
    if behind:
        said = (
            f"Tenants that are not counted as sending send {behind[0]:,.0f} packets a second each, in the "
            "background; rates of all together are with these."
        )
        yield Note(HOW_TO_READ, [said])
    if section_tcp.lines(result):
        yield Note(HOW_TO_READ, list(section_tcp.MEANING))


def page(result: Result) -> Iterator[PagePart]:
    """The tables."""
    if lines(result):
        content = (sheet("What arrived", HEAD, lines(result), WORDS),)
        yield PagePart("Tenants", TITLE, " ".join(MEANING), content)
    over_tcp = section_tcp.lines(result)
    if over_tcp:
        content = (sheet("Goodput", section_tcp.HEAD, over_tcp, section_tcp.WORDS),)
        yield PagePart("TCP", section_tcp.TITLE, " ".join(section_tcp.MEANING), content)
    told = paper_lines(result)
    if told:
        head = section_paper.HEAD
        content = (sheet("Findings", head, told, len(head), wrap=True),)
        yield PagePart("Paper", PAPER, PAPER_MEANING, content)


def csv(result: Result) -> CsvTable | None:
    """A row for each tenant and load, and one for its TCP."""
    return CsvTable(COLUMNS, _csv_rows(result)) if rows(result) else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for row in rows(result):
        for point in row.record.points:
            for one in point.shares:
                points = {"load_pps": point.load_pps, "trials": point.trials, **one.model_dump()}
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
