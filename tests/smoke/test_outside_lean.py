# SPDX-License-Identifier: Apache-2.0
"""`weir lean` of functions outside weir-dp: on chains that are really there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli import exits
from weir.cli.main import app

from .test_program import FORWARDER
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

runner = CliRunner()
PROGRAM = "kind: program, program: {command: %s, ready: forwarding, user: root}"


def lab_with(folder: Path, function: str) -> Path:
    text = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "[linux-bridge]")
    (folder / "lab.yml").write_text(text + f"functions:\n  default: {{{function}}}\n")
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    ("function", "area", "rate_kpps"),
    [
        (PROGRAM % json.dumps(FORWARDER), "program:f1.main", 2),
        # Some kernels count by ticks of 4 to 10 ms: there has to be enough of them.
        ("kind: kernel", "softirq.", 20),
    ],
)
def test_the_cpu_time_of_what_forwards_is_told_for_each_packet(
    function: str, area: str, rate_kpps: int, tmp_path: Path, run_root: Path
) -> None:
    lab = lab_with(tmp_path, function)
    text = (lab / "lab.yml").read_text()
    (lab / "lab.yml").write_text(text.replace("_s: 0.002", "_s: 0.3"))
    done = runner.invoke(app, ["lean", str(lab), "--rate", f"{rate_kpps}kpps", "--launches", "5", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (mine, *_) = [one for one in found["areas"] if one["name"].startswith(area)]
    assert mine["tsc_cycles_per_packet"]["median"] > 0
    assert mine["tsc_cycles_per_packet"]["median"] / found["tsc_hz"] < 1 / (
        1000 * rate_kpps
    )  # no more than all of its time
    assert found["functions"][0]["node"] == "f1"
    assert [*run_root.iterdir()] == []


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        ("kind: kernel", ["--flows", "10"], "--flows: of functions of weir-dp"),
        ("kind: kernel", ["--rate", "50% NDR"], "expected packets a second"),
        ("nf: l2fwd", ["--rate", "10kpps"], "--rate: of functions outside weir-dp"),
    ],
)
def test_options_of_the_other_kind_are_refused(
    function: str, options: list[str], said: str, tmp_path: Path
) -> None:
    done = runner.invoke(app, ["lean", str(lab_with(tmp_path, function)), *options])
    assert done.exit_code == exits.USAGE
    assert said in done.stderr.replace("\n", " ")
