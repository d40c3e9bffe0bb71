# SPDX-License-Identifier: Apache-2.0
"""A machine whose costs are known: set-ups on it, and what trials would measure there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from weir.lab.execution import FULL_BURST, Area, AreaPath, Execution, StageUse
from weir.planning.model.fit import Row
from weir.planning.model.quality import Measured
from weir.planning.model.terms import MemoryCurve, core_terms, path_terms, state_bytes

HZ = 2.5e9
MEMORY = MemoryCurve(((16384.0, 3.0), (262144.0, 12.0), (4194304.0, 60.0), (67108864.0, 300.0)))
TRUTH: Mapping[str, float] = {
    "generator": 35,
    "receiver": 85,
    "receiver from another core": 40,
    "headers": 30,
    "bytes memory": 4,
    "headers from another core": 60,
    "take memory": 8,
    "take memory across cores": 15,
    "give memory": 6,
    "give memory across cores": 7,
    "take ring": 5,
    "take ring across cores": 20,
    "give ring": 3,
    "give ring across cores": 4,
    "nf nat": 80,
    "nf nat memory": 0.2,
    "nf dpi": 115,
    "nf dpi memory": 0.3,
    "nf acl": 60,
    "nf acl rules": 9,
    "nf l3fwd": 42,
    "generator short burst": 4,
    "receiver short burst": 4,
    "chain short burst": 3,
    "nf nat short burst": 3,
    "nf dpi short burst": 5,
    "nf acl short burst": 3,
    "nf l3fwd short burst": 1,
    "short burst memory": 0.03,
    "short burst across cores": 2,
    "short burst from another core": 3,
}
FUNCTIONS = {
    "nat": StageUse("nat", decides=True, rules=0, state_bytes=140),
    "dpi": StageUse("dpi", decides=True, rules=0, state_bytes=240),
    "acl": StageUse("acl", decides=True, rules=100, state_bytes=0),
    "few": StageUse("acl", decides=True, rules=3, state_bytes=0),
    "l3fwd": StageUse("l3fwd", decides=True, rules=0, state_bytes=0),
}


def chain(names: Sequence[str], *, core: int = 0, flows: int = 64, split: int | None = None) -> Execution:
    """The tester on core 0 and the functions, run to completion, on `core`.

    `split`: a pipeline of two areas instead, of which the second, from that function on, has core 1.
    """
    stages = tuple(FUNCTIONS[name] for name in names)
    parts = [(core, stages)] if split is None else [(core, stages[:split]), (1, stages[split:])]
    areas = [Area("generator.left", 0, "generator", (_path("nothing", "memory", (0, 0, parts[0][0])),))]
    before = 0
    for index, (here, part) in enumerate(parts):
        last = index == len(parts) - 1
        after = 0 if last else parts[index + 1][0]
        entry, leaving = "ring" if index else "memory", "memory" if last else "ring"
        areas.append(
            Area(f"f1.{index}", here, "chain", (_path(entry, leaving, (before, here, after), part),))
        )
        before = here
    areas.append(Area("receiver.right", 0, "receiver", (_path("memory", "nothing", (before, 0, 0)),)))
    return Execution(tuple(areas), frame_bytes=64, flows=flows)


def _path(
    entry: str, leaving: str, cores: tuple[int, int, int], stages: tuple[StageUse, ...] = ()
) -> AreaPath:
    before, here, after = cores
    away = float(before != here)
    return AreaPath(1.0, entry, away, away, leaving, float(after != here), 1, stages)


def cycles(terms: Mapping[str, float], truth: Mapping[str, float] = TRUTH) -> float:
    """What it truly costs; what has no entry costs nothing."""
    return sum(truth.get(name, 0.0) * amount for name, amount in terms.items())


def true_pps(execution: Execution) -> float:
    """What it truly carries."""
    return HZ / max(cycles(core_terms(execution, core, MEMORY)) for core in execution.cores())


def measured(execution: Execution, trial: int, draw: Random, noise: float, host: float = 1.0) -> Measured:
    """A trial with normal noise in each cost, on a host that is so much slower."""
    rows = _rows(execution, trial, draw, noise, host)
    lone = execution.with_fills({area.name: 1 / FULL_BURST for area in execution.areas})
    light = _rows(lone, -1 - trial, draw, noise, host)
    pps = true_pps(execution) / host * draw.gauss(1, noise / 2)
    return Measured(execution, pps, rows, trial, light=light)


def _rows(execution: Execution, trial: int, draw: Random, noise: float, host: float) -> tuple[Row, ...]:
    rows = []
    for area in execution.areas:
        excess = MEMORY.excess_cycles(state_bytes(execution, area.core))
        for path in area.paths:
            stages, rest = path_terms(area, path, execution, excess)
            for terms in (*stages, rest):
                rows.append(Row(trial, terms, cycles(terms) * host * draw.gauss(1, noise)))
    return tuple(rows)
