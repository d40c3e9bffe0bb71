# SPDX-License-Identifier: Apache-2.0
"""A light load before a measurement: what lets nothing of a direction through is told from what is full, and
who dropped it is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weir.measure.tester import Traffic
from weir.measure.trial import TrialRunner
from weir.results.trial import Drop, StreamCount, Trial

LIGHT_PPS, LIGHT_S = 1000.0, 0.2
"""Of each direction: what every chain has time for."""
DROPS_NAMED = 3


def nothing_comes(runner: TrialRunner) -> str | None:
    """A sentence, if nothing of a direction comes through however light the load; None: some does.

    PortGoneError of a port that disappears.
    """
    light = runner.valid("preflight", LIGHT_PPS * len(runner.traffic.streams), LIGHT_S).trial
    return _sentence(light, runner.traffic) if nothing_of(light) else None


def nothing_of(trial: Trial) -> list[StreamCount]:
    """The directions of which something was sent and nothing arrived."""
    return [one for one in trial.streams if one.offered and not one.delivered]


def where_dropped(drops: Sequence[Drop]) -> str:
    """ "400 at f1/firewall (denied)": the places that dropped most."""
    lost: Counter[str] = Counter()
    for drop in drops:
        lost[f"{drop.decided_by or drop.place} ({drop.reason})"] += drop.packets
    named = ", ".join(f"{packets} at {place}" for place, packets in lost.most_common(DROPS_NAMED))
    return named or "nobody counted where"


def _sentence(light: Trial, traffic: Traffic) -> str:
    """Of what, at which load, and where it went."""
    silent = {one.stream: one for one in nothing_of(light)}
    sent = [
        f"{silent[one.id].offered} packets {one.template.src_ip} → {one.template.dst_ip} {one.template.l4} "
        f"({silent[one.id].direction})"
        for one in traffic.config.streams
        if one.id in silent
    ]
    return (
        f"Nothing comes through: of {' and of '.join(sent)}, {LIGHT_PPS:g} a second, none arrived. "
        f"Dropped: {where_dropped(light.drops)}."
    )
