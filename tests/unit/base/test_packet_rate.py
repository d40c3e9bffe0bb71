# SPDX-License-Identifier: Apache-2.0
"""Packet rates are said in the unit in which they are easily read."""

from __future__ import annotations

from weir.base import packet_rate
from weir.base.packet_rate import KPPS, MPPS, PPS, significant


def test_rates_below_a_tenth_of_a_million_are_said_in_thousands() -> None:
    assert packet_rate.said(9_213_400) == "9.213 Mpps"
    assert packet_rate.said(100_000) == "0.100 Mpps"
    assert packet_rate.said(99_990) == "99.99 kpps"
    assert packet_rate.said(48.0) == "0.0480 kpps"
    assert packet_rate.said(0.0) == "0.000 Mpps"


def test_rates_side_by_side_have_the_unit_of_the_largest() -> None:
    assert packet_rate.unit_of([2_130.0, 0.0, None]) is KPPS
    assert packet_rate.unit_of([2_130.0, 2_000_000.0]) is MPPS
    assert packet_rate.unit_of([]) is MPPS


def test_rates_side_by_side_have_a_unit_that_leaves_the_smallest_three_digits() -> None:
    assert packet_rate.unit_of([9_213_400.0, 1_000.0]) is MPPS
    assert packet_rate.unit_of([9_213_400.0, 999.0]) is KPPS
    assert packet_rate.unit_of([40.0, 9_213_400.0, 0.4]) is PPS
    assert [KPPS.text(pps) for pps in (9_213_400.0, 999.0, 40.0, 1.0)] == [
        "9213",
        "0.999",
        "0.0400",
        "0.00100",
    ]
    assert packet_rate.said(0.4) == "0.400 pps"


def test_small_values_keep_three_significant_digits() -> None:
    assert [MPPS.text(pps) for pps in (1.2e9, 123.4e6, 12.34e6, 1.234e6, 0.0456e6, 0.00789e6)] == [
        "1200", "123.4", "12.34", "1.234", "0.0456", "0.00789",
    ]  # fmt: skip


def test_a_value_that_is_rounded_up_has_no_digit_more() -> None:
    assert [significant(one) for one in (9.9996, 99.996, 999.96)] == ["10.00", "100.0", "1000"]
    assert [significant(one) for one in (9.9994, 99.994, 999.94)] == ["9.999", "99.99", "999.9"]
