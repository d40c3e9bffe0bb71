# SPDX-License-Identifier: Apache-2.0
"""A real run, killed between two cases, goes on by the command that it is told of, and repeats none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.results.result import Result
from weir.results.rounds import rounds_measured
from weir.store.connection import StoreError
from weir.store.store import Store

from .surroundings import Surroundings
from .tiny import LAB

pytestmark = [
    pytest.mark.root,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]
SOON_S = 120.0
POINTS = 6
"""Two technologies, one frame size, three rounds."""


def stored(path: Path) -> Result | None:
    try:
        with Store(str(path), reading=True) as store:
            return store.latest()
    except StoreError:  # there is none yet
        return None


def weir(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WEIR, *words], capture_output=True, text=True, check=False, timeout=SOON_S)


def test_what_was_finished_before_a_kill_is_not_measured_again(
    tmp_path: Path, run_root: Path, surroundings: Surroundings
) -> None:
    lab = tmp_path / "lab.yml"
    tiny = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "[direct, linux-bridge]")
    lab.write_text(tiny.replace("repeats: 1", "repeats: 1\n  revisit_s: 0"))
    path = tmp_path / "results.db"
    place = ("--store", str(path), "--output", str(tmp_path / "report"))
    process = subprocess.Popen(
        [*WEIR, "run", str(lab), "--repeat", "3", "--shuffle-seed", "4", *place],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + SOON_S
    while (before := stored(path)) is None or rounds_measured([before]).total() < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, before
        surroundings.tokens |= {one.stem.rsplit("-", 1)[1] for one in run_root.glob("*.journal")}
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    assert "--shuffle-seed 4 gives it again" in said
    killed = stored(path)
    assert killed is not None
    done = rounds_measured([killed]).total()
    assert 3 <= done < POINTS, said

    shown = weir("run", "--resume", killed.id, "--dry-run", "--store", str(path))
    assert f"of which {POINTS - done} of {POINTS} points are left" in shown.stdout, shown
    lab.write_text(lab.read_text().replace("repeats: 1", "repeats: 2"))
    refused = weir("run", str(lab), "--resume", killed.id, *place)
    assert (refused.returncode, f"not the lab of run {killed.id}" in refused.stderr) == (2, True), refused

    resumed = weir("run", "--resume", killed.id, *place, "--json")
    assert resumed.returncode in (0, 1), resumed
    result = Result.read(json.dumps(json.loads(resumed.stdout)))
    assert result.id == killed.id
    assert result.campaign is not None
    assert (result.campaign.points, result.campaign.left_out, result.campaign.seed) == (POINTS, [], 4)
    assert not result.interrupted
    assert rounds_measured([result]) == {("direct", "PVP", "64"): 3, ("linux-bridge", "PVP", "64"): 3}
    # The trials of the finished rounds are those of before the kill, first and once.
    whole = {setup.name: case for setup, case in result.cases()}
    for setup, case in killed.cases():
        if case.problem is None:
            kept = len(case.trials)
            assert kept
            assert whole[setup.name].trials[:kept] == case.trials
    assert resumed.stderr.count("PVP") >= POINTS - done
    again = weir("run", "--resume", killed.id, *place)
    assert again.returncode == 2, again
    assert f"run {killed.id} has measured all its {POINTS} points: nothing is left" in again.stderr
    surroundings.check("a kill between two cases, and the run that went on")
