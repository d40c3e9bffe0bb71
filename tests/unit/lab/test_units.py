# SPDX-License-Identifier: Apache-2.0
"""Quantities as users write them."""

from __future__ import annotations

import pytest

from weir.lab.units import BPS, PPS, quantity


@pytest.mark.parametrize("text", ["10G", "10Gbps", "10 Gbit/s", "10000M", "10e9", "0.01T"])
def test_a_link_is_named_by_its_rate_in_any_usual_way(text: str) -> None:
    assert quantity(text, BPS, "bps") == 10e9


@pytest.mark.parametrize("text", ["10g", "10 Gb", "G", "-10G", "10G/s", "1e999"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number with one of the units bps, kbps"):
        quantity(text, BPS, "bps")


def test_packet_rates_have_their_own_units() -> None:
    assert quantity("2Mpps", PPS, "pps") == 2e6
    with pytest.raises(ValueError, match="pps, kpps, Mpps, Gpps"):
        quantity("2M", PPS, "pps")
