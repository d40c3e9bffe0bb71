# SPDX-License-Identifier: Apache-2.0
"""Delays in sentences: whether the service level is met, what was lost, and the P99 at the first load."""

from __future__ import annotations

from collections.abc import Iterator

from weir.procedures.latency.section_losses import LossRow, lost_text, shown
from weir.procedures.latency.section_rows import delay_rows, judged
from weir.report import numbers, summary
from weir.results.result import Result


def findings(result: Result) -> Iterator[str]:
    """The most important first: a delay is of what arrived, so what did not comes before it."""
    said = judged(result)
    if said is not None:
        yield said
    told = shown(result)
    losses = [row for row in told if row.of.valid]
    if losses:
        yield _losses(losses, whole=len(losses) == len(told))
    rows = [row for row in delay_rows(result) if row.valid and row.p99_us is not None]
    if rows:
        first = rows[0]
        alike = [row for row in rows if row.what == first.what]
        at = f"At {first.what[-1]} ({first.setup.chain}, {summary.sizes(first.case.frame)})"
        if len(alike) == 1:
            yield f"{at} the P99 of the delay is {numbers.us(first.p99_us)}."
        else:
            ordered = sorted(alike, key=lambda row: row.p99_us or 0.0)
            low, high = ordered[0], ordered[-1]
            yield (
                f"{at} the P99 of the delay is {numbers.us(low.p99_us)} under {low.setup.name}, and "
                f"{numbers.us(high.p99_us)} under {high.setup.name}."
            )


def _losses(rows: list[LossRow], *, whole: bool) -> str:
    """Of the load that lost most, or that none did. Not `whole`: others could not be sent."""
    most = max(rows, key=lambda row: row.loss_ratio or 0.0)
    if most.lost:
        case = most.of
        at = f"{case.what[-1]} ({case.setup.title}, {summary.sizes(case.case.frame)})"
        return f"At {at} {lost_text(most)}."
    if not whole:
        loads = ", ".join(dict.fromkeys(row.of.point.load for row in rows))
        return f"Nothing was lost at {loads}; the rest is invalid."
    return f"Nothing was lost: {numbers.count(sum(row.offered for row in rows))} packets were sent."
