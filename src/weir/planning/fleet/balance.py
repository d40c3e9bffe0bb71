# SPDX-License-Identifier: Apache-2.0
"""Spreads chains over the hosts in use: from the fullest node to where the fullest becomes less full."""

from __future__ import annotations

import numpy as np

from weir.planning.fleet.room import Room
from weir.planning.fleet.stop import Stop

STEP = 1e-6
MOVES_A_NODE = 10


def balance(room: Room, stop: Stop) -> None:
    """Moves chains in place, one at a time, on the same hosts; ends where no single move helps."""
    full = room.node_loads()
    stuck = np.repeat(room.chains_on == 0, np.diff(room.first_node))
    for _ in range(MOVES_A_NODE * len(full)):
        if stuck.all() or stop.now():
            return
        node = int(np.argmax(np.where(stuck, -1, full)))
        target = _move(room, node, float(full[node]))
        if target is None:
            stuck[node] = True
            continue
        full = room.node_loads()
        stuck[target] = False


def _move(room: Room, node: int, load: float) -> int | None:
    """Moves the chain for which the fuller of both nodes gets least full; where to. None: no move helps."""
    best: tuple[float, int, int] | None = None
    host = int(room.host_of[node])
    for chain in sorted(room.standing[node]):
        if room.chains_on[host] == 1:
            return None  # its host would fall empty: then it is not in use
        room.put(chain, node, -1)
        rest = float(room.node_loads(slice(node, node + 1))[0])
        mask = room.fits(chain) & (room.chains_on > 0)[room.host_of]
        mask[node] = False
        targets = np.flatnonzero(mask)
        if len(targets):
            need = room.fleet.needs[chain][room.class_of[targets]]
            after = ((room.capacity - room.free)[targets] + need) / np.maximum(room.capacity[targets], 1)
            most = after.max(axis=1)
            index = int(np.argmin(most))
            reached = max(rest, float(most[index]))
            if reached < load - STEP and (best is None or reached < best[0]):
                best = reached, chain, int(targets[index])
        room.put(chain, node, 1)
    if best is None:
        return None
    room.put(best[1], node, -1)
    room.put(best[1], best[2], 1)
    return best[2]
