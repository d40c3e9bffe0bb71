# SPDX-License-Identifier: Apache-2.0
"""The page's tables of delays at given loads and of the service level."""

from __future__ import annotations

from weir.report import summary
from weir.report.delay_rows import HEAD, MEANING, delay_rows, verdict_cells, verdicts
from weir.report.page.markup import Markup, sheet, tag
from weir.store.result import Result


def delays(result: Result) -> Markup | None:
    """One row a technology, chain, frame and load; None where the lab asked for none."""
    lines = [
        [
            row.setup.technology,
            row.setup.chain,
            summary.frame_label(row.case.frame),
            row.load + ("" if row.valid else " (invalid)"),
            *row.cells(),
        ]
        for row in delay_rows(result)
    ]
    if not lines:
        return None
    head = ("technology", "chain", "frame", "load", *(f"{name}, µs" for name in HEAD))
    return tag("div", sheet("Delay at given loads", head, lines, 4), tag("p", MEANING, class_="dim"))


def service_level(result: Result) -> Markup | None:
    """One row a limit, those not met first; None where the lab promises nothing."""
    lines = [
        [setup.technology, setup.chain, summary.frame_label(case.frame), *verdict_cells(verdict)]
        for setup, case, verdict in verdicts(result)
    ]
    if not lines:
        return None
    head = ("technology", "chain", "frame", "limit on", "load", "found", "limit", "used", "verdict")
    return sheet("Service level", head, lines, 5)
