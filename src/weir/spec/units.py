# SPDX-License-Identifier: Apache-2.0
"""Durations and rates as users write them: a number in the unit that the key names, or "500ms", "1.5Mpps"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ]*)\s*", re.ASCII)
SECONDS: Mapping[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}
PPS: Mapping[str, float] = {"pps": 1.0, "kpps": 1e3, "Mpps": 1e6, "Gpps": 1e9}


def quantity(text: str, units: Mapping[str, float], unit: str) -> float:
    """The number in `unit` that `text` says. ValueError names the units that there are."""
    match = _QUANTITY.fullmatch(text)
    known = ", ".join(name for name in units if name != "µs")
    if match is None or (match[2] and match[2] not in units):
        raise ValueError(f"expected a number with one of the units {known}, or a plain number in {unit}")
    return float(match[1]) * units[match[2] or unit] / units[unit]


def _reader(units: Mapping[str, float], unit: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        return quantity(value, units, unit) if isinstance(value, str) else value

    return read


def _schema(unit: str, example: str) -> WithJsonSchema:
    text = {"type": "string", "examples": [example]}
    return WithJsonSchema({"anyOf": [{"type": "number"}, text], "x-unit": unit})


Seconds = Annotated[float, BeforeValidator(_reader(SECONDS, "s")), _schema("s", "500ms")]
Milliseconds = Annotated[float, BeforeValidator(_reader(SECONDS, "ms")), _schema("ms", "100ms")]
Microseconds = Annotated[float, BeforeValidator(_reader(SECONDS, "us")), _schema("us", "50us")]
Pps = Annotated[float, BeforeValidator(_reader(PPS, "pps")), _schema("pps", "1.5Mpps")]
