# SPDX-License-Identifier: Apache-2.0
"""How numbers are written for people: fixed digits, so that columns line up and no digit is noise."""

from __future__ import annotations

from decimal import Decimal

from weir.base import packet_rate
from weir.base.packet_rate import MPPS, RateUnit, significant

NONE = "–"
ARROWS = {"left-to-right": "→", "right-to-left": "←"}
"""By direction."""


def mpps(pps: float | None, unit: RateUnit = MPPS) -> str:
    """ "2.113": millions of packets a second, or what the unit says; four significant digits."""
    return NONE if pps is None else unit.text(pps)


def rate(pps: float | None) -> str:
    """ "2.113 Mpps", "21.30 kpps": with the unit that suits it."""
    return NONE if pps is None else packet_rate.said(pps)


def gbps(bps: float | None) -> str:
    """ "1.353": Gbit/s, likewise."""
    if bps is None:
        return NONE
    return significant(bps / 1e9)


def times(ratio: float | None) -> str:
    """ "6.42": a ratio, three significant digits."""
    if ratio is None:
        return NONE
    if ratio >= 100:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def span_mpps(low_pps: float | None, high_pps: float | None, unit: RateUnit = MPPS) -> str:
    """ "2.05–2.17" in Mpps, or in the unit."""
    if low_pps is None or high_pps is None:
        return NONE
    return f"{unit.text(low_pps)}–{unit.text(high_pps)}"


def around(distance: float | None) -> str:
    """ "±13%", "<1%": how far a value is from another, as a share of it; short enough for a narrow column."""
    if distance is None:
        return NONE
    return "<1%" if 0 < distance < 0.01 else f"±{distance:.0%}"


def change(ratio: float) -> str:
    """ "-63%", "+4%", "+310%": what is gained or lost, with its sign."""
    return f"{ratio:+.0%}"


_NEARLY_ALL = 0.995
"""From here on two digits are those of the whole."""
_ALL_BUT_SOME = 0.9995
"""From here on three, too."""


def share(ratio: float | None) -> str:
    """ "0", "0.5 %", "0.0013 %": a loss ratio. Only zero is "0", and less than all is never "100 %"."""
    if ratio is None:
        return NONE
    if _NEARLY_ALL <= ratio < 1:
        return f"{ratio:.1%}".replace("%", " %") if ratio < _ALL_BUT_SOME else "above 99.9 %"
    digits = f"{ratio * 100:.{3 if ratio == 1 else 2}g}"
    return "0" if ratio == 0 else f"{Decimal(digits):f} %"


def percent(ratio: float | None) -> str:
    """ "87.3 %": a share of a whole."""
    return NONE if ratio is None else f"{ratio:.1%}".replace("%", " %")


def time_s(value: float | None) -> str:
    """ "1.20 s", "12.3 ms", "45.6 µs", "0": a time that may be of any size."""
    if value is None:
        return NONE
    if value >= 1:
        return f"{value:.2f} s"
    return "0" if value == 0 else us(value * 1e6) if value < 1e-3 else f"{value * 1e3:.1f} ms"


def us(microseconds: float | None) -> str:
    """ "12.3 µs", "1.20 ms"."""
    if microseconds is None:
        return NONE
    if microseconds >= 1000:
        return f"{microseconds / 1000:.2f} ms"
    return f"{microseconds:.1f} µs"


def in_us(microseconds: float | None) -> str:
    """ "1.23", "12.3", "1,234": for a column whose head has the unit."""
    if microseconds is None:
        return NONE
    if microseconds < 10:
        return f"{microseconds:.2f}"
    return f"{microseconds:.1f}" if microseconds < 100 else f"{microseconds:,.0f}"


def count(packets: int) -> str:
    """ "1,234,567"."""
    return f"{packets:,}"


def seconds(value: float) -> str:
    """ "7 h 13 min", "4 min 12 s", "3.2 s"."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
