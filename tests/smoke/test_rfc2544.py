# SPDX-License-Identifier: Apache-2.0
"""`weir rfc2544` on a chain that is really there: every procedure, as short as can be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.results.result import Result

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

# A slow medium: the tester, and what runs beside it, are no limit.
LAB = """
weir: 1
name: tiny
chain: PVP
technology: direct
traffic: {frames: [64]}
measure:
  warm_up_s: 0
  calibration: {duration_s: 0.01}
  rfc2544:
    link: 10M
    width: 0.2
    trial_s: 0.02
    residual_s: 0.01
    restabilise_s: 0
    latency_s: 0.02
    latency_tag_s: 0.01
    latency_repeats: 2
    loss_step: 0.5
    burst_s: 0.01
    burst_step: 0.2
    burst_repeats: 2
    burst_rest_s: 0
    overload_s: 0.02
    recovery_s: 0.02
    recovery_repeats: 2
"""


def rfc2544(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, with that lab."""
    (folder / "lab.yml").write_text(LAB)
    argv = ["rfc2544", str(folder), "--store", str(folder / "results.db"), *words]
    return subprocess.run(
        [*WEIR, *argv],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_every_procedure_runs_and_is_reported(tmp_path: Path, run_root: Path) -> None:
    done = rfc2544(tmp_path, "--output", str(tmp_path / "report"))
    assert done.returncode == 0, done.stderr + done.stdout
    (setup,) = Result.model_validate_json((tmp_path / "report/result.json").read_text()).setups
    (case,) = setup.cases
    assert case.frame == "64"  # the lab's, since nothing else was asked for
    report = case.rfc2544
    assert report is not None
    assert report.max_pps == pytest.approx(2 * 10e6 / 672)
    (found,) = case.throughput
    assert found.load_pps is not None or found.why  # a machine that is busy has none
    assert (report.latency is None) == (report.recovery is None) == (found.load_pps is None)
    assert report.frame_loss is not None
    last = report.frame_loss.steps[-1]
    assert last.loss_ratio is not None or last.why  # the same
    assert report.back_to_back is not None
    assert [one.what for one in report.resets] == [None]
    for said in ("Throughput (RFC 2544, 26.1)", "Frame loss rate (RFC 2544, 26.3)", "Not as the RFCs ask"):
        assert said in done.stdout
    assert not list(run_root.iterdir())
