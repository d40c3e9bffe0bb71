# SPDX-License-Identifier: Apache-2.0
"""Percentile distributions as HdrHistogram's tools plot them (.hgrm), in nanoseconds.

One for each technology, chain, frame, load and direction, all trials of it together, after a comment that
names it. The plotter takes one at a time.
"""

from __future__ import annotations

import io

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from weir.report.format import Format
from weir.report.histograms import empty, recorded
from weir.results.result import Result

NOTHING = "#no trial of this run kept its histogram: measure.latency and `weir rfc2544` do\n"


def render(result: Result) -> str:
    """The distributions; a comment alone where the run kept none."""
    merged: dict[str, HdrHistogram] = {}
    for one in recorded(result):
        merged.setdefault(one.tag, empty()).add(one.histogram)
    return "\n".join(_distribution(tag, histogram) for tag, histogram in merged.items()) or NOTHING


def _distribution(tag: str, histogram: HdrHistogram) -> str:
    out = io.BytesIO()
    histogram.output_percentile_distribution(out, 1)
    return f"#{tag}, ns\n{out.getvalue().decode()}"


FORMAT = Format("hgrm", ".hgrm", "latency percentiles for HdrHistogram's plotter", render)
