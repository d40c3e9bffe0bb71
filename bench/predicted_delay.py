# SPDX-License-Identifier: Apache-2.0
"""predicted-delay: one-way delays that the cost model says, against measured ones, well below saturation.

The set-ups of labs/predict/delays at shares of their predicted rates, by the model that `weir model
calibrate` has left on this machine. Of the repeats the one counts in which the cores were slowed least, and
what they were slowed by is in the prediction; what the host takes away altogether is in the measured delays
alone.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.pairs import Line, SkipError
from weir import fabric
from weir.base.error import WeirError
from weir.fabric import require_root
from weir.lab import load_lab
from weir.measure.core_speed import Slowing, core_speeds
from weir.measure.windows import USABLE
from weir.planning.calibration.set_up import Visited, slowing_of
from weir.planning.calibration.validation import held_out
from weir.planning.calibration.visits import probe
from weir.planning.model.capacity import CostModel, predict
from weir.planning.model.document import model_of, other_machine
from weir.planning.queueing import execution_delay
from weir.procedures.driver import planned, running
from weir.protocol import DataPlaneTester
from weir.protocol.traffic import DelayWanted
from weir.protocol.traffic_results import LatencySummary
from weir.store.model_file import default_model_path, read_model

SET_UPS = Path(__file__).resolve().parent.parent / "labs" / "predict" / "delays"
SHARES = (0.3, 0.6)
REPEATS = 5
SECONDS, SETTLE_S, DRAIN_S = 0.3, 0.1, 0.05
FIGURES = ("mean", "p50", "p99")
LOSS_MAX = 0.001
"""With more of it the set-up does not carry the load, and there is no delay to compare."""
LOAD_MOST = 0.95
"""Of what a host that slows the cores lets them carry: closer to it delays are what the queues hold."""
TARGET = 0.7


@dataclass(frozen=True)
class Point:
    """One set-up at one load."""

    name: str
    share: float
    """Of the predicted rate."""
    load_pps: float
    predicted_us: Mapping[str, float]
    measured_us: Mapping[str, float]
    """Of the repeat in which the cores were slowed least."""
    loss_ratio: float
    """Of that repeat."""
    slowness: float = 1.0
    """How many times as long a core took for the same work as at its best, in that repeat."""


def run() -> Line:
    """Nearness of P50: the smaller of predicted and measured by the larger; 1 is equal."""
    try:
        require_root()
        model, slowing = _model_here()
        cpus = tuple(sorted(os.sched_getaffinity(0)))
        labs = [load_lab(path, cpus=cpus) for path in sorted(SET_UPS.glob("*.yml"))]
        points = [point for one in held_out(labs) for point in _visited(one, model, slowing)]
    except (WeirError, ValueError) as error:
        raise SkipError(str(error)) from None
    return line(points)


def line(points: Sequence[Point]) -> Line:
    """Over all points that the set-ups carry on a host that slows them little; detail has the ratio of each
    figure by load, and its spread."""
    carried = [one for one in points if one.loss_ratio <= LOSS_MAX and one.slowness <= USABLE]
    if not carried:
        raise SkipError("no set-up carried its load: is the model of this machine, and the host quiet?")
    near = [
        min(said, found) / max(said, found)
        for said, found in ((one.predicted_us["p50"], one.measured_us["p50"]) for one in carried)
    ]
    return Line(
        name="predicted-delay",
        ratio=statistics.median(near),
        min=min(near),
        max=max(near),
        n=len(near),
        pairs=tuple(near),
        target=TARGET,
        detail={
            "predicted_to_measured": {
                f"{share:.0%}": {
                    name: spread([one for one in carried if one.share == share], name) for name in FIGURES
                }
                for share in SHARES
            },
            "not_carried": [one.name for one in points if one not in carried],
            "points": [asdict(one) for one in points],
        },
    )


def spread(points: Sequence[Point], name: str) -> dict[str, float]:
    """Of predicted by measured: median, tenth and ninetieth percentile."""
    ratios = [one.predicted_us[name] / one.measured_us[name] for one in points]
    if len(ratios) < 2:
        return dict.fromkeys(("p10", "median", "p90"), ratios[0]) if ratios else {}
    tenths = statistics.quantiles(ratios, n=10, method="inclusive")
    return {"p10": tenths[0], "median": statistics.median(ratios), "p90": tenths[-1]}


def _model_here() -> tuple[CostModel, Slowing]:
    path = default_model_path()
    document = read_model(path)
    if other_machine(document, fabric.fingerprint(0, "unknown", {})):
        raise SkipError(f"{path} is the model of another machine; `weir model calibrate labs/predict`")
    return model_of(document), slowing_of(document)


def _visited(one: Visited, model: CostModel, slowing: Slowing) -> Iterator[Point]:
    """Built once; at the distance that its cores have meanwhile."""
    execution = one.execution
    with running(one.lab, planned(one.lab, "direct", one.chain)) as chain:
        cores = probe(execution.cores())
        if cores is not None:
            execution = replace(execution, core_distance_cycles=cores.distance_cycles)
        tester = chain.tester()
        tester.configure_traffic(chain.traffic(one.frame).config)
        rate_pps = predict(model, execution).pps
        for share in SHARES:
            load_pps = share * rate_pps
            loss_ratio, found, piece_cycles = _delays(tester, load_pps)
            here = replace(model, hz=model.hz / slowing.times(piece_cycles))
            if load_pps >= LOAD_MOST * predict(here, execution).pps:
                continue
            said = execution_delay(here, execution, load_pps, one.lab.traffic.arrivals)
            yield Point(
                name=one.name,
                share=share,
                load_pps=load_pps,
                predicted_us={"mean": said.mean_us, "p50": said.p50_us, "p99": said.p99_us},
                measured_us={name: getattr(found, f"{name}_ns") / 1e3 for name in FIGURES},
                loss_ratio=loss_ratio,
                slowness=slowing.slowness(piece_cycles),
            )


def _delays(tester: DataPlaneTester, load_pps: float) -> tuple[float, LatencySummary, float]:
    """Loss, delays, cycles of a piece of work on the slower core; of the repeat where these were least."""
    wanted = DelayWanted(settle_ns=round(SETTLE_S * 1e9))
    runs = []
    for _ in range(REPEATS):
        before = tester.ledger()
        (stream,) = tester.run({0: load_pps}, SETTLE_S + SECONDS, DRAIN_S, wanted).streams
        assert stream.latency is not None
        paces = core_speeds(before, tester.ledger())
        slowest = max((one.cycles / one.pieces for one in paces), default=math.inf)
        runs.append((1 - stream.delivered / stream.offered, stream.latency, slowest))
    return min(runs, key=lambda one: one[2])
