# SPDX-License-Identifier: Apache-2.0
"""What `weir validate` says of a lab that is right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from weir import fabric
from weir.cli.main import app
from weir.fabric import probe
from weir.fabric.function.control_group import ControlGroup

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


BRIDGED = "weir: 1\nname: v\nchain: [PVP, PVVP]\ntechnology: [direct, linux-bridge]\n"
LEFT_OUT = "left out here"


def test_validate_says_what_this_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric, "require_to_measure", lambda: None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(probe, "makes_namespaces", lambda: False)
    (tmp_path / "lab.yml").write_text(BRIDGED)
    said = runner.invoke(app, ["validate", str(tmp_path)]).stdout
    setups = "linux-bridge PVP, linux-bridge PVVP"
    assert f"  {LEFT_OUT} {setups}: root may not make network namespaces here: " in said
    assert LEFT_OUT not in runner.invoke(app, ["validate", str(tmp_path), "--any-machine"]).stdout


def test_validate_tells_nobody_who_may_not_measure_that_something_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    (tmp_path / "lab.yml").write_text(BRIDGED)
    answered = runner.invoke(app, ["validate", str(tmp_path)])
    assert answered.exit_code == 0
    assert LEFT_OUT not in answered.stdout


PROGRAM = """weir: 1
name: v
chain: PVP
technology: [linux-bridge, ovs]
cores: {tester: [0], functions: [0], switch: [0]}
functions: {default: {kind: program, program: {command: "true"}}}
host: {isolation: auto}
"""


def test_validate_says_once_why_a_program_on_these_cores_has_no_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, ...]] = []

    def lacking(_group: ControlGroup, params: Mapping[str, Any]) -> str:
        asked.append((*params["cores"], *params["isolated"]))
        return "its cores are in an isolated partition"

    monkeypatch.setattr(ControlGroup, "lacking", lacking)
    (tmp_path / "lab.yml").write_text(PROGRAM)
    said = runner.invoke(app, ["validate", str(tmp_path)]).stdout
    assert said.count("  limits        not here: its cores are in an isolated partition") == 1
    assert asked == [(0, 0), (0, 0)]
    (tmp_path / "lab.yml").write_text(PROGRAM.replace("auto", "none"))
    runner.invoke(app, ["validate", str(tmp_path)])
    assert asked[2:] == [(0,), (0,)]
    assert "not here" not in runner.invoke(app, ["validate", str(tmp_path), "--any-machine"]).stdout
