# SPDX-License-Identifier: Apache-2.0
"""Replayed captures in reports: at which rate, how punctual, and what was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from weir.base.si import US_PER_S
from weir.report import blocks, numbers
from weir.report.page.markup import sheet
from weir.report.sections import HOW_TO_READ, Cell, CsvTable, Note, PagePart, PlainTable, Section
from weir.results.replay import Replay
from weir.results.result import Case, Result, Setup

NAME = "replay"
HEAD = (
    "Chain", "asked", "own rate, pps", "replayed, pps", "L2, Gbit/s", "takes", "replays", "lost", "min–max",
    "late, p99", "latency, p99", "where",
)  # fmt: skip
SHOWN = ("Chain", "asked", "replayed, pps", "takes", "replays", "lost", "late, p99", "latency, p99")
"""In a terminal of 80 columns; where packets were lost is below."""
WORDS = 2
LATE_SHARE = 0.01
"""Of a replay's time: sent later than that, it is another load than the capture's."""
COLUMNS = (
    "run", "lab", "technology", "variant", "chain", "asked", "own_pps", "own_seconds", "factor", "load_pps",
    "l2_bps", "seconds", "replays", "loss_ratio", "loss_ratio_min", "loss_ratio_max", "lateness_p99_us",
    "latency_p99_us",
)  # fmt: skip
MEANING = (
    "own rate: of the capture as it was recorded, frames a second from its first to its last, both "
    "directions together. Replayed: the mean of the same frames, with all times shrunk by one factor.",
    "takes: at that rate; late: how long after its time a frame was sent, the worst direction.",
    "A replay sends each frame once.",
)


@dataclass(frozen=True)
class Row:
    """One built chain."""

    setup: Setup
    case: Case
    record: Replay

    @property
    def title(self) -> str:
        """ "linux-bridge PVP"."""
        return self.setup.title


def rows(result: Result) -> list[Row]:
    """All, in stored order."""
    return [
        Row(setup, case, Replay.model_validate(case.records[NAME]))
        for setup, case in result.cases()
        if NAME in case.records
    ]


def _line(row: Row) -> list[str]:
    record = row.record
    lost: Counter[str] = Counter()
    for trial in row.case.trials:
        for drop in trial.drops if trial.valid else ():
            lost[f"{drop.decided_by or drop.place} ({drop.reason})"] += drop.packets
    known = record.loss_ratio_min is not None and record.loss_ratio_max is not None
    span = f"{numbers.share(record.loss_ratio_min)}–{numbers.share(record.loss_ratio_max)}"
    return [
        row.title,
        f"{record.asked} ({record.factor:.4g}x)" if f"{record.factor:g}x" != record.asked else record.asked,
        f"{record.own_pps:,.1f}",
        f"{record.load_pps:,.1f}",
        numbers.gbps(record.l2_bps),
        numbers.time_s(record.seconds),
        str(record.replays),
        numbers.share(record.loss_ratio),
        span if known else numbers.NONE,
        numbers.us(record.lateness.p99_us if record.lateness else None),
        numbers.us(record.latency.p99_us if record.latency else None),
        ", ".join(f"{packets:,} at {place}" for place, packets in lost.most_common()) or "none",
    ]


def lines(result: Result) -> list[list[str]]:
    """In the order of HEAD: one for each chain."""
    return [_line(row) for row in rows(result)]


def terminal(result: Result) -> Iterator[RenderableType]:
    """One table."""
    cells = [dict(zip(HEAD, line, strict=True)) for line in lines(result)]
    if cells:
        table = blocks.table("\nReplayed captures")
        for index, name in enumerate(SHOWN):
            left = index < WORDS
            table.add_column(
                name.replace(", ", ",\n"), justify="left" if left else "right", no_wrap=not left,
                overflow="fold" if left else "ignore",
            )  # fmt: skip
        for line in cells:
            table.add_row(*(line[name] for name in SHOWN))
        yield table
        for line in cells:
            if line["where"] != "none":
                yield Text(f"{line['Chain']} lost {line['where']}", style="dim", overflow="fold")


def plain(result: Result) -> Iterator[PlainTable]:
    """The same."""
    if rows(result):
        yield PlainTable("Replayed captures", HEAD, lines(result), WORDS)


def findings(result: Result) -> Iterator[str]:
    """What each chain lost."""
    for row in rows(result):
        record = row.record
        at = f"{record.factor:.4g} times its own rate ({record.load_pps:,.0f} packets a second)"
        if record.loss_ratio is None:
            yield f"{row.title}: no replay at {at} can be used: {row.case.problem}"
        else:
            lost = numbers.share(record.loss_ratio) if record.loss_ratio else "nothing"
            late = f"; {_lateness(record)}" if _late(record) else ""
            yield f"{row.title} loses {lost} of the capture at {at}{late}."


def _late(record: Replay) -> bool:
    late_us = record.lateness.p99_us if record.lateness is not None else None
    return late_us is not None and late_us > LATE_SHARE * record.seconds * US_PER_S


def _lateness(record: Replay) -> str:
    assert record.lateness is not None
    return (
        f"but frames were sent up to {numbers.us(record.lateness.p99_us)} late (P99) of "
        f"{numbers.time_s(record.seconds)}, which is another load than the capture's"
    )


def notes(result: Result) -> Iterator[Note]:
    """How it is read, and what each end sent."""
    known = rows(result)
    if known:
        files = [
            f"{one.direction}: {one.frames:,} frames of {one.mean_frame_bytes:.0f} B in the mean in "
            f"{numbers.time_s(one.own_seconds)}, {one.own_pps:,.1f} a second."
            for one in known[0].record.captures
        ]
        yield Note(HOW_TO_READ, [*MEANING, *files])


def page(result: Result) -> Iterator[PagePart]:
    """The table."""
    if rows(result):
        content = (sheet("What was lost", HEAD, lines(result), WORDS),)
        yield PagePart("Replay", "Replayed captures", " ".join(MEANING), content)


def csv(result: Result) -> CsvTable | None:
    """A row for each chain."""
    return CsvTable(COLUMNS, _csv_rows(result)) if rows(result) else None


def _csv_rows(result: Result) -> Iterator[dict[str, Cell]]:
    for row in rows(result):
        record = row.record
        yield {
            "run": result.id,
            "lab": result.lab,
            "technology": row.setup.technology,
            "variant": row.setup.variant,
            "chain": row.setup.chain,
            "lateness_p99_us": record.lateness.p99_us if record.lateness else None,
            "latency_p99_us": record.latency.p99_us if record.latency else None,
            **record.model_dump(exclude={"captures", "lateness", "latency"}),
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
