# SPDX-License-Identifier: Apache-2.0
"""Keys of a lab that differ between two runs of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NAMED = 4
"""Keys that are named; of more only the number is."""
NOT_OF_FIGURES = frozenset(
    ("weir", "name", "title", "chain", "technology", "baseline", "traffic.frames", "measure.rounds", "sla")
)
"""Those that say what is measured, how often, and what is asked of it, but change none of what is found."""
_BY_WAY = ("variants", "technologies")
_ABSENT = object()
_LEFT_OPEN = (None, _ABSENT)


def different(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Their dotted names, in order."""
    return [key for key, _ in _different("", one, other)]


def of_figure(way: str, one: Mapping[str, Any], other: Mapping[str, Any], *, same_weir: bool) -> list[str]:
    """Those that what is found with this technology or variant may depend on. Unless both runs are of the
    `same_weir`, a key that one of them lacks is one that its version did not know."""
    return [
        key
        for key, both in _different("", one, other)
        if (both or same_weir) and not _of_others(key, way, other)
    ]


def named(keys: list[str]) -> str:
    """ "traffic.ip, traffic.l4 and 3 more"."""
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return f"{', '.join(keys[:NAMED])}{more}"


def _of_others(key: str, way: str, spec: Mapping[str, Any]) -> bool:
    if any(key == one or key.startswith(f"{one}.") for one in NOT_OF_FIGURES):
        return True
    for part in _BY_WAY:
        names = spec.get(part) or {}
        if way in names and key.startswith(f"{part}.") and key.split(".")[1] != way:
            return True
    return False


def _different(place: str, one: object, other: object) -> Iterator[tuple[str, bool]]:
    """Each with whether both have it."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted(one.keys() | other.keys(), key=str):
            inner = f"{place}.{key}" if place else str(key)
            yield from _different(inner, one.get(key, _ABSENT), other.get(key, _ABSENT))
    elif one != other and not (one in _LEFT_OPEN and other in _LEFT_OPEN):
        yield place, _ABSENT not in (one, other)
