# SPDX-License-Identifier: Apache-2.0
"""Best fit, largest chains first: a placement at once, and the repair of what the solver leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from weir.planning.fleet.instance import Fleet, Floats
from weir.planning.fleet.room import Mask, Room


def sizes(fleet: Fleet) -> Floats:
    """[chain class]: how large, as shares of a mean node, scarce resources weighing more."""
    capacity = np.mean([node for host in fleet.hosts for node in host.nodes], axis=0)
    shares = fleet.needs.astype(float) / np.maximum(capacity, 1)
    allowed = fleet.allowed[:, :, None]
    count = np.maximum(allowed.sum(axis=1), 1)
    mean = np.where(allowed, shares, 0).sum(axis=1) / count
    return np.asarray((mean * fleet.scarcity).sum(axis=1))


def host_ranks(fleet: Fleet) -> Floats:
    """[host class]: cost for what it has, cheapest first."""
    total = np.sum([np.sum(host.nodes, axis=0) * host.count for host in fleet.hosts], axis=0)
    worth = [
        (np.sum(host.nodes, axis=0) / np.maximum(total, 1) * fleet.scarcity).sum() for host in fleet.hosts
    ]
    return np.array(
        [host.cost / max(one, 1e-12) for host, one in zip(fleet.hosts, worth, strict=True)], dtype=float
    )


def fill(
    room: Room, waiting: Counter[int], order: Sequence[int], ranks: Floats, *, only: Mask | None = None
) -> Counter[int]:
    """Puts what waits, in that order of classes, where it leaves least room; what found no place.

    Hosts in use come first, then the others by the rank of their class. `only`: hosts that may be used.
    """
    left: Counter[int] = Counter()
    in_use = room.chains_on > 0 if only is None else only
    for chain in order:
        count = waiting[chain]
        while count > 0:
            mask = room.fits(chain)
            candidates = np.flatnonzero(mask & in_use[room.host_of])
            if len(candidates):
                node = int(candidates[np.argmin(room.slack(candidates))])
            elif only is None and mask.any():
                candidates = np.flatnonzero(mask)
                node = int(candidates[np.argmin(ranks[room.class_of[candidates]])])
                in_use[room.host_of[node]] = True
            else:
                left[chain] = count
                break
            some = min(count, room.fitting(chain, node))
            room.put(chain, node, some)
            count -= some
    return left
