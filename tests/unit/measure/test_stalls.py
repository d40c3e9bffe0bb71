# SPDX-License-Identifier: Apache-2.0
"""Which loss the host's stalls could explain."""

from __future__ import annotations

import pytest

from weir.measure.stalls import explainable
from weir.store.result import Stall, Trial


def trial(lost: int, stalled_us: float, *, valid: bool = True) -> Trial:
    return Trial(
        purpose="search",
        intended_load_pps=1e6,
        intended_duration_s=1,
        duration_s=1,
        intended=1_000_000,
        offered=1_000_000,
        delivered=1_000_000 - lost,
        loss_ratio=lost / 1e6,
        stalls=[Stall(core=0, count=1, total_us=stalled_us, longest_us=stalled_us)] if stalled_us else [],
        valid=valid,
    )


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (trial(lost=100, stalled_us=100), True),
        (trial(lost=101, stalled_us=100), False),  # more than arrived meanwhile
        (trial(lost=0, stalled_us=100), False),
        (trial(lost=100, stalled_us=0), False),
        (trial(lost=100, stalled_us=100, valid=False), False),
        (trial(lost=20_000, stalled_us=20_000), True),
        (trial(lost=20_000, stalled_us=20_001), False),  # a slow loop, not the host
    ],
)
def test_loss_is_explainable_only_by_the_packets_that_came_during_short_stalls(
    one: Trial, expected: bool
) -> None:
    assert explainable(one) is expected
