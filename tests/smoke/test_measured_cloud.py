# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab with tenants: every packet of every tenant is accounted for, at loads that the cloud
carries and at loads that it does not."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.cli.exits import INTERRUPTED, OK
from weir.fabric import clean_leftovers, markers, namespace, stop_signals
from weir.lab.tenants_load import load_tenants
from weir.lab.tenants_measure import DISCARD_PORT
from weir.plan import deployment_id
from weir.plan.cloud import measured_topology
from weir.plan.cloud.tester import tenant_streams
from weir.procedures.tenants.standing_cloud import standing_cloud
from weir.protocol import DataPlaneTester
from weir.results.result import Result, Trial
from weir.results.tenants import Tenants, TenantsTcp

from .clouds import StandingCloud, ethernet, frames, udp

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a cloud is measured on two CPUs or more"),
]

LIGHT, FAR_TOO_MUCH = 200, 150_000
SPOOFED = 20
TENANTS_PORT = DISCARD_PORT.to_bytes(2, "big")
LAB = """weir: 1
name: tiny
cloud: {{compute_nodes: {nodes}, isolation: {isolation}, security: {security}}}
tenants:
  - {{name: plain, instances: 2}}
  - {{name: through, functions: [{{name: dpi}}]}}
traffic: {{frames: 64, flows: 4}}
measure:
  sending: [2]
  loads: [{loads}]
  duration_s: 0.3
  repeats: 1
  goals: []
  trial: {{retries: 6}}
"""


def lab(folder: Path, isolation: str, security: str, nodes: int, *loads: int) -> Path:
    text = LAB.format(
        isolation=isolation, security=security, nodes=nodes, loads=", ".join(f"{one}pps" for one in loads)
    )
    (folder / "lab.yml").write_text(text)
    return folder


def measured(folder: Path, *words: str, within_s: float = 240, usable: bool = True) -> Result:
    """By `weir run` of the lab there, with these words besides. Not `usable`: on a busy machine all trials
    may be too disturbed for a rate, which the command calls a failure."""
    done = subprocess.run(
        [*WEIR, "run", str(folder), "--json", "--store", str(folder / "store.db"), *words],
        capture_output=True, text=True, timeout=within_s, check=False,
    )  # fmt: skip
    assert done.returncode == OK or (not usable and "nothing was measured" in done.stderr), done.stderr
    return Result.model_validate_json(done.stdout)


def accounted(trial: Trial) -> None:
    assert trial.valid, trial.invalid_because
    assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops)
    assert trial.unaccounted == trial.duplicates == trial.reordered == 0


@pytest.mark.parametrize(
    ("isolation", "security", "nodes"),
    [
        pytest.param("gre", "bridge-filter", 1, marks=pytest.mark.long),
        pytest.param("vxlan", "ovs-conntrack", 2, marks=pytest.mark.long),
        pytest.param("vlan", "none", 2, marks=pytest.mark.long),
    ],
)
def test_what_each_tenant_sends_arrives_or_is_lost_at_a_device_that_says_so(
    isolation: str, security: str, nodes: int, tmp_path: Path, run_root: Path
) -> None:
    folder = lab(tmp_path, isolation, security, nodes, LIGHT, FAR_TOO_MUCH)
    result = measured(folder)
    ((setup, case),) = result.cases()
    assert setup.technology == security
    light, much = case.curve
    accounted(light)
    assert light.delivered == light.offered > 0
    accounted(much)
    assert much.delivered < much.offered / 2
    record = Tenants.model_validate(case.records["tenants"])
    assert [one.tenant for one in record.points[0].shares] == ["plain", "through"]
    for one in record.points[0].shares:
        assert one.delivered_pps == one.offered_pps == pytest.approx(LIGHT, rel=0.1)
    assert all(one.loss_ratio > 0.2 for one in record.points[1].shares)
    assert sum(one.packets for one in record.points[1].drops) == much.offered - much.delivered
    assert list(run_root.glob("*.journal")) == []


SHARING = """weir: 1
name: tiny
cloud: {isolation: vxlan, compute_nodes: 2, functions: [{name: dpi}, {name: firewall}]}
tenants: [{name: plain, shared: false}, {name: through, count: 2}]
traffic: {frames: 64, flows: 4}
measure:
  functions: [0, 2]
  sending: [2]
  background: {load: 100pps, frame: 500}
  loads: [200pps, 150kpps]
  duration_s: 0.3
  repeats: 1
  goals: []
  trial: {retries: 6}
  tcp: {duration_s: 1}
"""


@pytest.mark.slow
def test_through_what_is_shared_all_is_accounted_for_beside_a_background_and_tcp_comes_through(
    tmp_path: Path, run_root: Path
) -> None:
    (tmp_path / "lab.yml").write_text(SHARING)
    result = measured(tmp_path)
    found = list(result.cases())
    assert [(setup.name, case.frame) for setup, case in found] == [
        (name, frame) for name in ("routers alone", "through dpi, firewall") for frame in ("64", "tcp")
    ]
    for _, case in found[::2]:
        light, much = case.curve
        accounted(light)
        accounted(much)
        assert light.delivered == light.offered
        sent = {one.stream: one.offered / light.duration_s for one in light.streams}
        assert sent == {
            0: pytest.approx(200, rel=0.1),
            1: pytest.approx(200, rel=0.1),
            2: pytest.approx(100, rel=0.1),
        }
        assert much.delivered < much.offered / 2
        record = Tenants.model_validate(case.records["tenants"])
        assert [one.tenant for one in record.points[0].shares] == ["plain", "through-1"]
    through = Tenants.model_validate(found[2][1].records["tenants"]).through
    assert through == {"plain": [], "through-1": ["shared.dpi", "shared.firewall"]}
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed: its goodput was not looked at")
    for _, case in found[1::2]:
        for one in TenantsTcp.model_validate(case.records["tenants_tcp"]).shares:
            assert one.goodput_bps is not None, one.why
            assert one.goodput_bps > 0
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
def test_ctrl_c_takes_the_cloud_down_and_keeps_what_was_finished(tmp_path: Path, run_root: Path) -> None:
    folder = lab(tmp_path, "gre", "none", 1, LIGHT, LIGHT + 1, LIGHT + 2)
    run = subprocess.Popen(
        [*WEIR, "run", str(folder), "--json", "--store", str(tmp_path / "store.db")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (built := list(run_root.glob("tiny-*/ovs-network"))):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    said, complained = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED, complained
    assert json.loads(said)["interrupted"]
    token = built[0].parent.name.rpartition("-")[2]
    assert not [path.name for path in namespace.DIRECTORY.iterdir() if token in path.name]
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_killed_while_tcp_is_measured_it_leaves_nothing_that_the_next_weir_does_not_end(
    tmp_path: Path, run_root: Path
) -> None:
    folder = lab(tmp_path, "gre", "none", 1, LIGHT)
    with (folder / "lab.yml").open("a") as file:
        file.write("  tcp: {duration_s: 60}\n")
    run = subprocess.Popen(
        [*WEIR, "run", str(folder), "--store", str(tmp_path / "store.db")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (found := list(run_root.glob("tiny-*/goodput/*.1.json"))):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    deployment = found[0].parents[1].name
    marker = f"{deployment}/goodput"
    assert markers.marked(marker)
    run.kill()
    run.wait()
    assert clean_leftovers() == [deployment]
    assert markers.marked(marker) == []
    token = deployment.rpartition("-")[2]
    assert not [path.name for path in namespace.DIRECTORY.iterdir() if token in path.name]


@pytest.mark.long
def test_one_that_cannot_be_measured_says_why_before_anything_is_built(
    tmp_path: Path, run_root: Path
) -> None:
    folder = lab(tmp_path, "gre", "none", 1, LIGHT)
    with (folder / "lab.yml").open("a") as file:
        file.write("cores: {system: [1023]}\n")
    done = subprocess.run([*WEIR, "run", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("weir: this machine gives no CPU 1023")
    chosen = subprocess.run(
        [*WEIR, "run", str(folder), "--chain", "PVP"], capture_output=True, text=True, check=False
    )
    assert (chosen.returncode, "--chain is for chains" in chosen.stderr) == (2, True)
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.parametrize("security", ["bridge-filter", "ovs-conntrack"])
def test_under_load_no_tenants_packet_reaches_another_and_what_is_spoofed_is_dropped_and_counted(
    security: str, tmp_path: Path, run_root: Path
) -> None:
    """Between two trials that lose nothing, and while a third one runs."""
    tenants = load_tenants(lab(tmp_path, "vxlan", security, 1, LIGHT))
    cpus = sorted(os.sched_getaffinity(0))
    topology = measured_topology(tenants, deployment_id(tenants.name, secrets.token_hex(4)), cpus)
    with stop_signals.held(), standing_cloud(topology, tenant_streams(topology, tenants, "64", 2)) as on:
        cloud = StandingCloud(on.topology, on.deployment)
        tester = DataPlaneTester(on.client, on.topology.outside_cores())
        tester.configure_traffic(tenant_streams(topology, tenants, "64", 2))
        spoofing = cloud.instance("through.1")
        datagram = udp("10.0.0.99", topology.outside, (5000, DISCARD_PORT), b"from another")
        forged = ethernet(topology.tenant_networks[1].functions[0].mac, spoofing.mac, 0x0800, datagram)
        before = cloud.dropped("through.1", "spoofed_ip")
        with (
            ThreadPoolExecutor(1) as beside,
            cloud.wire("plain.2") as plain,
            cloud.wire("through.dpi") as dpi,
        ):
            run = beside.submit(tester.run, {0: 500.0, 1: 500.0}, 1.5, 1.0)
            with cloud.wire("through.1") as own:
                for _ in range(SPOOFED):
                    own.send(forged)
                    time.sleep(0.01)
            counted = run.result()
            seen, through = frames(plain), frames(dpi)
        assert [one.delivered for one in counted.streams] == [one.offered for one in counted.streams]
        assert all(one.offered > SPOOFED for one in counted.streams)
        cloud.dropped_becomes("through.1", "spoofed_ip", before + SPOOFED)
        assert not [one for one in seen if TENANTS_PORT in one]
        source = socket.inet_aton(spoofing.address)
        assert {one[26:30] for one in through if one[36:38] == TENANTS_PORT} == {source}
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.slow
def test_what_a_functions_commands_drop_is_counted_at_its_own_queue_and_a_bad_command_is_named(
    tmp_path: Path, run_root: Path
) -> None:
    """A tenant that is shaped to 20 packets of 64 bytes a second or so, beside one that is not."""
    folder = lab(tmp_path, "gre", "none", 1, 500)
    shape = "tc qdisc add dev eth0 root tbf rate 10kbit burst 1600 limit 3000"
    shaped = f"functions: [{{name: dpi, commands: [{shape}]}}]"
    text = (folder / "lab.yml").read_text().replace("functions: [{name: dpi}]", shaped)
    (folder / "lab.yml").write_text(text)
    result = measured(folder)
    ((_, case),) = result.cases()
    (trial,) = case.curve
    accounted(trial)
    plain, through = Tenants.model_validate(case.records["tenants"]).points[0].shares
    assert plain.loss_ratio == 0 < through.loss_ratio
    (lost,) = trial.drops
    assert (lost.place, lost.reason) == ("through.dpi:eth0", "queue_full")
    (folder / "lab.yml").write_text(text.replace("tc qdisc", "tc qdiscipline"))
    refused = subprocess.run([*WEIR, "run", str(folder)], capture_output=True, text=True, check=False)
    assert refused.returncode == 3, refused.stderr
    assert "command 1 of through.dpi, `tc qdiscipline add" in refused.stderr
    assert list(run_root.glob("*.journal")) == []
