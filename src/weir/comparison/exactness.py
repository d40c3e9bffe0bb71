# SPDX-License-Identifier: Apache-2.0
"""How exactly values are known: below that no spread of a few equal ones says anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from weir.results.case import CARRIED
from weir.results.figures import Unit

CARRIED_EXACT = 1e-4
"""Of what was carried of a given load, as a share: packets on their way at its ends."""


def exactness(unit: Unit, what: str, value: float, spec: Mapping[str, Any]) -> float:
    """Of a value of that size, as a share of it: the width at which the lab's searches end; of what was
    carried of a given load a packet at least. `spec`: the resolved lab."""
    if unit == "us":
        return 0.0
    if not what.startswith(CARRIED):
        return _number(spec, "relative_width")
    packets = value * _number(spec, "latency", "duration_s")
    return max(CARRIED_EXACT, 1 / packets if packets else 0.0)


def deviation(exact: float) -> float:
    """Standard deviation of values that are known so exactly: of an even distribution."""
    return exact / math.sqrt(12)


def _number(spec: Mapping[str, Any], *keys: str) -> float:
    """Of a key of `measure`; 0: the lab has none, or it cannot be read."""
    found: Any = spec.get("measure")
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) else 0.0
