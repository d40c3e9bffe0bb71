# SPDX-License-Identifier: Apache-2.0
"""The page's section on a live migration: facts, and what the traffic saw, phase by phase."""

from __future__ import annotations

from weir.report import migration_rows
from weir.report.migration_rows import MigrationRow
from weir.report.page.markup import Markup, sheet, tag
from weir.results.result import Result


def migration(result: Result) -> Markup | None:
    """One part a migration; None for a run without."""
    rows = migration_rows.migrations(result)
    return tag("div", [_one(row) for row in rows]) if rows else None


def _one(row: MigrationRow) -> Markup:
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in migration_rows.facts(row)]
    faults = [tag("li", sentence) for sentence in row.migration.faults]
    lines = migration_rows.lines(row.migration)
    return tag(
        "div",
        tag("h3", row.title),
        tag("dl", facts, class_="facts"),
        tag("ul", faults, class_="plain why") if faults else None,
        sheet("What the traffic saw", migration_rows.HEAD, lines, migration_rows.WORDS) if lines else None,
        tag("p", migration_rows.MEANING, class_="dim"),
    )
