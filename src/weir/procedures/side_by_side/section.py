# SPDX-License-Identifier: Apache-2.0
"""What is compared, side by side in one table: the rate of the first goal, the delay at one load, and the
cycles of a packet. A lab with steps has a table of its own for these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.lab.frames import frame_label
from weir.report import cycles, legend, numbers, rates, summary
from weir.report.cycles import Cost, cost
from weir.report.page.markup import sentence, sheet, tag
from weir.report.sections import PagePart, PlainTable, Section
from weir.results.result import DelayPoint, Latency, Result

TITLE = "Rate, delay and cost side by side"
WORDS = 3
CYCLES = ("cycles, functions", "cycles, threads", "cycles, way")
RATE = "×: the rate as a multiple of the baseline's."
DELAY = (
    "P50 and P99 of the delay: of the direction and the repeat with the higher P99, of packets that arrived."
)
MEANING = (
    "Cycles: of the time-stamp counter, for each packet that the tester sent, in the trials that confirm the "
    "rate; the median of the rounds. Functions: what Weir's do with packets. Threads: all of the functions' "
    "threads, with reading and writing ports, without the kernel's receive path meanwhile; Linux has none. "
    f"Way: all that a packet passes but the tester: functions, ports, switch and kernel. {cycles.AT_MOST}"
)


@dataclass(frozen=True)
class CostRow:
    """One case, at one goal."""

    rate: summary.Row
    delay: DelayPoint | None
    """None: none was measured."""
    functions: Cost | None
    threads: Cost | None
    way: Cost | None

    @property
    def latency(self) -> Latency | None:
        """None where no valid trial measured it."""
        if self.delay is None or self.delay.worst is None or not any(one.valid for one in self.delay.trials):
            return None
        return self.delay.worst.latency


def cost_rows(result: Result) -> list[CostRow]:
    """By chain and frame; none of a lab that compares nothing or has steps, or where no cost is known."""
    goals = summary.goals(result)
    if not goals or not summary.compares(result) or result.spec.get("steps"):
        return []
    of_goal = [one for one in summary.rows(result) if one.throughput.goal == goals[0]]
    load = _load(of_goal)
    found = [_row(one, load) for one in of_goal]
    if not any(one.way for one in found):
        return []
    chains, frames = summary.chains(result), summary.frames(result)
    return sorted(
        found, key=lambda one: (chains.index(one.rate.setup.chain), frames.index(one.rate.case.frame))
    )


def _load(found: Sequence[summary.Row]) -> str | None:
    """The first load at which all cases have a delay that have any, else the first; None: none has."""
    known = [list(_points(one)) for one in found if any(_points(one))]
    asked = dict.fromkeys(load for loads in known for load in loads)
    return next((one for one in asked if all(one in loads for loads in known)), next(iter(asked), None))


def _points(one: summary.Row) -> dict[str, DelayPoint]:
    return {point.load: point for point in one.case.delays if not point.first_packets}


def _row(one: summary.Row, load: str | None) -> CostRow:
    ways = (cycles.in_functions, cycles.in_threads, cycles.on_the_way)
    delay = _points(one).get(load) if load is not None else None
    return CostRow(one, delay, *(cost(one.case, way, one.throughput.goal) for way in ways))


def tables(result: Result) -> Iterator[PlainTable]:
    """One; none where there is nothing to say."""
    found = cost_rows(result)
    if not found:
        return
    unit = summary.rate_unit(result)
    load = next((row.delay.load for row in found if row.delay is not None), None)
    way = summary.way_title(result).lower()
    delay = () if load is None else (f"P50 at {load}, µs", "P99, µs")
    head = ("chain", "frame", way, f"{summary.goals(result)[0]}, {unit.label}", "×", *delay, *CYCLES)
    lines = [
        [
            row.rate.setup.chain,
            frame_label(row.rate.case.frame),
            row.rate.setup.name,
            f"{rates.bounded_mpps(row.rate.throughput, unit=unit)} "
            f"{legend.flags_of(row.rate, row.rate.case)}".rstrip(),
            row.rate.ratio_text,
            *(() if load is None else _delay(row.latency)),
            *map(cycles.said, (row.functions, row.threads, row.way)),
        ]
        for row in found
    ]
    yield PlainTable(TITLE, head, lines, WORDS, " ".join((RATE, *([DELAY] if load else []), MEANING)))


def _delay(found: Latency | None) -> tuple[str, str]:
    return (numbers.NONE, numbers.NONE) if found is None else (
        numbers.in_us(found.p50_us), numbers.in_us(found.p99_us)
    )  # fmt: skip


def parts(result: Result) -> Iterator[PagePart]:
    """The same table."""
    for table in tables(result):
        content = (
            sheet(table.title, table.head, table.lines, table.words, wrap=True),
            tag("p", sentence(table.note), class_="dim"),
        )
        yield PagePart("Cost", TITLE, "What each carries, how late, and in how many cycles.", content)


SECTION = Section(tables=tables, page=parts)
