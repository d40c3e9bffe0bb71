# SPDX-License-Identifier: Apache-2.0
"""One row for each throughput, for spreadsheets and scripts (RFC 4180). Units are in the column names.

A technology that was refused and a case that was given up have one row too, with that status, the reason in
`why`, and no numbers, so that nothing is missing silently.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from weir.report import rates, soak_rows, summary
from weir.report.format import Format
from weir.results.result import Case, Result, Setup, Throughput

COLUMNS = (
    "run",
    "lab",
    "technology",
    "chain",
    "datapath",
    "frame",
    "mean_frame_bytes",
    "goal",
    "goal_loss_ratio",
    "status",
    "why",
    "load_pps",
    "load_min_pps",
    "load_max_pps",
    "lower_bound_pps",
    "upper_bound_pps",
    "repeats",
    "l2_bps",
    "l1_bps",
    "loss_ratio",
    "ratio_to_baseline",
    "ratio_min",
    "ratio_max",
    "ratio_bound",
    "baseline",
    "flags",
    "tester_bound",
    "stall_labelled",
    "out_of_time",
    "slower_times",
    "farther_times",
    "left_out_share",
    "unsteady",
    "ceiling_pps",
    "variant",
)

Cell = str | int | float | bool | None


def render(result: Result) -> str:
    """The table with a header row; empty cell: not known. Of a soak a row an interval and direction."""
    if soak_rows.soaks(result):
        return soak_rows.csv_text(result)
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(result):
        writer.writerow({name: _text(value) for name, value in row.items()})
    return out.getvalue()


def _rows(result: Result) -> Iterator[dict[str, Cell]]:
    for setup in result.setups:
        if setup.refused is not None:
            yield _place(result, setup, None) | {"status": "refused", "why": setup.refused}
        for case in setup.cases:
            if case.problem is not None:
                yield _place(result, setup, case) | {"status": "given up", "why": case.problem}
    for row in summary.rows(result):
        yield _place(result, row.setup, row.case) | {
            **row.throughput.model_dump(exclude={"rounds", "distances_cycles"}),
            **_interval(row.throughput),
            **_ratio(row),
            "flags": row.flags,
        }


def _interval(found: Throughput) -> dict[str, Cell]:
    """Of an answer that is an interval: both its ends, and no rate that looks like one that was found."""
    ends = rates.interval_pps(found)
    if ends is None:
        return {}
    without: dict[str, Cell] = dict.fromkeys(
        ("load_pps", "load_min_pps", "load_max_pps", "l2_bps", "l1_bps", "loss_ratio")
    )
    return {**without, "status": "out of time", "lower_bound_pps": ends[0], "upper_bound_pps": ends[1]}


def _ratio(row: summary.Row) -> dict[str, Cell]:
    if row.ratio is None:
        return {"ratio_bound": "none"}
    return {
        "ratio_to_baseline": row.ratio.value,
        "ratio_min": row.ratio.low,
        "ratio_max": row.ratio.high,
        "ratio_bound": row.ratio.bound,
    }


def _place(result: Result, setup: Setup, case: Case | None) -> dict[str, Cell]:
    return {
        "run": result.id,
        "lab": result.lab,
        "technology": setup.technology,
        "variant": setup.variant,
        "chain": setup.chain,
        "datapath": setup.datapath,
        "frame": case.frame if case else None,
        "mean_frame_bytes": case.mean_frame_bytes if case else None,
        "baseline": result.baseline,
        "ceiling_pps": case.ceiling.max_pps if case and case.ceiling else None,
    }


def _text(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


FORMAT = Format("csv", ".csv", "one row for each throughput, for a spreadsheet", render)
