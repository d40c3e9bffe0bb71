# SPDX-License-Identifier: Apache-2.0
"""Each command that deploys asks for its cores before it builds, measures or stores anything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir import fabric, plan
from weir.cli import exits
from weir.cli.main import app
from weir.fabric.journal import Journal
from weir.lab import Lab
from weir.planning.calibration import command as calibration

FIRST = "first-9a1e51ff"
runner = CliRunner()


@pytest.fixture(autouse=True)
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment stands that has every CPU, on a machine that can do everything."""
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    monkeypatch.setenv("WEIR_STORE", str(tmp_path / "results.db"))
    monkeypatch.setattr(fabric, "require_root", lambda: None)
    monkeypatch.setattr(fabric, "require_to_measure", lambda: None)
    monkeypatch.setattr(fabric, "check", lambda *_args, **_options: None)
    monkeypatch.setattr(calibration, "load_model", lambda _path: None)
    cpus = sorted(os.sched_getaffinity(0))
    spec = {"weir": 1, "name": "first", "chain": "PVP", "technology": ["direct"]}
    lab = Lab.model_validate(spec | {"cores": {"tester": cpus, "functions": cpus}})
    journal = Journal.begin(plan.build_topology(lab, "direct", lab.chains()[0], FIRST))
    journal.write({"keep": True})
    journal.close()


@pytest.mark.parametrize(
    "words",
    [
        ["deploy", "LAB"],
        ["run", "LAB"],
        ["rfc2544", "LAB", "--test", "throughput"],
        ["soak", "LAB", "--rate", "1kpps"],
        ["migrate", "LAB"],
        ["model", "calibrate", "LAB"],
        ["model", "validate", "--random", "1"],
    ],
    ids=" ".join,
)
def test_on_cores_of_a_deployment_that_stands_it_refuses_and_does_nothing(
    words: list[str], tmp_path: Path
) -> None:
    migrates = words[0] == "migrate"
    function = {"kind": "vm", "vm": {"forwarder": "kernel"}} if migrates else {"nf": "l2fwd"}
    spec = {
        "weir": 1,
        "name": "second",
        "chain": "PVP",
        "technology": ["linux-bridge"] if migrates else ["linux-bridge", "direct"],
        "functions": {"default": function},
    }
    (tmp_path / "lab.yml").write_text(json.dumps(spec))
    done = runner.invoke(app, [str(tmp_path / "lab.yml") if word == "LAB" else word for word in words])
    assert f"weir: {FIRST} polls on core" in done.stderr
    assert f"`weir destroy {FIRST}`" in done.stderr
    assert done.exit_code == exits.ENVIRONMENT
    assert [path.name for path in (tmp_path / "weir").iterdir()] == [f"{FIRST}.journal"]
    assert not (tmp_path / "results.db").exists()
