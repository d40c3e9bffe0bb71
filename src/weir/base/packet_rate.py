# SPDX-License-Identifier: Apache-2.0
"""Packet rates in words, and the unit in which rates side by side are said: millions of packets a second, or
thousands where there are no more than some, or where of the smallest less than three digits were left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LEAST_PPS, MOST_PPS = 0.01, 1e10
"""Of a load: a packet in a hundred seconds, and what weir-dp takes for one stream."""
FEW_PPS = 100_000
"""Below this a rate is said in kpps: of a slow function 0.00213 Mpps would hide what it is."""

_SMALL = {1e-2: 5, 1e-1: 4}
"""Decimal places of less than these: three significant digits."""
_LARGE = {999.95: 0, 99.995: 1, 9.9995: 2}
"""Decimal places from these on, which are rounded to a digit more before the point."""


@dataclass(frozen=True)
class RateUnit:
    """In which a table's rates are."""

    label: str
    pps: float

    def text(self, pps: float) -> str:
        """ "2.113": without its unit."""
        return significant(pps / self.pps)


MPPS = RateUnit("Mpps", 1e6)
KPPS = RateUnit("kpps", 1e3)
PPS = RateUnit("pps", 1.0)
_THREE_DIGITS = 1e-3
"""The least value of which the decimal places above leave as many."""


def unit_of(rates_pps: Iterable[float | None]) -> RateUnit:
    """In which the largest of them is easily read, and the smallest has three digits; zeros and unknown ones
    say nothing."""
    known = [one for one in rates_pps if one]
    if not known:
        return MPPS
    units = (KPPS,) if max(known) < FEW_PPS else (MPPS, KPPS)
    return next((one for one in units if min(known) >= _THREE_DIGITS * one.pps), PPS)


def said(pps: float) -> str:
    """ "2.113 Mpps", "21.30 kpps"."""
    unit = unit_of((pps,))
    return f"{unit.text(pps)} {unit.label}"


def significant(value: float) -> str:
    """Four significant digits, and of small values three; all of those before the point."""
    for least, decimals in _LARGE.items():
        if value >= least:
            return f"{value:.{decimals}f}"
    decimals = next((digits for least, digits in _SMALL.items() if 0 < abs(value) < least), 3)
    return f"{value:.{decimals}f}"


def of_load(load: float) -> str:
    """ "12,345", "1.42": of packets or of calls a second; digits behind the point below ten alone."""
    return f"{load:,.0f}" if round(load) >= 10 else f"{load:.3g}"
