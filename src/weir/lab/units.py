# SPDX-License-Identifier: Apache-2.0
"""Durations and rates as users write them: a number in the unit that the key names, or "500ms", "1.5Mpps"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_QUANTITY = re.compile(
    r"\s*([0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?)\s*([A-Za-zµ/]*)\s*", re.ASCII
)
SECONDS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
}
PPS = {"pps": Decimal(1), "kpps": Decimal("1e3"), "Mpps": Decimal("1e6"), "Gpps": Decimal("1e9")}

_PREFIXES = {"": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12"}
# Links are named by their rate: "10G" says as much as "10Gbps" and "10Gbit/s".
BPS = {
    prefix + unit: Decimal(factor)
    for unit in ("bps", "bit/s", "")
    for prefix, factor in _PREFIXES.items()
    if prefix or unit
}


def quantity(text: str, units: Mapping[str, Decimal], unit: str) -> float:
    """The number in `unit` that `text` says. ValueError names the units that there are."""
    match = _QUANTITY.fullmatch(text)
    known = ", ".join(name for name in units if name != "µs")
    if match is None or (match[2] and match[2] not in units):
        raise ValueError(f"expected a number with one of the units {known}, or a plain number in {unit}")
    return float(Decimal(match[1]) * units[match[2] or unit] / units[unit])


_KEYWORDS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
"""Of JSON Schema, for limits that Pydantic leaves as they are where a text is accepted too."""


@dataclass(frozen=True)
class In:
    """Annotation of a float: a text with a unit is accepted too, and turned into a number in `unit`."""

    units: Mapping[str, Decimal]
    unit: str
    example: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = {"type": "string", "examples": [self.example]}
        number = {_KEYWORDS.get(key, key): value for key, value in handler(core).items()}
        return {"anyOf": [number, text], "x-unit": self.unit}

    def __hash__(self) -> int:
        return hash((self.unit, self.example))

    def _read(self, value: Any) -> Any:
        return quantity(value, self.units, self.unit) if isinstance(value, str) else value


IN_SECONDS = In(SECONDS, "s", "500ms")
IN_PPS = In(PPS, "pps", "1.5Mpps")
Seconds = Annotated[float, IN_SECONDS]
Milliseconds = Annotated[float, In(SECONDS, "ms", "100ms")]
Microseconds = Annotated[float, In(SECONDS, "us", "50us")]
