# SPDX-License-Identifier: Apache-2.0
"""A comparison for people, in 100 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from weir.base import words
from weir.lab.frames import frame_label
from weir.report import blocks, numbers, rates
from weir.report.units import Written, written
from weir.results.comparison import Change, ComparedRun, Comparison, Outcome

PLAIN_COLUMNS = 100
STYLES: dict[Outcome, str] = {
    "worse": "bold red",
    "better": "bold green",
    "same": "",
    "not shown": "dim",
    "not compared": "dim",
}
MEANINGS: dict[Outcome, str] = {
    "worse": "in a hundred comparisons without any change, chance alone makes one such",
    "better": "likewise",
    "same": "with 95 % certainty the change is smaller than {smallest}",
    "not shown": "chance can explain it, and so could a change: more rounds, repeats or runs tell; of many "
    "numbers a few have an interval without 0 by chance alone, which is allowed for",
    "not compared": "a side has no number that compares",
}


def show(comparison: Comparison, console: Console) -> None:
    """Prints it."""
    blocks.show(Group(*_parts(comparison)), console, PLAIN_COLUMNS)


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    yield from runs("before", comparison.before)
    yield from runs("after", comparison.after)
    yield from blocks.listed("What else is different", comparison.warnings, "yellow")
    yield Text(sentence(comparison), style="bold")
    for chain, unit in dict.fromkeys((change.chain, change.unit) for change in comparison.changes):
        yield Text("")
        some = [change for change in comparison.changes if (change.chain, change.unit) == (chain, unit)]
        yield _table(chain, some, unit_for(some))
    yield Text("")
    yield from blocks.listed("How to read it", meanings(comparison.changes, comparison.smallest), "")
    yield from blocks.listed("Remarks", list(remarks(comparison.changes)), "")


def meanings(changes: Iterable[Change], smallest: float) -> list[str]:
    """What the outcomes that there are mean."""
    said = {change.outcome for change in changes}
    return [
        f"{outcome}: {meaning.format(smallest=numbers.percent(smallest))}"
        for outcome, meaning in MEANINGS.items()
        if outcome in said
    ]


def sentence(comparison: Comparison) -> str:
    """ "16 numbers: 2 worse, 1 better, 10 the same, 3 not shown", in a sentence."""
    counted = Counter(change.outcome for change in comparison.changes)
    parts = [
        f"{counted['worse']} worse",
        f"{counted['better']} better",
        f"{counted['same']} the same",
        f"{counted['not shown']} not shown",
        f"{counted['not compared']} not compared",
    ]
    told = ", ".join(part for part in parts if not part.startswith("0 "))
    return f"{words.counted(len(comparison.changes), 'number')}: {told}."


def runs(when: str, of: Iterable[ComparedRun]) -> Iterator[Text]:
    """A line each."""
    for run in of:
        kind = "quick run" if run.quick else "full run"
        yield Text(f"{when:6}  {run.id} · {kind} of {run.lab} · {run.started_at[:16]} · Weir {run.weir}")


def factors_table(title: str, *heads: str) -> Table:
    """Without rows: the factors, then what `heads` name, then what became of it."""
    out = blocks.table(title)
    out.add_column("Technology", no_wrap=True)
    for head in ("Frame", ""):
        out.add_column(head, overflow="fold")
    for head in (*heads, "change", "95 % interval", "n", ""):
        out.add_column(head, justify="right", no_wrap=True)
    return out


def unit_for(changes: Sequence[Change]) -> Written:
    """How the values of these, which have one unit, are written side by side."""
    return written(changes[0].unit, (value for one in changes for value in (one.before, one.after)))


def _table(chain: str, changes: list[Change], by: Written) -> RenderableType:
    out = factors_table(f"{chain}, {by.label}", "before", "after")
    for change in changes:
        out.add_row(
            Text(change.way),
            frame_label(change.frame),
            Text(change.what),
            before(change, by),
            after(change, by),
            effect(change),
            interval(change),
            f"{change.samples_before}, {change.samples_after}",
            Text(change.outcome, style=STYLES[change.outcome]),
        )
    return out


def before(change: Change, by: Written) -> str:
    """So written, without the unit; "≥9.407" where the tester was the limit."""
    return _value(by, change.before, at_least=change.at_least_before)


def after(change: Change, by: Written) -> str:
    """Likewise."""
    return _value(by, change.after, at_least=change.at_least_after)


def _value(by: Written, of: float | None, *, at_least: bool) -> str:
    bound = at_least and of is not None
    return (rates.SIGNS[">="] if bound else "") + by.write(of)


def effect(change: Change) -> str:
    """ "≥ +3.1%"."""
    return numbers.NONE if change.change is None else f"{rates.SIGNS[change.bound]}{_moved(change.change)}"


def interval(change: Change) -> str:
    """ "-4.0% to -2.2%"."""
    if change.low is None or change.high is None:
        return numbers.NONE
    return f"{_moved(change.low)} to {_moved(change.high)}"


def _moved(by: float) -> str:
    """ "-4.0%"; what rounds to nothing has no sign."""
    return f"{by:+.1%}" if round(abs(by), 3) else "0.0%"


def remarks(changes: Iterable[Change]) -> Iterator[str]:
    """Each once, with what it is said of: "direct PVP 64 (NDR, PDR)"."""
    said: dict[str, dict[str, list[str]]] = {}
    for change in changes:
        if change.why is not None:
            case = f"{change.way} {change.chain} {frame_label(change.frame)}"
            said.setdefault(change.why.rstrip("."), {}).setdefault(case, []).append(change.what)
    for why, cases in said.items():
        named = [f"{case} ({', '.join(whats)})" for case, whats in cases.items()]
        yield f"{why}: {'; '.join(named)}"
