# SPDX-License-Identifier: Apache-2.0
"""Connections in reports: for each chain what was found for each goal, and where its connections went."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from weir.report import blocks, numbers
from weir.report.page.markup import Child, sentences, sheet
from weir.report.sections import (
    HOW_TO_READ,
    TESTER_ALONE,
    Cell,
    CsvTable,
    Note,
    PagePart,
    PlainTable,
    Section,
)
from weir.results.connections import NAME, Connections, ConnectionsFound, of_case
from weir.results.delay import Latency
from weir.results.result import Case, Result, Setup

HEAD = (
    "Chain", "Goal", "found", "min–max", "TPS", "goodput, Gbit/s", "sent again",
    "SYN to SYN-ACK, p50", "answer, p50", "answer, p99",
)  # fmt: skip
WORDS = 2
SPAN_MOST = 9
LEDGER_HEAD = (
    "Chain", "Goal", "at", "opened", "completed", "failed", "open", "transactions", "drops of packets",
)  # fmt: skip
COLUMNS = (
    "run", "lab", "technology", "variant", "chain", "goal", "success_ratio", "status", "load", "load_min",
    "load_max", "searches", "tester_bound", "lab_bound", "full_table", "why", "connections_per_s",
    "transactions_per_s", "goodput_bps", "l2_bps", "open_most", "retransmission_ratio",
    "connect_p50_us", "connect_p99_us",
    "first_byte_p50_us", "first_byte_p99_us", "transaction_p50_us", "transaction_p90_us",
    "transaction_p99_us", "transaction_p999_us", "transaction_max_us", "tester_per_s",
    "tester_transactions_per_s",
)  # fmt: skip
FULL_TABLE = ", table full"
MEANING = (
    "found: the highest load whose connections were completed in the share asked for: new ones a second, or "
    "so many open at once; or, on connections that stay open, so many transactions a second, or their "
    "payload. A connection is completed when all its answers were received whole and it "
    "was closed.",
    "TPS: transactions a second. Goodput: payload of requests and answers, in order, each byte once. "
    "Answer: from the beginning of a request to the last byte of its answer, with what was sent again.",
)


@dataclass(frozen=True)
class Unit:
    """How a load of one goal is written."""

    said: Callable[[float], str]
    """In a table."""
    sentence: Callable[[float], str]


UNITS = {
    "new-connections": Unit(
        lambda load: f"{load:,.0f} /s", lambda load: f"{load:,.0f} new connections a second"
    ),
    "concurrent-connections": Unit(
        lambda load: f"{load:,.0f}", lambda load: f"{load:,.0f} connections at the same time"
    ),
    "transactions": Unit(lambda load: f"{load:,.0f} /s", lambda load: f"{load:,.0f} transactions a second"),
    "throughput": Unit(
        lambda load: f"{numbers.gbps(load)} Gbit/s",
        lambda load: f"transactions of {numbers.gbps(load)} Gbit/s of payload",
    ),
}


@dataclass(frozen=True)
class Row:
    """The connections of one built chain."""

    setup: Setup
    case: Case
    record: Connections

    @property
    def title(self) -> str:
        """ "linux-bridge PVP"."""
        return self.setup.title


def rows(result: Result) -> list[Row]:
    """All, in stored order."""
    return [
        Row(setup, case, record)
        for setup, case in result.cases()
        if (record := of_case(case.records)) is not None
    ]


def amount(found: ConnectionsFound) -> str:
    """ "12,345 /s", "irregular"; with the mark of one that is of a table's size."""
    if found.load is None:
        return "irregular"
    least = "≥ " if found.tester_bound or found.lab_bound else ""
    return f"{least}{UNITS[found.goal].said(found.load)}{FULL_TABLE if found.full_table else ''}"


def _bare(found: ConnectionsFound, load: float | None) -> str:
    """Without its unit, which stands beside it."""
    return UNITS[found.goal].said(load or 0.0).partition(" ")[0]


def _p(times: Latency | None, quantile: str) -> str:
    return numbers.us(getattr(times, f"{quantile}_us") if times is not None else None)


def _goal(found: ConnectionsFound) -> str:
    """Its words, between which a narrow column may break."""
    return found.goal.replace("-", " ")


def _line(row: Row, found: ConnectionsFound) -> list[str]:
    known = found.load_min is not None and found.load_max is not None
    return [
        row.title,
        _goal(found),
        amount(found),
        f"{_bare(found, found.load_min)}–{_bare(found, found.load_max)}" if known else numbers.NONE,
        f"{found.transactions_per_s:,.0f}" if found.transactions_per_s is not None else numbers.NONE,
        numbers.gbps(found.goodput_bps),
        numbers.share(found.retransmission_ratio),
        _p(found.connect, "p50"),
        _p(found.transaction, "p50"),
        _p(found.transaction, "p99"),
    ]


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each chain and goal."""
    return [_line(row, found) for row in rows(result) for found in row.record.found]


def ledger_lines(result: Result) -> list[list[str]]:
    """In the order of LEDGER_HEAD: where the clients' connections went, in the last trial at it."""
    listed = []
    for row in rows(result):
        for found in row.record.found:
            trial = row.record.confirming(found)
            if trial is None:
                continue
            clients = trial.clients
            why = ", ".join(f"{count:,} {reason}" for reason, count in clients.failed.items() if count)
            drops = ", ".join(f"{one.packets:,} at {one.place} ({one.reason})" for one in trial.drops)
            listed.append(
                [
                    row.title,
                    _goal(found),
                    amount(found),
                    f"{clients.opened:,}",
                    f"{clients.completed:,}",
                    why or "0",
                    f"{clients.open:,}",
                    f"{clients.transactions:,}"
                    + (f" of {due:,}" if (due := trial.transactions_intended) is not None else ""),
                    drops or "none",
                ]
            )
    return listed


def _remarks(result: Result) -> list[str]:
    found = [(row, one) for row in rows(result) for one in row.record.found]
    said = [f"{row.title}, {one.goal}: {one.why}" for row, one in found if one.why]
    return said + [f"{row.title}, {one.goal}: {of_table(row, one)}" for row, one in found if one.full_table]


def of_table(row: Row, found: ConnectionsFound) -> str:
    """Why the rate is none that the function is as fast as."""
    trial = row.record.confirming(found)
    opened = (
        f"{trial.clients.opened:,} connections in {trial.intended_duration_s:g} s" if trial else "that many"
    )
    return (
        f"the rate is of a table's size, not of a speed. It held {opened}; with more, {found.full_table} had "
        "no room. A longer trial finds less: give the function room for the sessions of a whole trial."
    )


def _broken(cell: str) -> str:
    """A long span on two lines, and no number in two."""
    return cell.replace("–", "–\n") if len(cell) > SPAN_MOST else cell


def terminal(result: Result) -> Iterator[RenderableType]:
    """Two tables, goal by goal; remarks below."""
    if not rows(result):
        return
    for title, head, cells in (
        ("Connections", HEAD, lines(result)),
        ("Every connection", LEDGER_HEAD, ledger_lines(result)),
    ):
        table = blocks.table(f"\n{title}")
        for index, name in enumerate(head):
            words = [word for line in cells for word in line[index].split()] if index < WORDS else []
            table.add_column(
                name.replace(", ", ",\n"),
                justify="left" if index < WORDS else "right",
                overflow="fold",
                min_width=max(map(len, words), default=None),
            )
        for line in cells:
            table.add_row(*(_broken(cell) for cell in line))
        if cells:
            yield table
    for remark in _remarks(result):
        yield Text(remark, style="dim")


def plain(result: Result) -> Iterator[PlainTable]:
    """The same."""
    if rows(result):
        yield PlainTable("Connections", HEAD, lines(result), WORDS, " ".join(_remarks(result)))
        if ledgers := ledger_lines(result):
            yield PlainTable("Every connection", LEDGER_HEAD, ledgers, WORDS)


def findings(result: Result) -> Iterator[str]:
    """What each chain carries, by its first goal, and the goals for which nothing was found."""
    for row in rows(result):
        for number, found in enumerate(row.record.found):
            if found.load is None:
                yield f"{row.title}: no load was found for {found.goal}: {found.why}"
            if found.load is None or number > 0:
                continue
            what = UNITS[found.goal].sentence(found.load)
            least = "at least " if found.tester_bound or found.lab_bound else ""
            share = f"{100 * found.success_ratio:.6f}".rstrip("0").rstrip(".")
            ends = f"; {of_table(row, found)}" if found.full_table else "."
            yield f"{row.title} carries {least}{what}, {share} % of them completed{ends}"


def notes(result: Result) -> Iterator[Note]:
    """What was asked of the tester, and what it can do."""
    known = rows(result)
    if not known:
        return
    first = known[0].record
    yield Note(HOW_TO_READ, [*MEANING, f"Each connection is one of: {'; '.join(first.services)}."])
    alone = [one for row in known if (one := row.record.tester_per_s) is not None]
    if alone:
        said = " to ".join(f"{one:,.0f}" for one in sorted({min(alone), max(alone)}))
        yield Note(TESTER_ALONE, [f"{said} new connections a second, in loopback; ≥: it may be the limit."])


def page(result: Result) -> Iterator[PagePart]:
    """Both tables."""
    if rows(result):
        ledgers = ledger_lines(result)
        content: tuple[Child, ...] = (
            sheet("What was found", HEAD, lines(result), WORDS),
            sheet("Every connection", LEDGER_HEAD, ledgers, WORDS) if ledgers else None,
            sentences(_remarks(result), "plain why"),
        )
        yield PagePart("Connections", "Connections", " ".join(MEANING), content)


def csv(result: Result) -> CsvTable | None:
    """A row for each chain and goal."""
    return CsvTable(COLUMNS, _csv_rows(result)) if rows(result) else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for row in rows(result):
        for found in row.record.found:
            transaction = found.transaction.model_dump() if found.transaction is not None else {}
            more = ("p90_us", "p999_us", "max_us")
            times: dict[str, Cell] = {f"transaction_{name}": transaction.get(name) for name in more}
            times |= {
                f"{name}_{quantile}_us": getattr(one, f"{quantile}_us")
                for name in ("connect", "first_byte", "transaction")
                if (one := getattr(found, name)) is not None
                for quantile in ("p50", "p99")
            }
            yield {
                "run": result.id,
                "lab": result.lab,
                "technology": row.setup.technology,
                "variant": row.setup.variant,
                "chain": row.setup.chain,
                "status": "found" if found.load is not None else "irregular",
                "tester_per_s": row.record.tester_per_s,
                "tester_transactions_per_s": row.record.tester_transactions_per_s,
                **found.model_dump(exclude={"connect", "first_byte", "transaction", "loads"}),
                **times,
            }


SECTION = Section(
    kind=lambda result: NAME if rows(result) else None,
    findings=findings,
    tables=plain,
    terminal=terminal,
    notes=notes,
    page=page,
    csv=csv,
    leads=True,
)
