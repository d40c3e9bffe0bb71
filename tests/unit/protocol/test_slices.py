# SPDX-License-Identifier: Apache-2.0
"""Into which slices of time a run is divided."""

from __future__ import annotations

import pytest

from weir.protocol.tester import _slice_ns

S = 10**9


@pytest.mark.parametrize(
    ("duration_s", "slice_ns"),
    [(0.1, 1_000_000), (16, 1_000_000), (60, 3_662_110), (80, 4_882_813), (90, None), (1800, None)],
)
def test_slices_are_a_millisecond_or_a_little_more_and_long_runs_have_none(
    duration_s: float, slice_ns: int | None
) -> None:
    assert _slice_ns(round(duration_s * S)) == slice_ns
