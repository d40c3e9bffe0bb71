# SPDX-License-Identifier: Apache-2.0
"""The bisection on a machine whose cores others have for most of the time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from weir.lab.rfc2544 import Rfc2544Options
from weir.measure.trial import Outcome
from weir.procedures.rfc2544.bench import Bench
from weir.procedures.rfc2544.throughput import bisection
from weir.results.result import Trial
from weir.results.slices import Counted
from weir.results.trial import Purpose


class _Disturbed:
    """A runner whose trials carry up to 1 Mpps, and count in a quarter of their time."""

    def valid(self, purpose: Purpose, load_pps: float, duration_s: float) -> Outcome:
        sent = round(load_pps * duration_s)
        counted = Counted(seconds=duration_s / 4, offered=sent // 4, lost=0)
        lost = 0 if load_pps <= 1e6 else sent // 10
        return Outcome(
            Trial(
                purpose=purpose, intended_load_pps=load_pps, intended_duration_s=duration_s,
                duration_s=duration_s, intended=sent, offered=sent, delivered=sent - lost,
                loss_ratio=lost / sent, counted=counted, valid=True,
            ),
            (),
        )  # fmt: skip


@pytest.mark.parametrize(("limits", "status"), [((1e4, 2e6), "measured"), ((1.5e6, 2e6), "irregular")])
def test_bisection_says_how_much_of_its_trials_time_others_had(
    limits: tuple[float, float], status: str
) -> None:
    bench = SimpleNamespace(runner=_Disturbed(), options=Rfc2544Options(search=("bisection",)))
    found = bisection(cast(Bench, bench), limits)
    assert (found.load_pps is not None) == (status == "measured")
    assert found.left_out_share == pytest.approx(0.75)
