# SPDX-License-Identifier: Apache-2.0
"""Delay, queue lengths and loss below saturation: `execution_delay` of a set-up, `delay` of any queues.

Exact means, whatever the routing, where each queue is alone on its core, serves packets one by one, and gets
Poisson arrivals: M/M/1 in Jackson's networks (Operations Research 5, 1957), M/G/1 where only exponential
servers are ahead (Burke, 1956; Pollaczek and Khinchine; Kleinrock, Queueing Systems I, 5.6). Elsewhere it
approximates: flows behind other servers by two moments (`network`), several queues of one polling core by the
pseudo-conservation law (`core`), bursts by the cycle that gathered them (`routes`), quantiles by gamma
distributions (`delay`). docs/design/model.md has the errors against a simulation.
"""

from __future__ import annotations

from weir.planning.queueing.delay import DelayPrediction, QueueState, delay, execution_delay
from weir.planning.queueing.queue import Arrivals, Queue

__all__ = ["Arrivals", "DelayPrediction", "Queue", "QueueState", "delay", "execution_delay"]
