# SPDX-License-Identifier: Apache-2.0
"""What `weir validate` says of a lab that is right."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from weir.cli.main import app

runner = CliRunner()


def test_validate_names_what_a_run_would_leave_unmeasured_or_unjudged(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(
        "weir: 1\nname: v\nchain: PVP\ntechnology: [direct, linux-bridge, ovs]\n"
        "variants: {a: {technology: direct}, b: {technology: linux-bridge}}\n"
        "sla: {throughput: [{goal: NDR, pps: 1Mpps}], latency_us: {p99: 100}}\n"
    )
    said = runner.invoke(app, ["validate", str(tmp_path)]).stdout
    assert "not measured  ovs: no variant has it" in said
    assert "weir soak judges its loss and delays; weir run its rates alone: measure.latency is absent" in said
