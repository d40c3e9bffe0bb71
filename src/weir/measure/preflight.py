# SPDX-License-Identifier: Apache-2.0
"""What is sent before the first trial, and how fast: the warm-up; and a light load, which tells what lets
nothing through from what is full. Loads are of all directions together; an infinite one is no limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from weir.base.words import counted
from weir.lab.execution import FUNCTION_KINDS
from weir.lab.measure import Measure
from weir.measure.delay import given_pps
from weir.measure.tester import Traffic
from weir.measure.trial import TrialRunner
from weir.protocol.traffic import StreamConfig
from weir.results.result import AreaLoad, Drop, Trial

PACKETS_LEAST = 10
"""Of each stream, that say whether anything comes through: a load of fewer is sent for longer."""
BUSY_SHARE = 0.9
"""Of its time: a loop that is busy for more of a light load is too slow for that."""
LIGHT_PPS, LIGHT_S = 1000.0, 0.2
"""Of each direction: what every chain has time for."""
LOOKS, LONGER_TIMES = 3, 5
"""Of the first frames of a capture with its gaps few may be due, which are not what most of it is."""
DROPS_NAMED = 3


def warm_up_pps(measure: Measure, mean_frame_bytes: float) -> float:
    """Infinite: as fast as the tester can. No more than the lab allows and, where loads are given, and
    nothing else is sent, than the first of them: what is slow and has a deep queue would be full of anything
    more for minutes."""
    alone = not measure.goals and not measure.curve.points
    first = given_pps(measure.latency, mean_frame_bytes)[:1] if alone else []
    return min([*first, measure.allowed_pps])


def most_beside_trials_pps(measure: Measure, mean_frame_bytes: float) -> float:
    """The most that may be sent in what is no trial: the lowest rate that is given, and no more than the lab
    allows."""
    return min([*given_pps(measure.latency, mean_frame_bytes), measure.allowed_pps])


def nothing_comes(
    runner: TrialRunner,
    most_pps: float = math.inf,
    unready: Sequence[str] = (),
    before: Trial | None = None,
) -> str | None:
    """A sentence, if nothing of a direction comes through however light the load; None: some does, be it late
    or of an earlier trial. `most_pps`: of all directions together, sent for as long as it takes. `unready`:
    functions of which nobody knows that they forward. `before`: what was sent just before; a direction of
    which some came then is not judged by the few packets of a light load.

    PortGoneError of a port that disappears.
    """
    traffic = runner.traffic
    load_pps = min(LIGHT_PPS * len(traffic.streams), most_pps)
    seconds = max(LIGHT_S, traffic.lasts_s(PACKETS_LEAST, load_pps))
    for _ in range(LOOKS):
        light = runner.valid("preflight", load_pps, seconds).trial
        if not traffic.recorded or min(one.offered for one in light.streams) >= PACKETS_LEAST:
            break
        seconds *= LONGER_TIMES
    came = {one.stream for one in before.streams if one.delivered} if before is not None else set[int]()
    return _sentence(light, traffic, unready, came)


def where_dropped(drops: Sequence[Drop]) -> str:
    """ "400 at f1/firewall (denied)": the places that dropped most."""
    lost: Counter[str] = Counter()
    for drop in drops:
        lost[f"{drop.decided_by or drop.place} ({drop.reason})"] += drop.packets
    named = ", ".join(f"{packets} at {place}" for place, packets in lost.most_common(DROPS_NAMED))
    return named or "nobody counted where"


def _sentence(
    light: Trial, traffic: Traffic, unready: Sequence[str] = (), came: Collection[int] = ()
) -> str | None:
    """Of what, at which load, and where it went; None: some came, or `came` before."""
    busy = [area for area in light.areas if _all_the_time(area)]
    slow = max(busy, key=lambda area: area.packets, default=None)
    silent = [one for one in light.silent if one.stream not in came]
    never = [one for one in silent if slow is not None or not (one.too_late or one.from_earlier)]
    if not never:
        return None
    counts = {one.stream: one for one in never}
    rates_pps = traffic.rates_pps(light.intended_load_pps)
    sent: dict[str, list[str]] = {}
    for one in traffic.config.streams:
        if one.id in counts:
            sent.setdefault(f"{rates_pps[one.id]:g} a second", []).append(
                f"{counts[one.id].offered} {_what(one)} ({counts[one.id].direction})"
            )
    none = ", and ".join(f"of {' and of '.join(of)}, {at}" for at, of in sent.items()) + ", none arrived"
    if slow is not None:
        each = f"{slow.own_cycles / slow.packets:,.0f} cycles each"
        return (
            f"Even a light load is too much: {none} in time. {slow.name} was busy all the time, with "
            f"{counted(slow.packets, 'packet')}, {each}."
        )
    said = f"Nothing comes through: {none}. Dropped: {where_dropped(light.drops)}."
    if not unready or any(drop.decided_by is not None for drop in light.drops):
        return said
    which = unready[0] if len(unready) == 1 else f"one of {', '.join(unready)}"
    option = "`program: {ready_packets: true}`"
    return f"{said} If {which} forwards only some time after it is ready, say {option}."


def _what(one: StreamConfig) -> str:
    """ "packets 198.18.0.1 → 198.19.0.1 udp"; not the template's addresses where others are sent."""
    if one.capture is not None:
        return f"frames of {Path(one.capture.path).name}"
    changed = (
        f" with {', '.join(field.field for field in one.fields)} of traffic.fields" if one.fields else ""
    )
    return f"packets {one.template.src_ip} → {one.template.dst_ip} {one.template.l4}{changed}"


def _all_the_time(area: AreaLoad) -> bool:
    """Whether a loop for functions did nothing else than packets, of which it had some."""
    polled = area.busy_cycles + area.idle_cycles
    return area.kind in FUNCTION_KINDS and area.packets > 0 and area.busy_cycles > BUSY_SHARE * polled
