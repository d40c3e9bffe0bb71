# SPDX-License-Identifier: Apache-2.0
"""Which column each thing of a drawing has, and its order there: Sugiyama's method, with layers
by distance from the thing that most others are joined to, on both of its sides.

Layers by distance keep a switch in the middle of what it joins. A layer that is much taller than the drawing
should be is broken into columns beside each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SWEEPS = 6
"""Of ordering by barycentres; more change little."""


@dataclass(frozen=True)
class Edge:
    """Joins two things; `at_first`, `at_second`: how far down in each, from 0 to 1, it leaves."""

    first: str
    second: str
    at_first: float = 0.5
    at_second: float = 0.5


Columns = list[list[str]]


def components(heights: Mapping[str, float], edges: Sequence[Edge], tallest: float) -> list[Columns]:
    """The columns of each group of things that are joined, the largest group first; what is joined to nothing
    comes last, together. `tallest`: how tall a column should be."""
    joined = [one for one in edges if one.first != one.second]
    near: dict[str, list[tuple[str, float]]] = {name: [] for name in heights}
    for one in joined:
        near[one.first].append((one.second, one.at_second))
        near[one.second].append((one.first, one.at_first))
    found, alone, seen = [], [], set[str]()
    # The best joined first, so that each group is met at its middle; what comes first where that is equal.
    for name in sorted(heights, key=lambda each: -len(near[each])):
        if name in seen:
            continue
        if not near[name]:
            alone.append(name)
            continue
        layers = _layers(name, near, heights)
        seen |= {each for layer in layers for each in layer}
        _order(layers, near)
        found.append([column for layer in layers for column in _broken(layer, heights, tallest)])
    found.sort(key=lambda columns: -sum(map(len, columns)))
    if alone:
        found.append(_broken(sorted(alone, key=list(heights).index), heights, tallest / 2))
    return found


def _layers(
    middle: str, near: Mapping[str, Sequence[tuple[str, float]]], heights: Mapping[str, float]
) -> Columns:
    """By distance; what lies behind a neighbour of the middle is on that one's side, the lower side first."""
    layer_of = {middle: 0}
    side = {-1: 0.0, 1: 0.0}
    for name, _ in near[middle]:
        if name not in layer_of:
            way = min(side, key=lambda each: side[each])
            side[way] += heights[name]
            layer_of[name] = way
    waiting = list(layer_of)[1:]
    for name in waiting:
        for other, _ in near[name]:
            if other not in layer_of:
                layer_of[other] = layer_of[name] + (1 if layer_of[name] > 0 else -1)
                waiting.append(other)
    low, high = min(layer_of.values()), max(layer_of.values())
    layers: Columns = [[] for _ in range(low, high + 1)]
    for name, layer in layer_of.items():
        layers[layer - low].append(name)
    return layers


def _order(layers: Columns, near: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    """Each layer by where its neighbours are."""
    place = {name: index / max(1, len(layer)) for layer in layers for index, name in enumerate(layer)}
    size = {name: max(1, len(layer)) for layer in layers for name in layer}

    def wanted(name: str) -> float:
        there = [place[other] + at / size[other] for other, at in near[name]]
        return sum(there) / len(there)

    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            layer.sort(key=wanted)
            place |= {name: index / len(layer) for index, name in enumerate(layer)}


def _broken(layer: Sequence[str], heights: Mapping[str, float], tallest: float) -> Columns:
    """Into columns of about the same height, none much taller than that."""
    whole = sum(heights[name] for name in layer)
    tallest = max(whole / math.ceil(whole / tallest), *(heights[name] for name in layer))
    columns: Columns = [[]]
    filled = 0.0
    for name in layer:
        if columns[-1] and filled + heights[name] / 2 > tallest:
            columns.append([])
            filled = 0.0
        columns[-1].append(name)
        filled += heights[name]
    return columns
