# SPDX-License-Identifier: Apache-2.0
"""f sets of a set-up side by side, and the link that all of their packets share.

The scale factor f of [ExecAreas] (section 3.1, equation 5): f (x + y) <= n cores, flows shared
evenly, and throughput the smaller of what the f sets and what the link carry.
"""

from __future__ import annotations

import math
from dataclasses import replace

from weir.lab.execution import Execution
from weir.lab.frames import link_pps
from weir.planning.model.capacity import Prediction

LINK = "link"


def one_set(execution: Execution, scale: int) -> Execution:
    """What one of f sets has of the flows. ValueError if there are fewer flows than sets."""
    if execution.flows < scale:
        raise ValueError(f"{scale} sets for {execution.flows} flows; expected a flow or more for each set")
    return replace(execution, flows=math.ceil(execution.flows / scale))


def side_by_side(one: Prediction, scale: int) -> Prediction:
    """All of f sets, each of which carries `one`."""
    if scale == 1:
        return one
    return replace(
        one.times(scale),
        limited_by=f"{one.limited_by}, of each set",
        notices=(
            *one.notices,
            f"Extrapolates: {scale} sets side by side; what they cost each other in caches and memory was "
            "not measured.",
        ),
    )


def over_link(one: Prediction, link_bps: float | None, frame_bytes: float, directions: int) -> Prediction:
    """No more than the link carries, in each direction its rate, with preamble and gap; None: no link."""
    if link_bps is None:
        return one
    most_pps = directions * link_pps(link_bps, frame_bytes)
    return replace(
        one,
        pps=min(one.pps, most_pps),
        low_pps=min(one.low_pps, most_pps),
        high_pps=min(one.high_pps, most_pps),
        functions_pps=min(one.functions_pps, most_pps),
        naive_pps=min(one.naive_pps, most_pps),
        limited_by=LINK if most_pps <= one.pps else one.limited_by,
        cores=tuple(
            replace(load, utilisation=load.utilisation * min(1.0, most_pps / one.pps)) for load in one.cores
        ),
    )
