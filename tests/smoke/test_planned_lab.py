# SPDX-License-Identifier: Apache-2.0
"""The lab that `weir plan` writes runs as it is, and where the plan says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.unit.planning.sample_model import sample_model
from weir.cli.main import app
from weir.lab import load_lab
from weir.store.model_file import write_model

from .tiny import LAB
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]

CHANGED = {
    "[direct, linux-bridge, ovs, ovs-dpdk]": "direct",
    "direct: {queue_size: 256}": "direct: {wire: memory}",
    "chain: PVP": """\
chain: [[edge]]
tester: {direction: left-to-right}
functions:
  edge:
    chain:
      - {nf: acl, options: {default: permit}}
      - {nf: nat, options: {external: 192.0.2.0/24}}
      - {nf: l3fwd}
""",
}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """The tiny lab of three functions."""
    text = LAB.read_text(encoding="utf-8")
    for before, after in CHANGED.items():
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "lab.yml"
    path.write_text(text, encoding="utf-8")
    return path


def planned(lab: Path, rate: str) -> dict[str, Any]:
    """By a model whose costs are made up."""
    model, out = lab.parent / "model.json", lab.parent / "planned.yml"
    write_model(sample_model(), model)
    words = ["plan", lab, "--rate", rate, "--output", out, "--model", model, "--json"]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.long
@pytest.mark.parametrize("rate", ["3Mpps", "9Mpps"])
@pytest.mark.usefixtures("run_root")
def test_what_is_planned_is_what_runs_and_packets_go_through(lab: Path, rate: str) -> None:
    answer = planned(lab, rate)
    (function,) = answer["best"]["functions"]
    written = load_lab(answer["written"], quick=False, cpus=sorted(os.sched_getaffinity(0)))
    (trial,) = trials_of(written, 1, 5000, 0.05)
    areas = [area for area in trial.areas if area.name.split(".")[0] == "f1"]
    assert [area.core for area in areas if "collector" not in area.name] == function["cores"]
    assert trial.delivered > 0
