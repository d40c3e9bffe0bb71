# SPDX-License-Identifier: Apache-2.0
"""A service level is judged by the whole of a soak, and by each interval; not where others had the cores."""

from __future__ import annotations

import pytest

from weir.lab.sla import DelayLimits, Sla

from .looks import TakenSpan, run


def test_the_service_level_is_of_the_whole_and_names_the_intervals_that_broke_it() -> None:
    seen = run()
    for at in range(12):
        slow = at in (2, 7)
        seen.pass_by(delay_us=300 if slow else 10, lost=10 * (at == 7))
    verdicts = seen.recorder.judge(Sla(loss_ratio=0.001, latency_us=DelayLimits(p90=200, p50=100)))
    found = {(one.criterion, one.direction): one.met for one in verdicts}
    assert found["latency P50", "left-to-right"]
    assert not found["latency P90", "right-to-left"]
    broken = {(one.criterion, one.direction): one for one in seen.recorder.soak.broken}
    assert broken["latency P90", "left-to-right"].first_intervals == [3, 8]
    assert broken["loss ratio", "left-to-right"].first_intervals == [8]
    assert ("loss ratio", "right-to-left") not in broken


@pytest.mark.parametrize(
    ("taken_s", "outcome"),
    [
        ([(0, 6)], "not judged"),
        ([(0, 4)], "missed"),
        ([(0, 4), (0, 4)], "missed"),
        ([(0, 3), (3, 6)], "not judged"),
    ],
)
def test_a_soak_in_which_others_had_some_core_for_most_of_the_time_is_not_judged(
    taken_s: list[tuple[int, int]], outcome: str
) -> None:
    seen = run()
    for _ in range(12):
        taken = [
            TakenSpan(core, start * 1_000_000_000, end * 1_000_000_000, "python3 (9)")
            for core, (start, end) in enumerate(taken_s)
        ]
        seen.pass_by(delay_us=300, taken=taken)
    verdicts = seen.recorder.judge(Sla(latency_us=DelayLimits(p90=200)))
    assert [one.outcome for one in verdicts] == [outcome, outcome]
    whose = "60% of a trial's time was disturbed: others had a core."
    assert {one.why for one in verdicts} == ({whose} if outcome == "not judged" else {None})
    assert len(seen.recorder.soak.broken) == (0 if outcome == "not judged" else 2)
