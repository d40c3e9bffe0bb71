# SPDX-License-Identifier: Apache-2.0
"""Virtual machines in clouds: leases as the DHCP server notes them, refused commands, who holds a tap."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import cast

import pytest

from weir.base.cloud import Instance
from weir.base.error import FabricError
from weir.fabric.cloud import check as cloud_check
from weir.fabric.cloud import counters as cloud_counters
from weir.fabric.cloud.counters import CloudCounters
from weir.fabric.cloud.guest import NoCommandError, run_in_guest
from weir.fabric.cloud.guest_leases import leased
from weir.fabric.cloud.watch import SwitchPorts
from weir.fabric.deployment import Deployment
from weir.fabric.host_graph.holders import Holder
from weir.fabric.vm import image
from weir.lab.tenants import TenantsFile
from weir.plan.cloud import cloud_steps, cloud_topology

NOBODY = cast(Deployment, None)


def machine(**vm: object) -> Instance:
    tenant = {"name": "blue", "floating": 1, "vm": vm}
    tenants = TenantsFile.model_validate({"weir": 1, "name": "cloud", "tenants": [tenant]})
    return cloud_topology(tenants, "cloud-12345678").instance("blue.1")[1]


def test_a_lease_is_known_by_its_mac_and_ip_address(tmp_path: Path) -> None:
    path = tmp_path / "dhcp-blue.leases"
    assert leased(path) == set()
    path.write_text(
        "0 02:57:12:00:01:02 10.0.0.4 blue-2 01:02:57:12:00:01:02\n0 02:57:12:00:01:01 10.0.0.3 * *\n"
    )
    assert leased(path) == {"02:57:12:00:01:02 10.0.0.4", "02:57:12:00:01:01 10.0.0.3"}


def test_an_image_of_the_users_runs_no_commands_and_it_is_said_who_does() -> None:
    with pytest.raises(NoCommandError, match=r"image of yours, .*; log in .* by SSH at 198\.18\.0\.3$"):
        run_in_guest(NOBODY, machine(image="/x.qcow2"), ["ip", "address"])


def test_a_guest_has_no_terminal() -> None:
    with pytest.raises(NoCommandError, match=r"no terminal here; name a command: blue\.1 -- ip address"):
        run_in_guest(NOBODY, machine(), [])


def test_a_guest_image_of_an_earlier_weir_is_no_instance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = tmp_path / "weir/images/kernel"
    made.mkdir(parents=True)
    (made / "image.json").write_text(json.dumps({"kernel": "linux-image 6.1"}))
    assert image.of_role("kernel") is not None
    with pytest.raises(FabricError, match="of an earlier Weir, and cannot be an instance"):
        image.of_role("host")
    (made / "image.json").write_text(json.dumps({"roles": "kernel, host"}))
    assert image.of_role("host") is not None
    assert image.of_role("") is None


def test_what_a_machine_sends_into_a_switch_is_counted_at_its_tap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = {"security": "ovs-conntrack"}
    tenants = TenantsFile.model_validate(
        {"weir": 1, "name": "cloud", "cloud": cloud, "tenants": [{"name": "blue", "vm": {}}]}
    )
    topology = cloud_topology(tenants, "cloud-12345678")
    counters = CloudCounters(topology, cloud_steps(topology), tmp_path)
    statistics = {"tap1.1": {"rx_packets": 7}, "eth1": {"rx_packets": 5}, "br-int": {"rx_packets": 3}}
    monkeypatch.setattr(cloud_counters, "interfaces_of", lambda _netns: statistics)
    found = counters.ports(topology.node("compute1"))
    assert found == SwitchPorts(("compute1:tap of blue.1", "compute1:eth1"), 12)


@pytest.mark.parametrize("name", ["blue.2", "guest=blue.2,debug-threads=on"])
@pytest.mark.parametrize(("program", "said"), [("/usr/bin/qemu-system-x86_64", "sh blue.2"), ("sh", "sh")])
def test_who_holds_a_tap_is_named_by_its_virtual_machine(program: str, said: str, name: str) -> None:
    words = [program, "-c", "echo; read _", "-name", name]
    with subprocess.Popen(
        words, executable="/bin/sh", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has become the shell
        assert str(Holder(process.pid, "tap1.2")) == f"{said} ({process.pid})"
        process.communicate(b"\n")


def test_machines_with_more_memory_than_there_is_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = {"name": "blue", "instances": 3, "vm": {"memory_mb": 1 << 20}}
    tenants = TenantsFile.model_validate(
        {"weir": 1, "name": "cloud", "cloud": {"security": "none"}, "tenants": [tenant]}
    )
    monkeypatch.setattr(cloud_check, "require_root", lambda: None)
    monkeypatch.setattr(cloud_check, "check", lambda _technology: None)
    topology = cloud_topology(tenants, "cloud-12345678")
    with pytest.raises(FabricError, match=r"have 3145728 MiB .* has \d+ MiB to give; lower vm\.memory_mb"):
        cloud_check.require_cloud((), topology)
