# SPDX-License-Identifier: Apache-2.0
"""What simulations of a network agree on, and how exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.unit.planning.queueing.simulated import WARM_UP, draw, recursion
from weir.planning.queueing import Arrivals, Queue, delay

ROUNDS_LEAST = 6


@dataclass(frozen=True)
class Errors:
    """Predicted to simulated, less one; and the half width of the simulation's 95 % interval."""

    mean: float
    p50: float
    p90: float
    p99: float
    packets: float
    """In the whole network."""
    pps: float
    """Through the busiest queue."""
    exact_to: float
    """Of the mean delay, as a share of it."""

    def worst(self) -> float:
        """Of mean delay, packets in the network, and throughput."""
        return max(abs(self.mean), abs(self.packets), abs(self.pps))


def errors(
    queues: Sequence[Queue],
    pps: float,
    random: np.random.Generator,
    *,
    exact_to: float,
    packets: int,
    rounds_most: int,
    arrivals: Arrivals = "poisson",
) -> Errors:
    """Simulates in independent rounds of so many packets until the mean delay is known that exactly."""
    rounds: list[tuple[float, ...]] = []
    predicted = delay(queues, pps, arrivals)
    busiest = max(predicted.queues, key=lambda name: predicted.loads[_core(queues, name)])
    half = np.inf
    while len(rounds) < ROUNDS_LEAST or (half > exact_to and len(rounds) < rounds_most):
        drawn = draw(queues, pps, arrivals, packets, random)
        observed = recursion(queues, drawn)
        first = int(WARM_UP * packets)
        counted = observed.delay_us[first:]
        seconds = float(drawn.arrival_us[-1] - drawn.arrival_us[first]) / 1e6
        came = np.count_nonzero(~np.isnan(observed.stay_us[busiest][first:]))
        rounds.append(
            (
                float(counted.mean()),
                *(float(one) for one in np.quantile(counted, (0.5, 0.9, 0.99))),
                float(counted.sum()) / 1e6 / seconds,
                came / seconds,
            )
        )
        means = np.array([one[0] for one in rounds])
        if len(rounds) > 1:
            half = float(1.96 * means.std(ddof=1) / np.sqrt(len(rounds)) / means.mean())
    found = np.mean(rounds, axis=0)
    said = (
        predicted.mean_us,
        predicted.p50_us,
        predicted.p90_us,
        predicted.p99_us,
        pps * predicted.mean_us / 1e6,
        predicted.queues[busiest].pps,
    )
    mean, p50, p90, p99, inside, through = (float(one) for one in np.array(said) / found - 1)
    return Errors(mean, p50, p90, p99, inside, through, half)


def _core(queues: Sequence[Queue], name: str) -> int:
    return next(queue.core for queue in queues if queue.name == name)
