# SPDX-License-Identifier: Apache-2.0
"""Networks at random, of the class for which the means are exact: feed-forward routing, each queue alone on
its core; exponential servers, and at the last ones, behind which nothing comes, any service."""

from __future__ import annotations

import numpy as np

from weir.planning.queueing import Queue
from weir.planning.queueing.network import network

LAST_SCVS = (0.0, 0.25, 0.5, 1.0, 2.0)
PPS = 1e6


def random_network(random: np.random.Generator, load: float) -> tuple[Queue, ...]:
    """One to eight queues, `load` at the busiest."""
    count = int(random.integers(1, 9))
    queues = []
    for number in range(count):
        later = [f"q{other}" for other in range(number + 1, count) if random.random() < 0.4]
        parts = random.dirichlet(np.ones(len(later) + 1))[:-1]
        queues.append(
            Queue(
                name=f"q{number}",
                core=number,
                service_us=1.0,
                service_scv=1.0 if later else float(random.choice(LAST_SCVS)),
                outside=float(random.random()) if number == 0 or random.random() < 0.3 else 0.0,
                then=dict(zip(later, map(float, parts), strict=True)),
                one_by_one=True,
            )
        )
    entering = sum(queue.outside for queue in queues)
    flows = network([_with(queue, queue.service_us, entering) for queue in queues], PPS, "poisson").flows
    shares = load * np.concatenate(([1.0], random.uniform(0.2, 1.0, count)))
    busiest = int(random.integers(count))
    return tuple(
        _with(
            queue,
            1e6
            * float(shares[0] if number == busiest else shares[number + 1])
            / max(flows[queue.name].pps, 1e-3 * PPS),
            entering,
        )
        for number, queue in enumerate(queues)
    )


def _with(queue: Queue, service_us: float, entering: float) -> Queue:
    return Queue(
        name=queue.name,
        core=queue.core,
        service_us=service_us,
        service_scv=queue.service_scv,
        outside=queue.outside / entering,
        then=queue.then,
        one_by_one=True,
    )
