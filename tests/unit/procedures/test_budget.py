# SPDX-License-Identifier: Apache-2.0
"""A run within a time, and how long runs take by those before them."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from weir.procedures import campaign
from weir.procedures.order import Asked
from weir.procedures.resuming import (
    ResumeError,
)
from weir.report.summary import left_out
from weir.results.campaign import LeftOutRounds
from weir.store.rows import add_run
from weir.store.store import Store

from .two_chains import POINTS, FakeMeasure, Runs, is_whole, nothing_is_built

__all__ = ["nothing_is_built"]


def test_a_budget_ends_a_run_with_what_is_left_out_and_another_one_goes_on(runs: Runs) -> None:
    clock = SimpleNamespace(now_s=100.0)

    def ten_seconds_a_case(place: str) -> None:
        clock.now_s += 10 * (place == "case begins")

    runs.measure = FakeMeasure(runs.folder / "log", ten_seconds_a_case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock.now_s)
        patch.setattr(campaign, "Budget", lambda budget_s: order_budget(budget_s, lambda: clock.now_s))
        result = runs.run(Asked(budget_s=55.0))
        assert result.campaign is not None
        assert (result.campaign.points, result.campaign.left_out_points) == (POINTS, 7)
        assert (result.seconds, result.interrupted) == (50.0, False)
        assert [(one.chain, one.frame, one.measured, one.left_out) for one in result.campaign.left_out] == [
            ("PVP", "64", 1, 2),
            ("PVP", "1518", 1, 2),
            ("PVVP", "64", 2, 1),
            ("PVVP", "1518", 1, 2),
        ]
        assert result.finished_at is not None
        with pytest.raises(ResumeError, match=r"has used its budget of 0\.91\d+ min; say with --budget"):
            runs.go_on()
        is_whole(runs.go_on(1000.0))
    with Store(runs.store) as store:
        here = result.fingerprint
        assert store.seconds_of(result.spec_sha256, here.cpu, here.cores) == [120.0]


def test_who_interrupts_a_case_after_the_budget_has_ended_has_interrupted_the_run(runs: Runs) -> None:
    clock = SimpleNamespace(now_s=100.0)

    def a_minute_a_case(place: str) -> None:
        clock.now_s += 60 * (place == "case begins")

    runs.measure = FakeMeasure(runs.folder / "log", a_minute_a_case)
    runs.measure.interrupt_at = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock.now_s)
        patch.setattr(campaign, "Budget", lambda budget_s: order_budget(budget_s, lambda: clock.now_s))
        result = runs.run(Asked(budget_s=10.0))
    assert result.interrupted
    assert "budget" not in str(left_out(result))


def order_budget(budget_s: float | None, clock: Callable[[], float]) -> Any:
    from weir.procedures.order import Budget

    return Budget(budget_s, clock)


def test_what_ended_early_by_its_budget_does_not_tell_how_long_a_run_takes(runs: Runs) -> None:
    result = runs.run(Asked(budget_s=3600.0))
    assert result.campaign is not None
    here = result.fingerprint
    with Store(runs.store) as store:
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1
        result.campaign.left_out = [
            LeftOutRounds(name="direct", chain="PVP", frame="64", measured=1, left_out=2)
        ]
        store.update(result)
        assert store.seconds_of(result.spec_sha256, here.cpu, here.cores) == []


def test_what_gave_a_case_up_does_not_tell_how_long_a_run_takes(runs: Runs) -> None:
    result = runs.run(Asked())
    here = result.fingerprint
    with Store(runs.store) as store:
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1
    result.id = "another"
    result.setups[-1].cases[-1].problem = "the port is gone"
    with Store(runs.store) as store:
        with store.session(writing=True) as session:
            add_run(session, result, [])
        assert len(store.seconds_of(result.spec_sha256, here.cpu, here.cores)) == 1
