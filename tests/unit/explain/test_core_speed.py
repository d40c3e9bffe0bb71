# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from weir.results.result import CoreSpeed, Trial, slowness

from .made import area, explained, the_tester, trial

FULL = 0.98
AHEAD_OF_F1 = {("tester.left", "tx_queue_full"): 300_000}


def paced(*cycles: int, pieces: int = 1000) -> Trial:
    """A trial in which a piece of work took so many cycles on core 0, core 1 …; f1, on core 1, is full."""
    found = trial([*the_tester(), area("f1", FULL, {"nat": 600_000_000})], AHEAD_OF_F1)
    paces = [CoreSpeed(core=core, pieces=pieces, cycles=each * pieces) for core, each in enumerate(cycles)]
    return found.model_copy(update={"core_speeds": paces})


def test_a_core_is_as_slow_as_it_took_longer_than_at_its_best_in_all_trials() -> None:
    found = slowness([paced(600, 900), paced(620, 750), paced(800, 800)])
    assert found[0] == {0: pytest.approx(1.0), 1: pytest.approx(1.2)}


def test_hardly_any_work_timed_says_nothing() -> None:
    assert slowness([paced(600, pieces=5), paced(300, pieces=5)]) == [{}, {}]


@pytest.mark.parametrize(("cycles", "rows"), [(900, [0.5]), (620, [])])
def test_that_a_full_core_was_slowed_is_told_with_what_limits(cycles: int, rows: list[float]) -> None:
    # Without areas: not the trial that is explained.
    found = explained(paced(600, cycles), paced(600, 600).model_copy(update={"areas": []}))
    assert found.limit.core == 1
    told = [row.value for row in found.evidence if row.what == "core 1 slowed"]
    assert told == pytest.approx(rows)
