# SPDX-License-Identifier: Apache-2.0
"""What a run says before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lab.load import load_lab
from weir.lab.ways import ways
from weir.procedures.order import Asked
from weir.procedures.throughput.expected_command import expected
from weir.procedures.throughput.planned import Planned


def test_a_cpu_quota_that_will_make_it_longer_is_said_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "lab.yml"
    place.write_text("weir: 1\nname: small\nchain: PVP\ntechnology: direct\n")
    lab = load_lab(place, cpus=(0, 1))
    plan = Planned(lab, ways(lab, (0, 1)), Asked(), {}, quick=False)
    monkeypatch.setattr("weir.fabric.host.quota.quota_cpus", lambda _tree: 0.5)
    assert "a control group leaves it the time of 0.5 CPUs for loops on 2" in expected(plan, [])
    monkeypatch.setattr("weir.fabric.host.quota.quota_cpus", lambda _tree: 3.0)
    assert "control group" not in expected(plan, [])
    monkeypatch.setattr("weir.fabric.host.quota.quota_cpus", lambda _tree: None)
    assert "control group" not in expected(plan, [])


@pytest.mark.parametrize(("kind", "deep"), [("process", False), ("program", True)])
def test_that_queues_which_nobody_knows_may_make_it_longer_is_said_beforehand(
    kind: str, deep: bool, tmp_path: Path
) -> None:
    options = "{kind: program, program: {command: ./nf}}" if kind == "program" else "{nf: l2fwd}"
    place = tmp_path / "lab.yml"
    place.write_text(
        f"weir: 1\nname: small\nchain: PVP\ntechnology: linux-bridge\nfunctions: {{default: {options}}}\n"
    )
    lab = load_lab(place, cpus=(0, 1))
    plan = Planned(lab, ways(lab, (0, 1)), Asked())
    said = "; longer where queues are deep, since a trial is over when they are empty"
    assert (said in expected(plan, [])) == deep
    assert said not in expected(plan, [60.0])
