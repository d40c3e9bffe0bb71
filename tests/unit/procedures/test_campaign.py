# SPDX-License-Identifier: Apache-2.0
"""What a campaign tells whoever shows where it is."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from weir.fabric import Refusal
from weir.lab import Lab, load_lab
from weir.measure.one_case import Event
from weir.procedures import campaign, driver
from weir.procedures.rounds import MeasuredSetup
from weir.results.result import Case
from weir.store.store import Store

LAB = """
weir: 1
name: two
chain: [PVP, PVVP]
technology: [direct]
traffic: {frames: [64, 1518]}
measure: {rounds: 2}
"""


class Told:
    """Keeps what it is told, in order."""

    def __init__(self) -> None:
        self.setups: list[str] = []
        self.counts: list[tuple[str, int]] = []
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def event(self, event: Event) -> None: ...
    def case(self, case: Case) -> None: ...

    def planned(self, cases: int, budget_s: float | None = None) -> None:  # noqa: ARG002
        self.counts.append(("planned", cases))

    def skipped(self, cases: int) -> None:
        self.counts.append(("skipped", cases))

    def setup(self, name: str) -> None:
        self.setups.append(name)


def lab(folder: Path) -> Lab:
    path = folder / "lab.yml"
    path.write_text(LAB)
    return load_lab(path)


def test_each_round_is_named_and_what_is_refused_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "refusal", lambda *_: Refusal("a card", "buy one"))
    monkeypatch.setattr(campaign, "take_down_leftovers", lambda _: None)
    told = Told()
    with Store(str(tmp_path / "results.db")) as store:
        campaign.Campaign(lab(tmp_path), quick=True, store=store, progress=told).run()
    assert told.setups == [
        "direct PVP, round 1",
        "direct PVVP, round 1",
        "direct PVVP, round 2",
        "direct PVP, round 2",
    ]
    assert told.counts == [("planned", 8), *[("skipped", 2)] * 4]


def test_what_is_measured_again_is_counted_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worse = iter([["64", "1518"], ["64"], []])
    way = Mock(lab=lab(tmp_path))
    visited = Mock(spec=MeasuredSetup, way=way, chain=Mock(), setup=Mock(), rounds={})
    told, now = Told(), ["64"]

    def visit(*_: object) -> None:
        now[:] = next(worse)

    now[:] = next(worse)
    visited.worse.side_effect = lambda: list(now)
    monkeypatch.setattr(campaign.Campaign, "_visit", visit)
    with Store(str(tmp_path / "results.db")) as store:
        one = campaign.Campaign(lab(tmp_path), quick=True, store=store, progress=told)
        one._kept = Mock()
        one._visited = {("direct", "PVP"): visited}
        one._revisit(0.0)
        assert told.said == []  # nobody waits longer than for all that was measured
        one._revisit(60.0)
    assert told.counts == [("planned", 2), ("planned", 1)]
    assert told.said == [
        "2 cases again: the machine was in a worse state",
        "1 case again: the machine was in a worse state",
    ]


def test_no_set_up_is_measured_with_another_capture_than_those_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tmp_path / "sent.pcap"
    sent.write_bytes(b"as it was")
    path = tmp_path / "lab.yml"
    path.write_text(
        "weir: 1\nname: sent\nchain: [PVP, PVVP]\ntechnology: [direct]\ntester: {direction: left-to-right}\n"
        "traffic: {capture: {left: sent.pcap}}\nmeasure: {rounds: 1}\n"
    )
    measured: list[str] = []

    def measure(_self: object, visited: MeasuredSetup, *_: object) -> None:
        measured.append(visited.chain.name)
        sent.write_bytes(b"another one")

    monkeypatch.setattr(campaign, "refused", lambda *_: None)
    monkeypatch.setattr(campaign, "take_down_leftovers", lambda _: None)
    monkeypatch.setattr(campaign.Campaign, "_calibrated", lambda *_: {})
    monkeypatch.setattr(campaign.Campaign, "_measure", measure)
    told = Told()
    with Store(str(tmp_path / "results.db")) as store:
        result = campaign.Campaign(load_lab(path), quick=True, store=store, progress=told).run()
    assert measured == ["PVP"]
    (refused,) = [one.refused for one in result.setups if one.chain == "PVVP"]
    assert refused is not None
    assert "sent.pcap has changed since this run began" in refused
    assert any("direct PVVP: given up: " in said for said in told.said)
