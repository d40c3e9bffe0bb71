# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab with tenants to which the host outside sends, alone or while they send, too: every
packet of every tenant is accounted for, in each direction."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.weir_command import WEIR
from weir.base.cloud import OUTSIDE
from weir.base.error import FabricError
from weir.fabric import stop_signals
from weir.lab.measure import TrialOptions
from weir.lab.tenants_load import load_tenants
from weir.lab.tenants_measure import DISCARD_PORT
from weir.measure import Traffic
from weir.measure.tester import Stream
from weir.measure.trial import TrialRunner
from weir.plan import deployment_id
from weir.plan.cloud import measured_topology
from weir.plan.cloud.tester import FIRST_PORT, direction_of, tenant_streams
from weir.procedures.tenants.standing_cloud import RunningCloud, standing_cloud
from weir.protocol import DataPlaneTester
from weir.protocol.traffic import TrafficConfigure
from weir.results.case import TCP
from weir.results.result import Trial
from weir.results.tenants import Tenants, TenantsTcp

from .clouds import StandingCloud, frames, mac
from .test_measured_cloud import FAR_TOO_MUCH, LIGHT, accounted, measured, pytestmark

__all__ = ["pytestmark"]

LAB = """weir: 1
name: reached
cloud: {{{cloud}}}
tenants:
  - {{name: plain, instances: 2, floating: 1, shared: false, ingress: [{{protocol: udp, ports: [9, 9]}}]}}
  - name: through
    floating: 1
    functions: [{{name: dpi}}]
    ingress: [{{protocol: any, source: 198.18.0.1/32}}]
traffic: {{frames: 64, flows: 4}}
tester: {{direction: {direction}}}
measure:
  sending: [2]
  loads: [200pps, {much}]
  duration_s: 0.3
  repeats: 1
  goals: []
  trial: {{retries: 6}}
"""
WAYS = {
    "right-to-left": ("right-to-left",),
    "bidirectional": ("left-to-right", "right-to-left"),
}
ONE_LONG = [pytest.param("right-to-left", marks=pytest.mark.slow), "bidirectional"]
BOTH_WAYS = Path(__file__).parents[2] / "labs" / "tenants-both-ways"
IN_ALL = 2 * FAR_TOO_MUCH
"""Packets a second that the tester sends, in whichever directions."""


def lab(folder: Path, direction: str, cloud: str) -> Path:
    much = IN_ALL // (2 * len(WAYS[direction]))
    (folder / "lab.yml").write_text(LAB.format(direction=direction, cloud=cloud, much=much))
    return folder


CLOUDS = [
    ("right-to-left", "isolation: gre, security: bridge-filter"),
    ("right-to-left", "isolation: vxlan, security: ovs-conntrack, compute_nodes: 2"),
    ("right-to-left", "isolation: vxlan, functions: [{name: dpi}, {name: fw}]"),
    ("right-to-left", "isolation: gre, router: weir"),
    ("bidirectional", "isolation: gre, security: bridge-filter"),
    ("bidirectional", "isolation: vlan, security: ovs-conntrack, compute_nodes: 2"),
    ("bidirectional", "isolation: vxlan, functions: [{name: dpi}, {name: fw}]"),
    ("bidirectional", "isolation: gre, router: weir"),
]


@contextmanager
def standing_lab(folder: Path, direction: str, cloud: str) -> Iterator[tuple[RunningCloud, TrafficConfigure]]:
    """With what both tenants' streams are."""
    tenants = load_tenants(lab(folder, direction, cloud))
    cpus = sorted(os.sched_getaffinity(0))
    topology = measured_topology(tenants, deployment_id(tenants.name, secrets.token_hex(4)), cpus)
    config = tenant_streams(topology, tenants, "64", 2)
    with stop_signals.held(), standing_cloud(topology, config) as on:
        yield on, config


@pytest.mark.long
@pytest.mark.parametrize(("direction", "cloud"), CLOUDS)
def test_in_each_direction_what_is_sent_arrives_or_is_lost_at_a_device_that_says_so(
    direction: str, cloud: str, tmp_path: Path, run_root: Path
) -> None:
    """Whoever else has the cores meanwhile."""
    with standing_lab(tmp_path, direction, cloud) as (on, config):
        ends = tuple(Stream(one.id, direction_of(one), one.port, one.to or "") for one in config.streams)
        assert [one.direction for one in ends] == 2 * list(WAYS[direction])
        trials: list[Trial] = []
        runner = TrialRunner(
            DataPlaneTester(on.client, on.topology.outside_cores()),
            on.cloud.counters,
            Traffic("64", 64, config, ends),
            options=TrialOptions(drain_ms=1000),
            on_trial=trials.append,
        )
        runner.run("curve", LIGHT * len(ends), 0.5)
        runner.run("curve", IN_ALL, 0.3)
    light, much = trials
    for trial in trials:
        assert trial.unaccounted == trial.duplicates == 0
        assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops)
        assert trial.offered == sum(one.offered for one in trial.streams)
        assert trial.delivered == sum(one.delivered for one in trial.streams)
    assert all(one.delivered == one.offered > 0 for one in light.streams)
    assert all(one.delivered < one.offered for one in much.streams)
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.parametrize("direction", ONE_LONG)
def test_the_command_has_shares_of_each_tenant_in_each_direction(
    direction: str, tmp_path: Path, run_root: Path
) -> None:
    ((_, case),) = measured(lab(tmp_path, direction, "isolation: gre")).cases()
    light, much = case.curve
    accounted(light)
    assert light.delivered == light.offered
    accounted(much)
    assert much.delivered < much.offered / 2
    record = Tenants.model_validate(case.records["tenants"])
    wanted = [(tenant, way) for tenant in ("plain", "through") for way in WAYS[direction]]
    assert record.directions == list(WAYS[direction])
    for trial, point in zip((light, much), record.points, strict=True):
        assert [(one.tenant, one.direction) for one in point.shares] == wanted
        assert [one.direction for one in trial.streams] == [way for _, way in wanted]
        assert sum(one.packets for one in point.drops) == trial.offered - trial.delivered
    for one in record.points[0].shares:
        assert one.delivered_pps == one.offered_pps == pytest.approx(LIGHT, rel=0.1)
    assert all(one.loss_ratio > 0.2 for one in record.points[1].shares)
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.parametrize("security", ["bridge-filter", "ovs-conntrack"])
def test_what_arrives_at_a_host_is_the_outsides_at_its_own_address_and_is_discarded_once_it_was_counted(
    security: str, tmp_path: Path, run_root: Path
) -> None:
    with standing_lab(tmp_path, "right-to-left", f"security: {security}") as (on, config):
        topology, cloud = on.topology, StandingCloud(on.topology, on.deployment)
        tester = DataPlaneTester(on.client, on.topology.outside_cores())
        tester.configure_traffic(config)
        with (
            cloud.wire("plain.1") as plain,
            cloud.wire("plain.2") as other,
            cloud.wire("through.1") as through,
        ):
            counted = tester.run({0: 100.0, 1: 50.0}, 1.0, 1.0)
            arrived = {"plain.1": frames(plain), "through.1": frames(through)}
            elsewhere = frames(other)
        # On a busy machine fewer than asked for are sent.
        assert all(one.delivered == one.offered > 0 for one in counted.streams)
        delivered = {"plain.1": counted.streams[0].delivered, "through.1": counted.streams[1].delivered}
        for name, seen in arrived.items():
            own = cloud.instance(name)
            ends = socket.inet_aton(topology.outside) + socket.inet_aton(own.address)
            sent = [one for one in seen if one[26:34] == ends]
            assert len(sent) == len(seen) == delivered[name]  # nobody answers, and nobody asks
            assert {one[:6] for one in sent} == {mac(own.mac)}
            ports = {(int.from_bytes(one[34:36]), int.from_bytes(one[36:38])) for one in sent}
            assert ports <= {(FIRST_PORT + flow, DISCARD_PORT) for flow in range(4)}
            # Its stack has seen none of them.
            head, values = (line.split() for line in udp_lines(cloud, name))
            assert int(values[head.index("NoPorts")]) == 0
        assert elsewhere == []
    assert list(run_root.glob("*.journal")) == []


def udp_lines(cloud: StandingCloud, host: str) -> list[str]:
    """Names and values of its UDP counters."""
    shown = cloud.run(host, "cat", "/proc/thread-self/net/snmp").stdout
    return [line for line in shown.splitlines() if line.startswith("Udp:")]


@pytest.mark.usefixtures("run_root")
def test_a_lab_in_which_nothing_from_outside_can_arrive_is_refused_by_validate_and_by_run(
    tmp_path: Path,
) -> None:
    folder = lab(tmp_path, "right-to-left", "isolation: gre")
    text = (folder / "lab.yml").read_text()
    (folder / "lab.yml").write_text(text.replace("instances: 2, floating: 1", "instances: 2"))
    for command in ("validate", "run"):
        refused = subprocess.run([*WEIR, command, str(folder)], capture_output=True, text=True, check=False)
        assert refused.returncode == 2, refused.stderr
        assert "tenants[0].floating: is 0, and tester.direction is right-to-left" in refused.stderr
    (folder / "lab.yml").write_text(text)
    good = subprocess.run([*WEIR, "validate", str(folder)], capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stderr
    assert "IPv4, UDP, from the host outside to floating addresses" in good.stdout


@pytest.mark.long
def test_where_a_group_lets_nothing_in_the_sender_outside_and_the_filter_are_named(
    tmp_path: Path, run_root: Path
) -> None:
    """As by a rule that is changed while the cloud is built: the file's check is past."""
    tenants = load_tenants(lab(tmp_path, "right-to-left", "security: bridge-filter"))
    plain = tenants.tenants[0].model_copy(update={"ingress": ()})
    tenants = tenants.model_copy(update={"tenants": (plain, *tenants.tenants[1:])})
    cpus = sorted(os.sched_getaffinity(0))
    topology = measured_topology(tenants, deployment_id(tenants.name, secrets.token_hex(4)), cpus)
    lost = r"lost were \d+ at filter of plain\.1 \(security_group\)"
    with (
        stop_signals.held(),
        pytest.raises(FabricError, match=rf"nothing that {OUTSIDE} sends arrives at plain\.1; {lost}"),
        standing_cloud(topology, tenant_streams(topology, tenants, "64", 2)),
    ):
        pass
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
@pytest.mark.parametrize("direction", ONE_LONG)
def test_tcp_carries_payload_in_the_same_directions(direction: str, tmp_path: Path, run_root: Path) -> None:
    folder = lab(tmp_path, direction, "isolation: gre, security: bridge-filter")
    text = (folder / "lab.yml").read_text()
    loads = next(line for line in text.splitlines() if "loads:" in line)
    (folder / "lab.yml").write_text(text.replace(loads, "  loads: [200pps]") + "  tcp: {duration_s: 1}\n")
    _, over_tcp = (case for _, case in measured(folder).cases())
    record = TenantsTcp.model_validate(over_tcp.records["tenants_tcp"])
    wanted = [(tenant, way) for tenant in ("plain", "through") for way in WAYS[direction]]
    assert [(one.tenant, one.direction) for one in record.shares] == wanted
    for one in record.shares:
        assert one.goodput_bps is not None, one.why
        assert one.goodput_bps > 0
    assert record.runs_bps == [[one.goodput_bps for one in record.shares]]
    assert list(run_root.glob("*.journal")) == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_the_lab_of_both_ways_balances_each_trial_and_has_each_tenant_in_each_direction(
    tmp_path: Path, run_root: Path
) -> None:
    """As it is in labs/. What is too disturbed to be used, on a busy machine, balances, too."""
    shutil.copy(BOTH_WAYS / "lab.yml", tmp_path)
    cases = [case for _, case in measured(tmp_path, "--quick", within_s=600).cases()]
    ways = WAYS["bidirectional"]
    for sending, case in zip((1, 2), (one for one in cases if one.frame == "64"), strict=True):
        record = Tenants.model_validate(case.records["tenants"])
        wanted = [(f"customer-{number}", way) for number in range(1, sending + 1) for way in ways]
        assert record.directions == list(ways)
        assert len(case.curve) >= len(record.points) == 3
        for trial in case.curve:
            assert trial.unaccounted == trial.duplicates == 0
            assert trial.offered == trial.delivered + sum(drop.packets for drop in trial.drops) > 0
            assert len(trial.streams) == len(wanted)
        for point in record.points:
            assert [(one.tenant, one.direction) for one in point.shares] in (wanted, [])
            assert point.shares or point.why
    for sending, case in zip((1, 2), (one for one in cases if one.frame == TCP), strict=True):
        over_tcp = TenantsTcp.model_validate(case.records["tenants_tcp"])
        assert len(over_tcp.shares) == 2 * sending
        assert all(one.goodput_bps for one in over_tcp.shares), over_tcp
    assert list(run_root.glob("*.journal")) == []
