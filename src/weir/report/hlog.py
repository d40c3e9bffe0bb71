# SPDX-License-Identifier: Apache-2.0
"""Latency histograms as an HdrHistogram interval log (.hlog): a tagged line for each direction of a trial.

Histograms are encoded as V2, compressed, in base64; values are nanoseconds, Interval_Max milliseconds as the
format's writers have it. Results keep no times of trials, so the lines of a tag follow each other from 0.
"""

from __future__ import annotations

from weir.report.format import Format
from weir.report.histograms import recorded
from weir.results.result import Result

NS_PER_MS = 1e6
HEAD = (
    "#[Histogram log format version 1.3]",
    "#[StartTime: 0.000 (seconds since epoch)]",
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
)


def render(result: Result) -> str:
    """The log; a head alone where no trial kept its histogram."""
    lines = [*HEAD]
    ended_s: dict[str, float] = {}
    for one in recorded(result):
        began_s = ended_s.get(one.tag, 0.0)
        ended_s[one.tag] = began_s + one.trial_s
        longest_ms = one.histogram.get_max_value() / NS_PER_MS
        payload = one.histogram.encode().decode()
        lines.append(f"Tag={one.tag},{began_s:.3f},{one.trial_s:.3f},{longest_ms:.3f},{payload}")
    return "\n".join(lines) + "\n"


FORMAT = Format("hlog", ".hlog", "latency histograms for HdrHistogram's tools, a tagged line a trial", render)
