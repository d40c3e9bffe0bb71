# SPDX-License-Identifier: Apache-2.0
"""A lab whose variants are steps, with real packets: held against all rules, or found by an index."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.report.disturbed import found
from tests.weir_command import WEIR
from weir.lab import Lab, load_lab
from weir.lab.ways import ways
from weir.report.cycles import cost, fewer, in_functions
from weir.results.result import Case, Trial

from .tiny import LAB
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.usefixtures("run_root"),
]

ROOT = Path(__file__).parents[2]
RULES = 1000
STEPS = """
functions:
  default: {chain: [{nf: acl, options: {rules: far.rules, default: permit, index: false}}, &out {nf: l3fwd}]}
variants:
  plain: {}
  index:
    functions: {default: {chain: &found [{nf: acl, options: {rules: far.rules, default: permit}}, *out]}}
  fast-path: {functions: {default: {chain: *found, fastpath: true}}}
steps: [plain, index, fast-path]
"""
FASTER = 3
"""Times as few cycles with the index, at the least; it is about ten times as few."""


@pytest.fixture
def lab_file(tmp_path: Path) -> Path:
    """The tiny lab between rings of memory, in steps."""
    file = tmp_path / "lab.yml"
    tiny = LAB.read_text().replace("[direct, linux-bridge, ovs, ovs-dpdk]", "direct")
    tiny = tiny.replace("direct: {queue_size: 256}", "direct: {wire: memory}")
    tiny = tiny.replace("\n  ovs-dpdk: {queue_size: 256, socket_memory_mb: 64}", "")
    # Of 2 ms nothing is left on a machine with two cores: weir itself has one as a trial begins and ends.
    file.write_text(tiny.replace("_s: 0.002", "_s: 0.05").replace("retries: 0", "retries: 2") + STEPS)
    far = [f"deny udp any 100.64.{number // 256}.{number % 256} any 9" for number in range(RULES)]
    (tmp_path / "far.rules").write_text("\n".join(far) + "\n")
    return file


def variant(file: Path, name: str) -> Lab:
    cpus = sorted(os.sched_getaffinity(0))
    return next(one.lab for one in ways(load_lab(file, cpus=cpus), cpus) if one.name == name)


def measured(lab: Lab) -> list[Trial]:
    """Each packet that arrived passed the function's rules once, and none is unaccounted for."""
    trials = trials_of(lab, 3, 20_000, 0.1)
    for trial in trials:
        (area,) = [one for one in trial.areas if one.kind == "chain"]
        assert trial.unaccounted == 0
        assert 0 < trial.delivered <= area.packets <= trial.offered
        asked = sum(stage.packets_in for path in area.paths for stage in path.stages if stage.nf == "acl")
        assert asked == area.packets
    return trials


def case_of(trials: list[Trial]) -> Case:
    same: dict[str, object] = {"purpose": "confirm", "valid": True, "intended_load_pps": 1e6}
    confirming = [one.model_copy(update=same) for one in trials]
    return Case(frame="64", mean_frame_bytes=64, throughput=[found(1e6)], trials=confirming)


def test_an_index_spares_the_functions_cycles_and_each_packet_is_counted(lab_file: Path) -> None:
    plain, index = (case_of(measured(variant(lab_file, name))) for name in ("plain", "index"))
    before, now = (cost(one, in_functions, "NDR") for one in (plain, index))
    times = fewer(before, now)
    assert times is not None
    assert times.value > FASTER


@pytest.mark.long
def test_a_run_says_what_each_step_brings(lab_file: Path) -> None:
    out = lab_file.parent / "out"
    words = ["run", str(lab_file), "--store", str(lab_file.parent / "results.db"), "--output", str(out)]
    done = subprocess.run([*WEIR, *words], capture_output=True, text=True, check=False, timeout=300)
    beside_others = "no case has a rate" in done.stderr  # where others have the cores all the time
    assert done.returncode == (1 if beside_others else 0), done.stderr
    rows = done.stdout.partition("What each step brings")[2].partition("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows[-3:]] == ["plain", "index", "fast-path"]
    document = json.loads((out / "result.json").read_text())
    assert document["spec"]["steps"] == ["plain", "index", "fast-path"]
    assert '<section id="steps"' in (out / "report.html").read_text()


@pytest.mark.long
@pytest.mark.parametrize("name", ["plain", "index", "workers", "fast-path", "offload"])
def test_each_step_of_the_user_plane_carries_its_packets(name: str) -> None:
    lab = variant(ROOT / "labs" / "upf-steps", name)
    few = lab.traffic.model_copy(update={"flows": lab.traffic.flows.model_copy(update={"count": 20})})
    trials = trials_of(lab.model_copy(update={"chain": lab.chain[:1], "traffic": few}), 2, 5_000, 0.3)
    for trial in trials:
        assert trial.unaccounted == 0
        assert trial.delivered > 0
        assert in_functions(trial)
    (edge,) = [area for area in trials[-1].areas if area.name == "f3"]
    assert (edge.offloaded > 0) == (name == "offload")
    found = sum(path.fastpath_cycles for path in edge.paths)
    assert found > 0 if name == "fast-path" else name == "offload" or found == 0  # offload may leave it none
