# SPDX-License-Identifier: Apache-2.0
"""Weir's router in the place of tenants' Linux routers, by commands: measured beside those every packet is
accounted for; deployed it routes until it is destroyed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.cli.exits import OK
from weir.fabric import namespace
from weir.results.tenants import Tenants, TenantsTcp

from .clouds import NEEDS_CLOUDS
from .test_cloud_weir_router import CLOUD
from .test_measured_cloud import FAR_TOO_MUCH, LIGHT, accounted, measured

pytestmark = NEEDS_CLOUDS

LAB = """weir: 1
name: routed
cloud: {isolation: gre}
tenants:
  - {name: plain}
  - {name: through, functions: [{name: dpi}]}
traffic: {frames: 64, flows: 4}
measure:
  router: [linux, weir]
  sending: [2]
  loads: [200pps, 150kpps]
  duration_s: 0.3
  repeats: 1
  goals: []
  trial: {retries: 6}
  tcp: {duration_s: 1}
"""


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a cloud is measured on two CPUs or more")
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_measured_beside_linux_all_is_accounted_for_and_tcp_gets_through(
    tmp_path: Path, run_root: Path
) -> None:
    (tmp_path / "lab.yml").write_text(LAB)
    found = list(measured(tmp_path).cases())
    assert [(setup.name, case.frame) for setup, case in found] == [
        (name, frame) for name in ("Linux routes", "Weir routes") for frame in ("64", "tcp")
    ]
    for _, case in found[::2]:
        light, much = case.curve
        accounted(light)
        accounted(much)
        assert light.delivered == light.offered == sum(one.offered for one in light.streams) > LIGHT / 10
        assert much.delivered < much.offered / 2
        record = Tenants.model_validate(case.records["tenants"])
        assert [one.loss_ratio for one in record.points[0].shares] == [0, 0]
        assert record.points[1].load_pps == FAR_TOO_MUCH
    for _, case in found[1::2]:
        for one in TenantsTcp.model_validate(case.records["tenants_tcp"]).shares:
            assert one.goodput_bps is not None, one.why
            assert one.goodput_bps > 0
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.usefixtures("run_root")
def test_deployed_by_the_command_it_routes_until_it_is_destroyed(tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text(json.dumps(CLOUD))
    made = subprocess.run(
        [*WEIR, "deploy", str(tmp_path), "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    assert made.returncode == OK, made.stderr
    deployment = json.loads(made.stdout)["id"]
    try:
        done = subprocess.run(
            [*WEIR, "exec", deployment, "blue.1", "--", "ping", "-c", "1", "-W", "1", "198.18.0.1"],
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        assert done.returncode == OK, done.stdout
    finally:
        gone = subprocess.run([*WEIR, "destroy", deployment], capture_output=True, timeout=60, check=False)
    assert gone.returncode == OK
    token = deployment.rpartition("-")[2]
    assert not [path.name for path in namespace.DIRECTORY.iterdir() if token in path.name]
