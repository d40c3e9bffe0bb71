# SPDX-License-Identifier: Apache-2.0
"""Sets of a set-up side by side, and the link that they share."""

from __future__ import annotations

from random import Random

import pytest

from weir.planning.model.capacity import Prediction, predict
from weir.planning.model.quality import calibrated
from weir.planning.model.scaling import LINK, one_set, over_link, side_by_side

from .costly import HZ, MEMORY, chain, measured

MODEL = calibrated([measured(chain(("nat", "l3fwd")), 0, Random(1), 0.0)], MEMORY, HZ)[0]


def said(flows: int = 64) -> Prediction:
    return predict(MODEL, chain(("nat", "l3fwd"), flows=flows))


def test_sets_carry_as_much_each_and_say_that_it_is_extrapolated() -> None:
    three = side_by_side(said(), 3)
    assert (three.pps, three.low_pps) == pytest.approx((3 * said().pps, 3 * said().low_pps))
    assert any("3 sets side by side" in text for text in three.notices)


def test_one_set_is_what_it_was() -> None:
    assert side_by_side(said(), 1) == said()


def test_flows_are_shared_by_the_sets() -> None:
    assert one_set(chain(("nat",), flows=1000), 3).flows == 334


def test_a_set_without_a_flow_is_refused() -> None:
    with pytest.raises(ValueError, match="3 sets for 2 flows"):
        one_set(chain(("nat",), flows=2), 3)


def test_the_link_caps_all_rates_with_preamble_and_gap() -> None:
    capped = over_link(said(), 1e9, 64, directions=1)
    assert capped.pps == capped.low_pps == capped.high_pps == pytest.approx(1e9 / (84 * 8))
    assert capped.limited_by == LINK
    assert max(core.utilisation for core in capped.cores) == pytest.approx(capped.pps / said().pps)


def test_each_direction_has_the_links_rate() -> None:
    assert over_link(said(), 1e9, 64, directions=2).pps == pytest.approx(2e9 / (84 * 8))


def test_a_link_that_is_fast_enough_changes_nothing() -> None:
    assert over_link(said(), 100e9, 64, directions=1) == said()
