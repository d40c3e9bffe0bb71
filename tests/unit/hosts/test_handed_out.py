# SPDX-License-Identifier: Apache-2.0
"""A campaign whose points are handed out to it, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.procedures.two_chains import Runs, nothing_is_built
from weir.procedures.order import Asked, HandedOut
from weir.procedures.rounds import MeasuredSetup, rounds_of
from weir.results.campaign import SharedCampaign
from weir.results.result import Result
from weir.results.rounds import rounds_done

__all__ = ["nothing_is_built"]  # a fixture

PVP = ("direct", "PVP")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Of a lab whose frames of 64 bytes are in a worse state until they have a second round."""
    found = Runs(tmp_path)
    measure = found.lab.measure.model_copy(update={"revisit_s": 300.0})
    found.lab = found.lab.model_copy(update={"measure": measure})
    monkeypatch.setattr(
        MeasuredSetup, "worse", lambda self: ["64"] if len(self.rounds.get("64", ())) == 1 else []
    )
    return found


def handed(runs: Runs, left_s: float | None) -> Result:
    def points() -> Iterator[tuple[tuple[str, str], str, int]]:
        yield PVP, "64", 2
        yield PVP, "1518", 0

    shared = SharedCampaign(id="campaign-1", host="a", points=12, spec={})
    handed_out = HandedOut(shared, points(), budget_s=600.0, left_s=lambda: left_s)
    return runs.run(Asked(handed_out=handed_out))


def test_a_host_measures_again_what_was_in_a_worse_state_while_the_campaigns_budget_lasts(runs: Runs) -> None:
    result = handed(runs, left_s=60.0)
    assert runs.measure.count() == 3
    assert result.campaign is not None
    assert result.campaign.budget_s == 600.0


def test_what_is_measured_again_is_none_of_the_planned_rounds(runs: Runs) -> None:
    handed(runs, left_s=60.0)
    stored = runs.stored()
    numbers = {case.frame: [one.round for one in rounds_of(case)] for _, case in stored.cases()}
    assert numbers == {"64": [2, 3], "1518": [0]}
    assert rounds_done([stored]) == {(*PVP, "64"): {2}, (*PVP, "1518"): {0}}
    (found,) = next(case.throughput for _, case in stored.cases() if case.frame == "64")
    assert [one.round for one in found.rounds] == [2, 3]


def test_after_the_campaigns_budget_a_host_measures_nothing_again(runs: Runs) -> None:
    handed(runs, left_s=0.0)
    assert runs.measure.count() == 2
