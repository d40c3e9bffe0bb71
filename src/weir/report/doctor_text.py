# SPDX-License-Identifier: Apache-2.0
"""What `weir doctor` found, for a terminal: worst first, what is fine in a line each. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from weir.host.diagnosis import SEVERITIES, Diagnosis, Finding, Severity
from weir.report import blocks

PLAIN_COLUMNS = 80
_MARKS: dict[Severity, tuple[str, str, str, str]] = {
    "error": ("✗", "bold red", "error", "errors"),
    "warning": ("!", "bold yellow", "warning", "warnings"),
    "note": ("–", "cyan", "note", "notes"),
    "ok": ("✓", "green", "fine", "fine"),
}
_SUBJECT_COLUMNS = 12


def show(diagnosis: Diagnosis, console: Console) -> None:
    """A terminal gets colours and lines of its own width; a file or a pipe gets what `render` gives."""
    blocks.show(text(diagnosis), console, PLAIN_COLUMNS)


def render(diagnosis: Diagnosis) -> str:
    """As plain text."""
    return blocks.plain(text(diagnosis), PLAIN_COLUMNS)


def text(diagnosis: Diagnosis) -> RenderableType:
    """For a rich console. Nothing of the machine's is read as markup."""
    return Group(_heading(diagnosis), *_findings(diagnosis), *_unseen(diagnosis))


def _heading(diagnosis: Diagnosis) -> Text:
    cpus, count = diagnosis.facts.cpus, len(diagnosis.facts.cpus.online)
    nodes = max(1, len(cpus.nodes))
    head = Text(f"{cpus.model}, {count} CPU{'s' if count > 1 else ''}", style="bold")
    head.append(f" · {nodes} NUMA node{'s' if nodes > 1 else ''}", style="dim")
    head.append(f" · Linux {diagnosis.facts.software.kernel} · {diagnosis.seconds:.1f} s\n", style="dim")
    for severity in SEVERITIES:
        number = sum(finding.severity == severity for finding in diagnosis.findings)
        mark, style, one, more = _MARKS[severity]
        if number:
            head.append(f"{mark} {number} {one if number == 1 else more}   ", style=style)
    return head


def _findings(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    fine: list[Finding] = []
    for finding in diagnosis.findings:
        if finding.severity == "ok":
            fine.append(finding)
            continue
        yield Text("")
        yield _rows([finding])
    if fine:
        yield Text("")
        yield _rows(fine)


def _rows(findings: list[Finding]) -> Table:
    rows = Table.grid(padding=(0, 1, 0, 0))
    rows.add_column(width=1)
    rows.add_column(width=_SUBJECT_COLUMNS)
    rows.add_column(overflow="fold")
    for finding in findings:
        mark, style, _, _ = _MARKS[finding.severity]
        bold = "" if finding.severity == "ok" else "bold"
        rows.add_row(Text(mark, style), Text(finding.subject, style), Text(finding.what, bold))
        for label, said in (("costs", finding.cost), ("mend", finding.mend)):
            if said:
                rows.add_row("", Text(f"  {label}", "dim"), Text(said))
    return rows


def _unseen(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    hidden = diagnosis.facts.unseen
    if hidden:
        yield Text("")
        rows = Table.grid(padding=(0, 1, 0, 0))
        for one in hidden:
            rows.add_row(Text("?", "dim"), Text(f"not seen: {one.what} ({one.why})", overflow="fold"))
        yield rows
