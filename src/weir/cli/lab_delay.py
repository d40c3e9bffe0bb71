# SPDX-License-Identifier: Apache-2.0
"""`weir predict LAB --rate`: one-way delays at a load, beside the rates."""

from __future__ import annotations

from collections.abc import Iterable

from weir.lab.execution import Execution
from weir.planning.capacity import CostModel
from weir.planning.queueing import Arrivals, DelayPrediction, execution_delay
from weir.report.columns import table


def at_load(
    model: CostModel,
    execution: Execution,
    rate_pps: float | None,
    *,
    carried_pps: float,
    sets: int,
    pacing: Arrivals,
) -> tuple[DelayPrediction | None, tuple[str, ...]]:
    """At that load, of which each of the sets has its part, and what is to be said of it."""
    if rate_pps is None:
        return None, ()
    load = f"{rate_pps / 1e6:.10g} Mpps"
    if execution.switched():
        return None, (f"No delay at {load}: what waits in a switch is not in the model.",)
    if rate_pps >= carried_pps:
        return None, (f"No delay at {load}: it carries {carried_pps / 1e6:.3f} Mpps.",)
    found = execution_delay(model, execution, rate_pps / sets, pacing)
    return found, (
        f"Delays at {load}, {pacing} pacing, are of queues and bursts: what the host takes away comes on "
        "top, at P99 above all.",
        *found.limits,
    )


def delay_lines(asked: Iterable[tuple[str, str, int, DelayPrediction]]) -> list[str]:
    """A table of chain, frame, flows and delay, below another one; nothing without any."""
    rows: list[tuple[str, ...]] = [
        ("chain", "frame", "flows", "mean µs", "P50 µs", "P90 µs", "P99 µs", "longest queue")
    ]
    for chain, frame, flows, delay in asked:
        name, state = max(delay.queues.items(), key=lambda item: item[1].packets)
        times = (delay.mean_us, delay.p50_us, delay.p90_us, delay.p99_us)
        rows.append(
            (
                chain,
                frame,
                f"{flows:,}",
                *(f"{time_us:.2f}" for time_us in times),
                f"{name}: {state.packets:.1f} packets",
            )
        )
    return ["", *table(rows)] if len(rows) > 1 else []


def delay_json(delay: DelayPrediction) -> dict[str, object]:
    """For `--json`."""
    return {
        "mean_us": delay.mean_us,
        "p50_us": delay.p50_us,
        "p90_us": delay.p90_us,
        "p99_us": delay.p99_us,
        "queues": {
            name: {"delay_us": state.delay_us, "packets": state.packets, "loss_ratio": state.loss}
            for name, state in delay.queues.items()
        },
    }
