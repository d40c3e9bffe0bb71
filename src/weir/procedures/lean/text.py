# SPDX-License-Identifier: Apache-2.0
"""A lean measurement in the terminal: one line a stage, the prediction, the verdicts; of functions outside
weir-dp one for each that had time on a core."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base import packet_rate
from weir.base.si import NS_PER_S
from weir.report.columns import table
from weir.results.lean import (
    Comparison,
    FastPathUse,
    LeanCost,
    LeanResult,
    LeanState,
    MachineResult,
)
from weir.results.outside_lean import OutsideArea, OutsideLean

LEGEND = (
    "CPP, IPP: cycles and instructions per packet; eIPC: IPP / CPP, instructions a cycle without idle time; "
    "CUR: share of its time that the core forwards"
)
_HEAD = ("packets", "drops", "CPP", "min–max", "TSC", "IPP", "IPC=eIPC")
FAR_APART = 2.0
"""Of one cost's repeats, the most by the least: from here on they are not of the code alone."""


def render(result: LeanResult) -> str:
    """The result as plain text."""
    return "\n".join(_lines(result)) + "\n"


def _predicted(result: LeanResult) -> str:
    if result.later.chain.packets_out == 0:
        return "predicted: nothing, since no packet left the chain"
    prediction, cycles = result.prediction, result.later.chain.cycles_per_packet
    most, least = (prediction.pps * cycles.median / one for one in (cycles.min, cycles.max))
    unit = packet_rate.unit_of((prediction.pps,))
    repeats = f"{unit.text(least)} to {unit.text(most)} by single repeats"
    return (
        f"predicted: {packet_rate.said(prediction.pps)}{'?' * _far_apart(result.later.chain)} ({repeats}) = "
        f"{prediction.frequency_hz / 1e9:.2f} GHz x CUR "
        f"{prediction.cur:g} / {cycles.median:.1f} cycles, of known flows"
    )


def _lines(result: LeanResult) -> Iterator[str]:
    traffic = result.traffic
    source = traffic.pcap or f"{traffic.flows:,} flows, frame {traffic.frame}"
    ran = f"{result.repeats} repeats of {result.batches} batches of 32 on CPU {result.cpu}"
    yield f"Lean measurement of {result.chain}: {ran}"
    yield f"{source}; {traffic.frames:,} frames in memory; {result.fingerprint.cpu}"
    yield ""
    yield from table(_state("packets of known flows", result.later, walked=result.fastpath is not None))
    yield ""
    if result.first is not None:
        yield from table(_state("first packets of flows", result.first, walked=False))
        yield ""
    if result.fastpath is not None:
        yield _walked(result.fastpath)
    yield _predicted(result)
    yield (
        f"CPP: cycles of the core, {result.core_per_tsc:.3f} for one of the time-stamp counter (TSC), by "
        f"{result.clock}; IPP: {result.instructions_source or 'not counted'}; this core retires "
        f"{result.retires_most:.1f} instructions a cycle at most"
    )
    yield LEGEND
    if result.interrupted_batches:
        yield f"{result.interrupted_batches} batches that the host interrupted are left out"
    states = [one for one in (result.later, result.first) if one is not None]
    if any(_far_apart(cost) for one in states for cost in (*one.stages, one.outside, one.chain)):
        yield (
            f"– ?: its repeats lie more than {FAR_APART:g} times apart, so no such number is the code's: "
            "most often others had this core, its caches or its memory; `weir doctor` names who has the cores"
        )
    yield from (f"– {note}" for note in result.notes)
    if result.comparison is not None:
        yield from _comparison(result.comparison)


def _state(title: str, state: LeanState, *, walked: bool) -> list[tuple[str, ...]]:
    """A line a stage, what is in none, and the chain, which is their sum."""
    costs = (*state.stages, state.outside, state.chain)
    rows = [(title, *_HEAD), *(_row(cost) for cost in costs)]
    if walked:  # the fast path comes before the stages
        rows.insert(1, rows.pop(-2))
    if state.chain.l1d_misses_per_packet is None and state.chain.llc_misses_per_packet is None:
        return rows
    extra = {cost.name: _misses(cost) for cost in costs}
    return [(*row, *extra.get(row[0], ("L1 misses", "LLC misses"))) for row in rows]


def _walked(used: FastPathUse) -> str:
    if used.slow_packets == 0:
        return f"fast path: all {used.hits:,} packets were of known flows, and none took the slow path"
    return (
        f"fast path: {used.hits:,} packets of known flows; stages are about the {used.slow_packets:,} that "
        "took the slow path, their cycles per packet of the chain"
    )


def _row(cost: LeanCost) -> tuple[str, ...]:
    cycles = cost.cycles_per_packet
    return (
        cost.name,
        f"{cost.packets_in:,}",
        ", ".join(f"{reason} {packets:,}" for reason, packets in cost.drops.items()) or "0",
        *(
            (
                f"{cycles.median:.1f}{'?' * _far_apart(cost)}",
                f"{cycles.min:.1f}–{cycles.max:.1f}",
                f"{cost.tsc_cycles_per_packet.median:.1f}",
            )
            if cost.packets_in
            else ("–", "–", "–")
        ),
        _number(cost.instructions_per_packet, 1),
        _number(cost.ipc, 2),
    )


def _far_apart(cost: LeanCost) -> bool:
    cycles = cost.cycles_per_packet
    return cost.packets_in > 0 and cycles.max > FAR_APART * cycles.min


def _misses(cost: LeanCost) -> tuple[str, str]:
    return _number(cost.l1d_misses_per_packet, 2), _number(cost.llc_misses_per_packet, 2)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _comparison(comparison: Comparison) -> Iterator[str]:
    how = "both in turn" if comparison.interleaved else "a stored result: the machine may have changed since"
    yield ""
    yield f"against {comparison.baseline}, {how}"
    yield from (f"– {difference}" for difference in comparison.differences)
    yield from (f"  {verdict.sentence}" for verdict in comparison.verdicts)
    if comparison.regressions:
        yield f"regression: {', '.join(comparison.regressions)}"
    elif any(verdict.verdict == "none" for verdict in comparison.verdicts):
        yield "no regression found; some verdicts are open: measure again on a quieter machine"
    else:
        yield "no regression"


def render_machine(result: MachineResult) -> str:
    """Latencies of this machine as plain text."""
    rows = [("", "over", "cycles", "min–max", "ns")]
    for one in result.latencies:
        cycles = one.cycles
        rows.append(
            (
                one.what,
                "" if one.size_bytes is None else _size(one.size_bytes),
                f"{cycles.median:.1f}",
                f"{cycles.min:.1f}–{cycles.max:.1f}",
                f"{one.ns:.1f}",
            )
        )
    cpus = " and ".join(map(str, result.cpus))
    head = f"{result.fingerprint.cpu}, CPU {cpus}; cycles of the time-stamp counter"
    return "\n".join([head, "", *table(rows), "", *(f"– {note}" for note in result.notes)]) + "\n"


def _size(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes >> 10} KiB"


_OUTSIDE_HEAD = ("time of", "core", "TSC cycles a packet", "min–max", "ns", "without load")
_OUTSIDE_LEGEND = (
    "CPU time at the load less that without it, for each packet sent, both directions; TSC: the time-stamp "
    "counter's cycles, whatever the core's clock is. System calls, copies and wake-ups are in it, and what "
    "the kernel received in them, which softirq has again; stages are not told apart: it is no lean "
    "measurement of code, and is compared with its like alone"
)


def render_outside(result: OutsideLean) -> str:
    """The result as plain text."""
    return "\n".join(_outside_lines(result)) + "\n"


def _outside_lines(result: OutsideLean) -> Iterator[str]:
    named = ", ".join(f"{one.node} ({one.title}, {one.kind})" for one in result.functions)
    yield f"CPU time of {result.chain} under {result.technology}: {named}"
    load = packet_rate.said(result.load_pps)
    yield (
        f"{load} of frame {result.frame}, both directions; {result.repeats} trials "
        f"of {result.duration_s:g} s, each behind one at next to no load; {result.fingerprint.cpu}"
    )
    yield ""
    yield from table([_OUTSIDE_HEAD, *(_outside_row(one, result.tsc_hz) for one in result.areas)])
    yield ""
    yield _OUTSIDE_LEGEND
    yield from (f"– {note}" for note in result.notes)
    yield from (f"– {sentence}" for sentence in result.fidelity)


def _outside_row(area: OutsideArea, tsc_hz: float) -> tuple[str, ...]:
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
