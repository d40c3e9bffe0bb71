# SPDX-License-Identifier: Apache-2.0
"""The areas of the trial that is explained, one by one."""

from __future__ import annotations

from weir.explain.taken_away import away_s
from weir.explain.trial import Analysis
from weir.results.explanation import AreaFigures


def areas(one: Analysis) -> list[AreaFigures]:
    """Each of the trial's."""
    available = one.trial.duration_s * one.hz
    return [
        AreaFigures(
            name=area.name,
            core=area.core,
            kind=area.kind,
            busy=min(1.0, area.own_cycles / available),
            packets=area.packets,
            offloaded=area.offloaded,
            cycles_per_packet=area.own_cycles / area.handled if area.handled else None,
            dropped=area.dropped,
            away=min(1.0, away_s(one.trial, area.core) / one.trial.duration_s),
        )
        for area in one.trial.areas
    ]
