# SPDX-License-Identifier: Apache-2.0
"""What each execution area did in one trial: the difference of two ledgers, in the result's shape."""

from __future__ import annotations

from weir.protocol.ledger import AreaLedger, Ledger, PathLedger, StageLedger
from weir.results.result import AreaLoad, PathLoad, StageLoad

ROOM_DROPS = "tx_queue_full"


def area_loads(before: Ledger, after: Ledger) -> list[AreaLoad]:
    """Of all areas. Both ledgers are of one configuration: it has the same areas in the same order."""
    return [_area(was, area) for was, area in zip(before.areas, after.areas, strict=True)]


def _area(was: AreaLedger, area: AreaLedger) -> AreaLoad:
    return AreaLoad(
        name=area.name,
        core=area.core,
        kind=area.kind,
        busy_cycles=area.busy_cycles - was.busy_cycles,
        idle_cycles=area.idle_cycles - was.idle_cycles,
        long_polls=area.long_polls - was.long_polls,
        long_cycles=area.long_cycles - was.long_cycles,
        paths=[_path(*both) for both in zip(was.paths, area.paths, strict=True)],
    )


def _path(was: PathLedger, path: PathLedger) -> PathLoad:
    return PathLoad(
        name=path.name,
        inputs=list(path.inputs),
        outputs=list(path.outputs),
        packets_in=path.rx_packets - was.rx_packets,
        packets_out=path.tx_packets - was.tx_packets,
        dropped=path.drops.get(ROOM_DROPS, 0) - was.drops.get(ROOM_DROPS, 0),
        fastpath_cycles=_followed(path) - _followed(was),
        stages=[_stage(*both) for both in zip(was.stages, path.stages, strict=True)],
    )


def _followed(path: PathLedger) -> int:
    return path.fastpath.cycles if path.fastpath is not None else 0


def _stage(was: StageLedger, stage: StageLedger) -> StageLoad:
    return StageLoad(
        nf=stage.nf,
        packets_in=stage.packets_in - was.packets_in,
        cycles=stage.cycles - was.cycles,
        long_cycles=stage.long_cycles - was.long_cycles,
        dropped=sum(stage.drops.values()) - sum(was.drops.values()),
    )
