# SPDX-License-Identifier: Apache-2.0
"""Predictions by the model kernel-vnf for people: tables of 80 columns, then what limits and why."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from weir.planning.kernel_vnf import reasons
from weir.planning.kernel_vnf.configuration import PUBLISHED, published
from weir.planning.kernel_vnf.ranking import Case, Prediction, Question, rank
from weir.report import numbers
from weir.report.blocks import new_console

COLUMNS = 80
WORTH_SAYING = 0.005
"""Tables 1 and 2 are said to disagree from there on."""
_SOURCES = {
    "table-2": "Table 2 of [ExecAreas]",
    "table-1": "calibrated from the points of [ExecAreas], Table 1",
}


def predictions(found: Sequence[Prediction], asked: Question) -> str:
    """A row for each case."""
    table = _table("Flows", "Frame", "Config", "f", "Cores", "Cycles", "Mpps", "Gbit/s", "Limit")
    for one in found:
        table.add_row(str(one.case.flows), _size(one.case), *_cells(one))
    said = [reasons.limits(found[0])] if len(found) == 1 else []
    said += [*reasons.caveats(found, basis=_basis(asked)), *_other_table(found, asked)]
    return _text(_heading(asked), Text(""), table, *_points(said), _legend())


def plans(rankings: Sequence[Sequence[Prediction]], asked: Question, rate_pps: float | None) -> str:
    """A table for each case, best first, with the reasons below."""
    parts: list[RenderableType] = [_heading(asked)]
    basis = _basis(asked)
    for ranked in rankings:
        case = ranked[0].case
        flows = "1 flow" if case.flows == 1 else f"{case.flows} flows"
        parts.append(Text(f"\n{flows}, frames of {_size(case)} bytes", style="bold"))
        table = _table("", "Config", "f", "Cores", "Cycles", "Mpps", "Gbit/s", "Limit")
        for place, one in enumerate(ranked, start=1):
            missing = rate_pps is not None and not one.meets(rate_pps)
            table.add_row(str(place), *_cells(one), style="dim" if missing else "")
        said = [reasons.verdict(ranked, rate_pps=rate_pps, basis=basis)]
        if rate_pps is None or not ranked[0].meets(rate_pps):
            said.append(reasons.limits(ranked[0]))
        said += [*reasons.caveats(ranked[:1], basis=basis), *_left_out(ranked, asked)]
        said += _other_winner(ranked, asked, rate_pps)
        parts += [table, *_points(said)]
    return _text(*parts, _legend())


def _basis(asked: Question) -> reasons.Basis:
    if asked.source in PUBLISHED:
        return reasons.PUBLISHED_BASIS
    return reasons.basis_of_points(asked.configurations.values())


def _heading(asked: Question) -> Text:
    case = asked.cases[0]
    source = _SOURCES.get(asked.source, f"calibrated from {asked.source}")
    link = f"link {case.link_bps / 1e9:g} Gbit/s"
    head = Text("kernel-vnf", style="bold")
    return head.append(
        f": {case.frequency_hz / 1e9:g} GHz, {case.cores} cores, {link}; {source}", style="dim"
    )


def _legend() -> Text:
    return Text(
        "\nf: sets of x + y cores side by side. Cycles: a packet's, on the fullest core of a set. "
        "Gbit/s: L1, with preamble and gap.",
        style="dim",
    )


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for head in heads:
        left = head in ("Config", "Limit")
        table.add_column(head, justify="left" if left else "right", overflow="fold")
    return table


def _cells(one: Prediction) -> Iterator[str]:
    yield one.configuration.name
    yield str(one.scale)
    yield str(one.cores)
    yield f"{one.throughput.core_cycles:,.0f}"
    yield numbers.mpps(one.throughput.pps)
    yield numbers.gbps(one.throughput.l1_bps)
    yield one.throughput.limited_by


def _size(case: Case) -> str:
    return str(case.frame_bytes) if isinstance(case.frame_bytes, int) else f"{case.frame_bytes:.1f} (mean)"


def _other_table(found: Sequence[Prediction], asked: Question) -> Iterator[str]:
    """Where the other published table says something else, by how much at most."""
    other = _other_source(asked)
    if other is None:
        return
    far: dict[str, float] = {}
    for one in found:
        name = one.configuration.name
        apart = reasons.disagreement(one, published(other)[name]) or 0.0
        far[name] = max(far.get(name, 0.0), apart, key=abs)
    listed = [
        f"{abs(apart):.1%} {'more' if apart > 0 else 'less'} for {name}"
        for name, apart in far.items()
        if abs(apart) >= WORTH_SAYING
    ]
    if listed:
        most = "at most " if len(found) > 1 else ""
        yield (
            f"The published tables disagree: against --parameters {other} this is {most}{', '.join(listed)}."
        )


def _other_winner(ranked: Sequence[Prediction], asked: Question, rate_pps: float | None) -> Iterator[str]:
    """That the other published table would choose another configuration."""
    other = _other_source(asked)
    if other is None:
        return
    best = rank(published(other).values(), ranked[0].case, rate_pps=rate_pps)[0]
    if best.configuration.name != ranked[0].configuration.name:
        yield (
            f"The published tables disagree: with --parameters {other}, {best.configuration.name} comes "
            f"first, with {numbers.rate(best.throughput.pps)}."
        )


def _other_source(asked: Question) -> str | None:
    """The published table that is not in use; None with the user's own points."""
    others = [name for name in PUBLISHED if name != asked.source]
    return others[0] if len(others) == 1 else None


def _left_out(ranked: Sequence[Prediction], asked: Question) -> Iterator[str]:
    there = {one.configuration.name for one in ranked}
    missing = [one for name, one in asked.configurations.items() if name not in there]
    if missing:
        listed = ", ".join(f"{one.name} ({one.cores})" for one in missing)
        yield f"Too few cores for {listed}."


def _points(sentences: Iterable[str]) -> Iterator[RenderableType]:
    rows = Table.grid(padding=(0, 1, 0, 0))
    for sentence in sentences:
        rows.add_row("–", Text(sentence, overflow="fold"))
    if rows.row_count:
        yield Padding(rows, (1, 0, 0, 0))


def _text(*parts: RenderableType) -> str:
    """With colours for a terminal, plain otherwise; 80 columns either way."""
    out = io.StringIO()
    terminal = new_console().is_terminal
    console = new_console(out, width=COLUMNS, force_terminal=terminal, legacy_windows=False)
    console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
