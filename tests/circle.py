# SPDX-License-Identifier: Apache-2.0
"""Circles in graphs of what names what."""

from __future__ import annotations


def circle_in(edges: dict[str, set[str]]) -> list[str] | None:
    """One way round a circle of the graph, or None."""
    done: set[str] = set()

    def follow(node: str, way: list[str]) -> list[str] | None:
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return None
        found = (follow(other, [*way, node]) for other in sorted(edges.get(node, ())))
        circle = next((circle for circle in found if circle is not None), None)
        done.add(node)
        return circle

    return next((circle for node in sorted(edges) if (circle := follow(node, [])) is not None), None)
