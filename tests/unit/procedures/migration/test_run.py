# SPDX-License-Identifier: Apache-2.0
"""A machine is not moved where no packet comes through it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.report.synthetic import result as synthetic
from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from tests.unit.measure.rig import STEADY
from weir.lab import load_lab
from weir.measure.tester import no_counters
from weir.procedures.migration.run import MigrationRun, MigrationSettings
from weir.procedures.migration.section import SECTION
from weir.results.migration import Migration
from weir.results.result import Case


def test_where_nothing_comes_through_nothing_is_migrated_and_the_reason_is_said(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("weir: 1\nname: small\nchain: PVP\ntechnology: linux-bridge\n")
    lab = load_lab(tmp_path, cpus=[0, 1])
    dut = SimulatedDut(STEADY, wrong=Misbehaviour(denied_share=1.0))
    chain: Any = SimpleNamespace(
        client=None, counters=no_counters, tester=lambda: dut, traffic=lambda _frame: simulated_traffic()
    )
    untouched: Any = None
    settings = MigrationSettings(
        technology="linux-bridge",
        variant=None,
        chain=lab.chains()[0],
        node="f1",
        frame="64",
        load="1kpps",
        load_pps=1000.0,
        settle_s=1.0,
        time_limit_s=1.0,
        downtime_limit_ms=1,
        bandwidth_bps=None,
    )
    case = Case(frame="64", mean_frame_bytes=64.0)
    case.migration = Migration(
        function="default", node="f1", load="1kpps", load_pps=1000.0, downtime_limit_ms=1, primary="a card"
    )
    run = MigrationRun(lab, quick=False, store=untouched, progress=untouched)
    assert run.under_load(case, settings, chain, untouched) is False
    assert case.migration.status == "failed"
    assert case.migration.why is not None
    assert case.migration.why.endswith("500 a second, none arrived. Dropped: 200 at dut/firewall (denied).")
    assert [trial.purpose for trial in case.trials] == ["preflight"]
    made = synthetic()
    made.setups[0].cases = [case]
    (finding,) = SECTION.findings(made)
    assert f"failed ({case.migration.why})" in finding
