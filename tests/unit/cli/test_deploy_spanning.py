# SPDX-License-Identifier: Apache-2.0
"""`weir deploy --dry-run` of a chain that spans hosts: anybody sees what each of them would build."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app

runner = CliRunner()
SPANS = """weir: 1
name: spans
technology: [direct, linux-bridge]
chain: [[firewall, forwarder]]
cores: {tester: [CPU], functions: [CPU], switch: [CPU]}
functions:
  firewall: {nf: firewall, options: {default: permit}}
  forwarder: {nf: l2fwd, options: {mode: mac-rewrite}}
hosts:
  tester: edge
  functions: {forwarder: core}
traffic: {frames: [64]}
"""


@pytest.fixture
def lab(tmp_path: Path) -> str:
    (tmp_path / "lab.yml").write_text(SPANS.replace("CPU", str(min(os.sched_getaffinity(0)))))
    return str(tmp_path)


def test_the_steps_of_each_host_are_shown(lab: str) -> None:
    done = runner.invoke(app, ["deploy", lab, "--dry-run", "-t", "linux-bridge"])
    assert done.exit_code == 0, done.output
    edge, core = done.stdout.split("On core: ")
    assert edge.startswith("On edge: firewall-forwarder under linux-bridge in ")
    assert "from this host to core, the wire to core" in edge
    assert "from this host to edge, the wire to edge" in core
    assert "tester.left" in edge
    assert "tester.left" not in core


def test_and_as_json(lab: str) -> None:
    done = runner.invoke(app, ["deploy", lab, "--dry-run", "-t", "direct", "--json"])
    steps = json.loads(done.stdout)
    assert list(steps) == ["edge", "core"]
    assert all(each[-1]["kind"] == "weir-dp" for each in steps.values())


def test_without_it_the_command_is_refused_and_says_so(lab: str) -> None:
    done = runner.invoke(app, ["deploy", lab])
    assert done.exit_code == exits.USAGE
    assert "the chains span hosts (edge, core), and this command works on one machine" in done.stderr
    assert "--dry-run`, which shows what each of them would build" in done.stderr
    done = runner.invoke(app, ["deploy", lab, "--dry-run", "--ends", "hosts", "-t", "direct"])
    assert done.exit_code == exits.USAGE
