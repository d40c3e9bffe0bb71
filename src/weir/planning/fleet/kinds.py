# SPDX-License-Identifier: Apache-2.0
"""Chain classes gathered into a few kinds, so that the solver's model stays small for any fleet.

A kind needs, of each resource, the least that any of its classes needs, and only classes that may stand on
the same hosts and are under the same rules are gathered. So every placement of the chains is one of the
kinds: a lower bound for the kinds is one for the chains. With as many kinds as classes nothing is lost.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from weir.planning.fleet.instance import Fleet, Ints

MOST_KINDS = 150


@dataclass(frozen=True)
class Kinds:
    """The model's chains."""

    classes: tuple[tuple[int, ...], ...]
    """Chain classes of each kind, largest first."""
    count: Ints
    """[kind]: chains."""
    needs: Ints
    """[kind, host class, resource]: the least of its classes."""
    kind_of: Ints
    """[chain class]; -1: fits no host at all."""


def gather(fleet: Fleet, most: int = MOST_KINDS) -> Kinds:
    """At most `most` kinds, or as many as there are rules and hosts to tell apart."""
    groups: dict[tuple[bytes, bytes], list[int]] = defaultdict(list)
    for index in range(len(fleet.chains)):
        if fleet.allowed[index].any() and fleet.chains[index].count:
            key = fleet.allowed[index].tobytes(), fleet.rule_members[:, index].tobytes()
            groups[key].append(index)
    parts = list(groups.values())
    spreads = [_spread(fleet, part) for part in parts]
    while len(parts) < most and max((spread for spread, _ in spreads), default=0) > 0:
        widest = max(range(len(parts)), key=lambda index: spreads[index][0])
        part, column = parts.pop(widest), spreads.pop(widest)[1]
        for half in _halves(fleet, part, column):
            parts.append(half)
            spreads.append(_spread(fleet, half))
    parts.sort(key=min)
    kind_of = np.full(len(fleet.chains), -1, dtype=np.int64)
    for kind, part in enumerate(parts):
        kind_of[part] = kind
    sums = fleet.needs.sum(axis=(1, 2))
    return Kinds(
        classes=tuple(tuple(sorted(part, key=lambda index: (-sums[index], index))) for part in parts),
        count=np.array([sum(fleet.chains[index].count for index in part) for part in parts], dtype=np.int64),
        needs=np.array([fleet.needs[part].min(axis=0) for part in parts], dtype=np.int64).reshape(
            len(parts), len(fleet.hosts), 4
        ),
        kind_of=kind_of,
    )


def _flat(fleet: Fleet, part: list[int]) -> Ints:
    """[class, host class and resource]: what may matter."""
    return fleet.needs[part].reshape(len(part), -1)


def _spread(fleet: Fleet, part: list[int]) -> tuple[float, int]:
    """How much is lost by taking them for one kind, and in which column of their needs."""
    flat = _flat(fleet, part)
    scale = np.tile(np.max([node for host in fleet.hosts for node in host.nodes], axis=0), len(fleet.hosts))
    counts = np.array([fleet.chains[index].count for index in part])
    lost = ((flat - flat.min(axis=0)) * counts[:, None]).sum(axis=0) / np.maximum(scale, 1)
    column = int(np.argmax(lost))
    return float(lost[column]), column


def _halves(fleet: Fleet, part: list[int], column: int) -> tuple[list[int], list[int]]:
    """Cut where it saves most in that column."""
    values = _flat(fleet, part)[:, column]
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    counts = np.array([fleet.chains[part[index]].count for index in order])
    after = np.cumsum(counts[::-1])[::-1]  # chains from here on
    saved = (ordered - ordered[0]) * after
    cut = int(np.argmax(saved))
    return [part[index] for index in order[:cut]], [part[index] for index in order[cut:]]
