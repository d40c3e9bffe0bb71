# SPDX-License-Identifier: Apache-2.0
"""What the bench predicted-delay makes of predicted and measured delays."""

from __future__ import annotations

import pytest

from bench.pairs import SkipError
from bench.predicted_delay import SHARES, Point, line, spread


def point(predicted_us: float, measured_us: float, *, share: float = SHARES[0], loss: float = 0.0) -> Point:
    """The same mean, P50 and P99."""
    return Point(
        name="made",
        share=share,
        load_pps=1e6,
        predicted_us=dict.fromkeys(("mean", "p50", "p99"), predicted_us),
        measured_us=dict.fromkeys(("mean", "p50", "p99"), measured_us),
        loss_ratio=loss,
    )


def test_too_high_and_too_low_are_as_far_off() -> None:
    found = line([point(2, 4), point(4, 2), point(3, 3)])
    assert (found.ratio, found.min, found.max, found.n) == (0.5, 0.5, 1.0, 3)


def test_the_detail_keeps_loads_apart_and_the_sign() -> None:
    points = [point(2, 1), point(1, 2), point(3, 2), point(1, 10, share=SHARES[1])]
    ratios = line(points).detail["predicted_to_measured"]
    assert isinstance(ratios, dict)
    assert ratios["30%"]["p50"]["median"] == 1.5
    assert ratios["60%"]["mean"] == {"p10": 0.1, "median": 0.1, "p90": 0.1}


def test_a_set_up_that_does_not_carry_the_load_is_named_and_left_out() -> None:
    found = line([point(1, 1), point(1, 100, loss=0.1)])
    assert (found.ratio, found.n, found.detail["not_carried"]) == (1.0, 1, ["made"])
    with pytest.raises(SkipError, match="no set-up carried its load"):
        line([point(1, 100, loss=0.1)])


def test_the_spread_lies_between_the_extremes() -> None:
    found = spread([point(number, 10) for number in range(1, 12)], "mean")
    assert found == {"p10": pytest.approx(0.2), "median": 0.6, "p90": pytest.approx(1.0)}
