# SPDX-License-Identifier: Apache-2.0
"""An explanation for people, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from weir.base import packet_rate
from weir.lab.frames import frame_label
from weir.results.explanation import Advice, AreaFigures, CaseExplanation, Evidence, Explanation

COLUMNS = 80
FULL_CASES = 4
"""More cases than this get a sentence each, without evidence and advice."""
_INDENT = "  "
_AWAY_SHARE = 0.1
"""Of the time: then areas of a core are not to be read alone."""


def show(explanation: Explanation, console: Console) -> None:
    """Prints it."""
    brief = len(explanation.cases) > FULL_CASES
    for number, case in enumerate(explanation.cases):
        if number and not brief:
            console.print()
        for line in _brief(case) if brief else _whole(case):
            console.print(line, soft_wrap=True)
    if brief:
        console.print()
        hint = "Name one with --technology, --chain and --frame for its evidence and advice."
        console.print(Text(hint, style="dim"), soft_wrap=True)


def _brief(case: CaseExplanation) -> Iterator[Text]:
    yield Text(_title(case), style="bold")
    yield from _wrapped(case.limit.sentence)


def _whole(case: CaseExplanation) -> Iterator[Text]:
    yield Text(_title(case), style="bold")
    if case.carried_pps is not None and case.offered_pps is not None:
        unit = packet_rate.unit_of((case.offered_pps,))
        rates = f"{packet_rate.said(case.offered_pps)} offered"
        if case.limit.kind != "nothing":  # else all was carried, some of it later
            rates = f"carried {unit.text(case.carried_pps)} of {rates}"
        yield Text(f"{rates} in a trial of purpose {case.purpose}", style="dim")
    for because in case.not_used:
        yield from _wrapped(f"not used: {because}", "", _INDENT)
    yield Text()
    kind = f" ({case.limit.kind})" if f"({case.limit.kind})" not in case.limit.name else ""
    yield Text(f"Limited by: {case.limit.name}{kind}", style="bold")
    yield from _wrapped(case.limit.sentence)
    if case.evidence:
        yield Text()
        yield Text("Evidence", style="bold")
        yield from _evidence(case.evidence)
    if case.areas:
        yield Text()
        yield Text("Areas", style="bold")
        yield from _areas(case.areas)
    if case.second is not None:
        yield Text()
        yield Text(f"Next: {case.second.name}", style="bold")
        yield from _wrapped(case.second.sentence)
    if case.advice:
        yield Text()
        yield Text("What can help", style="bold")
        for one in case.advice:
            yield from _advice(one)


def _title(case: CaseExplanation) -> str:
    return f"{case.technology} {case.chain}, frame {frame_label(case.frame)}"


def _wrapped(text: str, first: str = _INDENT, then: str = _INDENT) -> Iterator[Text]:
    for line in textwrap.wrap(text, COLUMNS, initial_indent=first, subsequent_indent=then):
        yield Text(line)


def _evidence(rows: Sequence[Evidence]) -> Iterator[Text]:
    width = min(32, max(len(row.what) for row in rows))
    for row in rows:
        head = f"{_INDENT}{row.what:<{width}}  {_value(row):>17}"
        yield from _wrapped(f"{head}  {row.note}".rstrip(), "", " " * (width + 23))


def _areas(rows: Sequence[AreaFigures]) -> Iterator[Text]:
    width = max(len(row.name) for row in rows)
    offloads = any(row.offloaded for row in rows)
    below = "      offloaded" if offloads else ""
    yield Text(
        f"{_INDENT}{'':<{width}}  core  busy  cycles/packet        packets{below}   dropped", style="dim"
    )
    for row in rows:
        cycles = f"{row.cycles_per_packet:.0f}" if row.cycles_per_packet is not None else ""
        packets = f"{row.packets:,}" if row.packets else ""
        split = f"  {row.offloaded:>13,}" if offloads else ""
        counts = f"{cycles:>13}  {packets:>13}{split}  {row.dropped:>8,}"
        yield Text(f"{_INDENT}{row.name:<{width}}  {row.core:>4}  {row.busy:>4.0%}  {counts}")
    away = {row.core: row.away for row in rows if row.away >= _AWAY_SHARE}
    for core, part in sorted(away.items()):
        yield from _wrapped(
            f"Others had core {core} for {part:.0%} of the time, and some of that is in what its areas are"
            " said to have been busy, and in their cycles: no loop can tell all of it from its own work.",
            _INDENT,
            _INDENT,
        )


def _value(row: Evidence) -> str:
    match row.unit:
        case "share":
            return f"{row.value:.0%}"
        case "pps":
            return packet_rate.said(row.value)
        case "bit/s":
            return f"{row.value / 1e9:.3f} Gbit/s"
        case "us":
            return f"{row.value / 1e3:.2f} ms"
        case "cycles/packet":
            return f"{row.value:.0f} cycles/packet"
    return f"{row.value:,.0f} {row.unit}"


def _advice(one: Advice) -> Iterator[Text]:
    factor = f"[lowers {one.factor}] " if one.factor else ""
    yield from _wrapped(f"{factor}{one.measure}", f"{_INDENT}• ", f"{_INDENT}  ")
    gain = f"at most {one.gain_at_most:+.0%} {one.gain_is}" if one.gain_at_most is not None else one.gain_is
    deeper = f"{_INDENT}  "
    yield from _wrapped(f"gain: {gain}", deeper, deeper + _INDENT)
    yield from _wrapped(f"shows in: {one.metric}", deeper, deeper + _INDENT)
    yield from _wrapped(f"not when {one.when_not}", deeper, deeper + _INDENT)
