# SPDX-License-Identifier: Apache-2.0
"""For a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from weir.report import blocks
from weir.results.verification import SuiteResult, Verification
from weir.verify.report import HEAD, LIMITS, calls, chains, headline, limits, lines, scenarios

_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow", "not run": "dim"}
_COLUMNS = 110


def show(found: Verification, console: Console) -> None:
    """All of it."""
    blocks.show(Text(found.title, style="bold"), console, _COLUMNS)
    blocks.show(Text(f"verify · {found.system} · {found.seconds:.0f} s · {found.id}"), console, _COLUMNS)
    blocks.show(Text(f"\n{headline(found)}", style="bold"), console, _COLUMNS)
    for suite in found.suites:
        table = blocks.table(f"\n{suite.name}: {suite.title}")
        for index, name in enumerate(HEAD):
            table.add_column(name, justify="right" if index == 2 else "left", overflow="fold")
        for name, outcome, seconds, said in lines(suite):
            table.add_row(name, Text(outcome, style=_STYLES[outcome]), seconds, said)
        blocks.show(table, console, _COLUMNS)
        _scenarios(suite, console)
        _chains(suite, console)
        _calls(suite, console)
    level = blocks.table("\nService level")
    for index, name in enumerate(LIMITS):
        level.add_column(name, justify="right" if index in (2, 3) else "left", overflow="fold")
    for row in limits(found):
        level.add_row(*row)
    blocks.show(level, console, _COLUMNS)
    for rest in blocks.listed("\nWhat this says of other clouds", found.fidelity, "bold"):
        blocks.show(rest, console, _COLUMNS)


def _scenarios(suite: SuiteResult, console: Console) -> None:
    """Of iterations alone: the page has their operations."""
    rows = scenarios.rows(suite, operations=False)
    if rows:
        table = blocks.table(f"\n{scenarios.TITLE}")
        kept = [n for n in range(len(scenarios.HEAD)) if n != 1]
        for index in kept:
            table.add_column(
                scenarios.HEAD[index],
                justify="right" if scenarios.numeric(index) else "left",
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(row[index] for index in kept))
        blocks.show(table, console, _COLUMNS)
    for sentence in scenarios.sentences(suite):
        blocks.show(Text(sentence), console, _COLUMNS)


def _chains(suite: SuiteResult, console: Console) -> None:
    for one in chains.tables(suite):
        table = blocks.table(f"\n{one.title}")
        for index, name in enumerate(one.head):
            table.add_column(name, justify="left" if index < one.words else "right", overflow="fold")
        for row in one.rows:
            table.add_row(*row)
        blocks.show(table, console, _COLUMNS)
    said = chains.sentences(suite)
    for rest in blocks.listed("\nWhat these rates rest on", said, "bold") if said else ():
        blocks.show(rest, console, _COLUMNS)


def _calls(suite: SuiteResult, console: Console) -> None:
    for title, head, rows in (
        (calls.TITLE, calls.HEAD, calls.rows(suite)),
        ("Calls that failed", calls.FATE_HEAD, calls.fates(suite)),
    ):
        if rows:
            table = blocks.table(f"\n{title}")
            for index, name in enumerate(head):
                numbers = index > 0 and not (head is calls.FATE_HEAD and index > 2)
                table.add_column(name, justify="right" if numbers else "left", overflow="fold")
            for row in rows:
                table.add_row(*row)
            blocks.show(table, console, _COLUMNS)
    for sentence in calls.sentences(suite):
        blocks.show(Text(sentence), console, _COLUMNS)
