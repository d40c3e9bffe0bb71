# SPDX-License-Identifier: Apache-2.0
"""How figures of each unit are written, in tables and plots alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from weir.base.packet_rate import unit_of
from weir.report import numbers
from weir.results.figures import Unit


@dataclass(frozen=True)
class Written:
    """Of one unit."""

    label: str
    """Of what is written."""
    write: Callable[[float | None], str]
    """A value, without it."""
    scale: float
    """From a value to what is written."""


def _whole(value: float | None) -> str:
    return numbers.NONE if value is None else f"{value:,.0f}"


_FIXED: dict[Unit, Written] = {
    "us": Written("µs", numbers.in_us, 1.0),
    "per_s": Written("/s", _whole, 1.0),
    "connections": Written("connections", _whole, 1.0),
    "bps": Written("Gbit/s", numbers.gbps, 1e-9),
}


def written(unit: Unit, values: Iterable[float | None]) -> Written:
    """How values that stand side by side are: packet rates in the unit that suits them all."""
    if unit != "pps":
        return _FIXED[unit]
    rates = unit_of(values)
    return Written(rates.label, partial(numbers.mpps, unit=rates), 1 / rates.pps)


def said(unit: Unit, value: float | None) -> str:
    """ "9.213 Mpps"."""
    by = written(unit, (value,))
    return f"{by.write(value)} {by.label}"
