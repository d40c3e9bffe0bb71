# SPDX-License-Identifier: Apache-2.0
"""What functions outside weir-dp cost, in the terminal: a line for each that had time on a core."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.si import NS_PER_S
from weir.report.columns import table
from weir.results.outside_lean import OutsideArea, OutsideLean

_HEAD = ("time of", "core", "TSC cycles a packet", "min–max", "ns", "without load")
LEGEND = (
    "CPU time at the load less that without it, for each packet sent, both directions; TSC: the time-stamp "
    "counter's cycles, whatever the core's clock is. System calls, copies and wake-ups are in it, stages are "
    "not told apart: it is no lean measurement of code, and is compared with its like alone"
)


def render(result: OutsideLean) -> str:
    """The result as plain text."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: OutsideLean) -> Iterator[str]:
    named = ", ".join(f"{one.node} ({one.title}, {one.kind})" for one in result.functions)
    yield f"CPU time of {result.chain} under {result.technology}: {named}"
    yield (
        f"{result.load_pps / 1e6:.3f} Mpps of frame {result.frame}, both directions; {result.repeats} trials "
        f"of {result.duration_s:g} s, each behind one at next to no load; {result.fingerprint.cpu}"
    )
    yield ""
    yield from table([_HEAD, *(_row(one, result.tsc_hz) for one in result.areas)])
    yield ""
    yield LEGEND
    yield from (f"– {note}" for note in result.notes)
    yield from (f"– {sentence}" for sentence in result.fidelity)


def _row(area: OutsideArea, tsc_hz: float) -> tuple[str, ...]:
    cost = area.tsc_cycles_per_packet
    median = area.most_tsc_cycles_per_packet if cost is None else cost.median
    spread = "" if cost is None else f"{cost.min:.0f}–{cost.max:.0f}"
    sign = "< " if cost is None else ""
    return (
        area.name,
        str(area.core),
        f"{sign}{median:.0f}",
        spread,
        f"{sign}{median / tsc_hz * NS_PER_S:.0f}",
        f"{area.busy_without_load:.0%}",
    )
