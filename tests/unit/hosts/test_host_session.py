# SPDX-License-Identifier: Apache-2.0
"""The program that measures on a host, from its first line to its end; nothing is built."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.unit.procedures.two_chains import FakeMeasure, Runs, nothing_is_built
from weir.fabric import stop_signals
from weir.hosts.messages import Begin, CaseKept, End, Measure, Word, from_host
from weir.lab.on_machine import LabHereError
from weir.procedures import host_session
from weir.procedures.campaign import Campaign
from weir.procedures.head import Channel
from weir.results.campaign import SharedCampaign

__all__ = ["nothing_is_built"]  # a fixture

PVP = Measure(name="direct", chain="PVP", frame="64", round=1)


class Host:
    """One that is told some orders."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        runs = Runs(folder)
        self.measure = FakeMeasure(folder / "log")
        self.spec = runs.lab.model_dump(mode="json")
        measure = self.measure

        class Measuring(Campaign):
            def __init__(self, *of: object, **how: object) -> None:
                super().__init__(*of, **how, measuring=measure)  # type: ignore[arg-type]

        @contextmanager
        def claimed(*_: object) -> Iterator[None]:
            yield

        patch.setattr(host_session, "campaign_class", lambda _lab: Measuring)
        patch.setattr("weir.fabric.claimed", claimed)

    def told(self, *orders: BaseModel) -> list[Word]:
        """What it says."""
        shared = SharedCampaign(id="campaign-1", host="a", points=12, spec=self.spec)
        source, into = os.pipe()
        said = io.BytesIO()
        channel = Channel(source, said)
        lines = [Begin(shared=shared, quick=False, budget_s=600.0), *orders]
        os.write(into, "".join(f"{one.model_dump_json()}\n" for one in lines).encode())
        try:
            with stop_signals.held():
                host_session.serve(channel)
        finally:
            channel.over()
            os.close(into)
        return [from_host(line.decode()) for line in said.getvalue().splitlines()]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def test_a_point_is_measured_as_the_round_that_the_head_says(host: Host) -> None:
    said = host.told(PVP, End())
    kept = {(one.case.frame, one.case.round) for one in said if isinstance(one, CaseKept)}
    assert kept == {("64", 1)}


def test_a_set_up_that_is_not_in_the_lab_is_refused_by_its_name(host: Host) -> None:
    with pytest.raises(LabHereError, match="the head asks for ovs PVP, which is not in its lab"):
        host.told(PVP, Measure(name="ovs", chain="PVP", frame="64", round=0), End())


def test_a_host_that_is_stopped_while_it_measures_ends_as_after_ctrl_c(host: Host) -> None:
    host.measure.interrupt_at = 1
    with pytest.raises(KeyboardInterrupt):
        host.told(PVP, PVP.model_copy(update={"round": 2}), End())
