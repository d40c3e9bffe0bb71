# SPDX-License-Identifier: Apache-2.0
"""Latency over load: P50, P99 and P99.9 at all the loads of `measure.latency`, the worst direction."""

from __future__ import annotations

from weir.report import summary
from weir.report.delay_rows import DelayRow, delay_rows
from weir.report.page.line_chart import Axis, Line, line_chart
from weir.report.page.markup import Markup, tag
from weir.results.result import Latency, Result

LEAST_LOADS = 3  # of which a line says something
QUANTILES = (("P50", "p50_us"), ("P99", "p99_us"), ("P99.9", "p999_us"))


def latency_over_load(result: Result) -> Markup | None:
    """One figure a technology, chain and frame with enough loads; None without any."""
    groups: dict[str, list[DelayRow]] = {}
    for row in delay_rows(result):
        if row.valid and not row.point.first_packets and row.stream is not None and row.stream.latency:
            frame = summary.frame_label(row.case.frame)
            groups.setdefault(f"{row.setup.name} {row.setup.chain}, frame {frame}", []).append(row)
    figures = [
        _figure(name, rows)
        for name, rows in groups.items()
        if len({row.point.load_pps for row in rows}) >= LEAST_LOADS
    ]
    return tag("div", figures, class_="charts") if figures else None


def _figure(name: str, rows: list[DelayRow]) -> Markup | None:
    found: list[tuple[float, Latency]] = []
    for row in sorted(rows, key=lambda row: row.point.load_pps):
        if row.stream is not None and row.stream.latency is not None:
            found.append((row.point.load_pps / 1e6, row.stream.latency))
    lines = [
        Line(quantile, tuple((mpps, getattr(latency, field)) for mpps, latency in found), index)
        for index, (quantile, field) in enumerate(QUANTILES)
    ]
    least_us = min(value for line in lines for _, value in line.points)
    most_us = max(value for line in lines for _, value in line.points)
    wide = least_us > 0 and most_us > 20 * least_us
    return line_chart(
        f"{name}: latency over load", lines, Axis("offered, Mpps"), Axis("latency, µs", logarithmic=wide)
    )
