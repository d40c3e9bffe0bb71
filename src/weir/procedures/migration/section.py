# SPDX-License-Identifier: Apache-2.0
"""A live migration in reports: facts, and what the traffic saw, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from weir.base.si import MS_PER_S
from weir.report import blocks, numbers
from weir.report.page.markup import sentences, sheet, tag
from weir.report.sections import PagePart, PlainTable, Section
from weir.results.migration import Migration, PhaseStream
from weir.results.result import Case, Result, Setup

HEAD = ("Phase", "", "lasted", "offered", "missing", "outage, ms", "longest gap", "max delay, ms")
WORDS = 2
MEANING = (
    "Outage: packets that went missing in gaps that began in the phase, divided by the rate of that "
    "direction (loss-derived, RFC 6413); longest gap: of one loss, in ms; ≥: nothing came any more while the "
    "traffic lasted. Max delay: of what arrived."
)


@dataclass(frozen=True)
class MigrationRow:
    """One migration, where it was."""

    setup: Setup
    case: Case
    migration: Migration

    @property
    def title(self) -> str:
        """ "linux-bridge PVP: migration of f1 (default)"."""
        one = self.migration
        return f"{self.setup.title}: migration of {one.node} ({one.function})"


def migrations(result: Result) -> list[MigrationRow]:
    """All, in stored order; empty for a run that was none."""
    return [
        MigrationRow(setup, case, case.migration)
        for setup, case in result.cases()
        if case.migration is not None
    ]


def facts(row: MigrationRow) -> Iterator[tuple[str, str]]:
    """Name and value, most important first."""
    one, qemu = row.migration, row.migration.qemu
    yield "migration", one.status + (f": {one.why}" if one.why else "")
    if one.phases:
        yield "primaries", "carried the traffic again" if one.restored else "did not come back"
    yield "load", f"{numbers.rate(one.load_pps)} ({one.load}), frame {row.case.frame}"
    trial = next((each for each in row.case.trials if each.purpose == "migration"), None)
    if trial is not None:
        lost = trial.offered - trial.delivered
        yield "packets", f"{trial.offered} offered, {trial.delivered} delivered, {lost} lost"
        balance = "balanced to the packet" if trial.unaccounted == 0 else f"{trial.unaccounted} unaccounted"
        yield "ledger", balance
        for drop in trial.drops:
            yield "", f"{drop.packets} at {drop.place}: {drop.reason}"
    if qemu is not None:
        yield (
            "QEMU says",
            f"down for {qemu.downtime_ms} ms, {numbers.time_s(qemu.total_ms / MS_PER_S)} in all",
        )
        sent, has = (value / (1 << 20) for value in (qemu.transferred_bytes, qemu.memory_bytes))
        yield "memory", f"{sent:.1f} MiB sent of {has:.0f} MiB, {qemu.rounds} rounds"
    limit = "QEMU's own" if one.bandwidth_bps is None else f"{numbers.gbps(one.bandwidth_bps)} Gbit/s"
    yield "limits", f"down for {one.downtime_limit_ms} ms; bandwidth {limit}"


def lines(migration: Migration) -> list[list[str]]:
    """In the order of HEAD: a line for each phase and direction."""
    return [
        [
            phase.name if index == 0 else "",
            numbers.ARROWS.get(stream.direction, stream.direction),
            numbers.time_s(phase.to_s - phase.from_s) if index == 0 else "",
            str(stream.offered),
            str(stream.missing),
            _least(stream) + f"{stream.outage_ms:.1f}",
            _least(stream) + f"{stream.longest_gap_ms:.1f}",
            f"{stream.max_delay_ms:.1f}",
        ]
        for phase in migration.phases
        for index, stream in enumerate(phase.streams)
    ]


def _least(stream: PhaseStream) -> str:
    return "≥ " if stream.silent_to_the_end else ""


def tables(result: Result) -> Iterator[RenderableType]:
    """Nothing for a run without a migration."""
    for row in migrations(result):
        yield Text(f"\n{row.title}", style="bold")
        yield blocks.facts(facts(row))
        if row.migration.phases:
            yield _phases(lines(row.migration))
            yield Text(MEANING, style="dim")
        for fault in row.migration.faults:
            yield Text(fault, style="bold red")


def _phases(cells: list[list[str]]) -> Table:
    out = blocks.table("")
    for index, name in enumerate(HEAD):
        out.add_column(name.replace(", ", ",\n"), justify="left" if index < WORDS else "right")
    for line in cells:
        out.add_row(*line)
    return out


def parts(result: Result) -> Iterator[PagePart]:
    """One for all migrations; none for a run without."""
    rows = migrations(result)
    if rows:
        yield PagePart(
            "Migration",
            "Live migration",
            "A virtual machine from one QEMU to another while traffic runs through it. Each loss belongs to "
            "the phase in which its first packet was due.",
            tuple(_one(row) for row in rows),
        )


def _one(row: MigrationRow) -> Markup:
    pairs = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts(row)]
    phases = lines(row.migration)
    return tag(
        "div",
        tag("h3", row.title),
        tag("dl", pairs, class_="facts"),
        sentences(row.migration.faults, "plain why"),
        sheet("What the traffic saw", HEAD, phases, WORDS) if phases else None,
        tag("p", MEANING, class_="dim"),
    )


def findings(result: Result) -> Iterator[str]:
    """How each ended, and the longest outage that the traffic saw."""
    for row in migrations(result):
        one = row.migration
        why = f" ({one.why})" if one.why else ""
        said = f"The migration of {one.node} under {row.setup.title}: {one.status}{why}"
        yield f"{said}{_outage(one)}."
        yield from one.faults


def _outage(migration: Migration) -> str:
    seen = [stream for phase in migration.phases for stream in phase.streams]
    outages: dict[str, float] = {}
    for each in seen:
        outages[each.direction] = outages.get(each.direction, 0.0) + each.outage_ms
    if not outages:
        return ""
    most_ms = max(outages.values())
    if any(each.silent_to_the_end for each in seen):
        return f"; the traffic missed at least {most_ms:.1f} ms in its worse direction: nothing came any more"
    return f"; the traffic missed {most_ms:.1f} ms in its worse direction, by lost packets"


def plain_tables(result: Result) -> Iterator[PlainTable]:
    """Facts, and what the traffic saw."""
    for row in migrations(result):
        yield PlainTable(row.title, ("", ""), [list(pair) for pair in facts(row)], 2)
        if row.migration.phases:
            yield PlainTable("What the traffic saw", HEAD, lines(row.migration), WORDS, MEANING)


SECTION = Section(
    kind=lambda result: "migration" if migrations(result) else None,
    findings=findings,
    tables=plain_tables,
    terminal=tables,
    page=parts,
    leads=True,
)
