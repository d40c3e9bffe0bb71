# SPDX-License-Identifier: Apache-2.0
"""A clock that somebody sets while a soak goes on changes no length of time."""

from __future__ import annotations

import time

import pytest

from weir.procedures.soak import section_rows
from weir.procedures.soak.clock import SegmentClock
from weir.procedures.soak.recorder import Recorder

from .looks import START_S, STREAMS, Run, new_soak


@pytest.mark.parametrize("step_s", [-3600.0, 0.0, 3600.0])
def test_time_goes_on_as_it_did_whatever_the_clock_is_set_to(
    monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    passed = [0.0]
    monkeypatch.setattr(time, "time", lambda: START_S + passed[0])
    monkeypatch.setattr(time, "monotonic", lambda: 50.0 + passed[0])
    clock = SegmentClock()
    assert clock.was_set() is None
    passed[0] = 30.0
    monkeypatch.setattr(time, "time", lambda: START_S + passed[0] + step_s)
    assert clock.now() == START_S + 30
    said = clock.was_set()
    assert (said is None) == (step_s == 0)
    if said is not None:
        assert f"the clock was set by {step_s:+,.0f} s meanwhile" in said


def test_a_soak_that_goes_on_after_the_clock_was_set_back_goes_on_in_time() -> None:
    soak = new_soak()
    seen = Run(Recorder(soak, STREAMS))
    seen.begin()
    for _ in range(3):
        seen.pass_by()
    again = Run(Recorder(soak, STREAMS))
    again.begin(START_S - 3600)
    for _ in range(3):
        again.pass_by()
    assert [(one.from_s, one.to_s) for one in soak.intervals] == [
        (10.0 * number, 10.0 * (number + 1)) for number in range(6)
    ]
    assert soak.measured_s == 60
    said = list(section_rows.remarks(section_rows.SoakRow(None, None, soak)))  # type: ignore[arg-type]
    assert not any("-3" in one for one in said)
