# SPDX-License-Identifier: Apache-2.0
"""Systems in a cloud's instances: who has the key can log in from outside and nobody else, the script of the
start runs, and from inside nothing of the host can be seen, mounted or changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weir.base.cloud import OUTSIDE
from weir.fabric import markers, namespace
from weir.fabric.cloud.system.run import console
from weir.fabric.cloud.system.ssh import words
from weir.fabric.cloud.system.tree import lacking

from .clouds import NEEDS_CLOUDS, StandingCloud, standing

pytestmark = [
    *NEEDS_CLOUDS,
    pytest.mark.long,
    pytest.mark.skipif(lacking() is not None, reason=f"no system for instances: {lacking()}"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="openssh-client is not installed"),
]

SCRIPT = "#!/bin/sh\nprintf '%s sees %s\\n' $(hostname) \"$(grep -c . /etc/hosts)\"\nexit 3\n"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    (folder / "script").write_text(SCRIPT)
    return folder


@pytest.fixture(scope="module")
def cloud(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandingCloud]:
    system = {"ssh_keys": str(keys / "own.pub"), "user_data": str(keys / "script"), "memory_limit_mb": 64}
    ingress = [{"protocol": "tcp", "ports": [22, 22]}]
    tenant = {"name": "blue", "instances": 2, "floating": 2, "system": system, "ingress": ingress}
    text = json.dumps({"weir": 1, "name": "cloud", "tenants": [tenant]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEIR_PLANTED", "a secret of whoever runs weir")
        with standing(text, run_dir=tmp_path_factory.mktemp("run")) as made:
            yield made


def ssh(
    cloud: StandingCloud, key: Path, command: str, host: str = "blue.1"
) -> subprocess.CompletedProcess[str]:
    to = cloud.instance(host).floating
    assert to is not None
    with namespace.inside(cloud.topology.namespace(OUTSIDE)):
        return subprocess.run(
            words(to, command, key), capture_output=True, text=True, timeout=40, check=False
        )


def said(cloud: StandingCloud, keys: Path, command: str) -> str:
    done = ssh(cloud, keys / "own", command)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_who_has_the_key_runs_commands_from_outside_and_gets_their_exit_code(
    cloud: StandingCloud, keys: Path
) -> None:
    assert said(cloud, keys, "hostname; id -u") == "blue-1\n0\n"
    assert ssh(cloud, keys / "own", "exit 7").returncode == 7
    other = ssh(cloud, keys / "other", "hostname")
    assert (other.returncode, other.stdout) == (255, "")


def test_the_script_of_the_start_ran_in_each_and_its_exit_code_is_on_the_console(
    cloud: StandingCloud,
) -> None:
    for host, name in (("blue.1", "blue-1"), ("blue.2", "blue-2")):
        path = console(cloud.deployment.run_dir, host)
        deadline = time.monotonic() + 10
        while "user data ended" not in path.read_text():
            assert time.monotonic() < deadline, path.read_text()
            time.sleep(0.05)
        text = path.read_text()
        assert f"weir: system of {name} is up" in text
        assert f"{name} sees " in text
        assert "weir: user data ended with exit code 3" in text


def test_instances_of_a_tenant_know_each_other_by_name(cloud: StandingCloud, keys: Path) -> None:
    assert "1 packets received" in said(cloud, keys, "ping -c 1 -W 2 blue.2")


def test_nothing_of_the_host_is_seen_from_inside(cloud: StandingCloud, keys: Path) -> None:
    shown = said(cloud, keys, "ls /; ps -o comm; cat /proc/mounts; ls /dev")
    assert "ovs-vswitchd" not in shown
    assert "weir" not in shown.replace("weir-", "")
    assert "home" not in shown.split()
    assert said(cloud, keys, "ls /run").split() == ["dropbear.pid", "host_key", "user-data"]
    mounted = [line.split()[1] for line in said(cloud, keys, "cat /proc/mounts").splitlines()]
    assert not [place for place in mounted if place.startswith("/run/")]
    assert "WEIR_PLANTED" not in said(cloud, keys, "tr '\\0' ' ' </proc/1/environ")
    processes = said(cloud, keys, "ls -d /proc/[0-9]*").split()
    assert 1 < len(processes) < 12


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs tmpfs /tmp",
        "mount -t proc proc /tmp",
        "mknod /tmp/sda b 8 0",
        "echo 1 > /bin/new",
        "echo 0 > /proc/sys/kernel/panic",
        "insmod /bin/busybox",
        "reboot -f",
    ],
)
def test_root_inside_cannot(cloud: StandingCloud, keys: Path, command: str) -> None:
    done = ssh(cloud, keys / "own", command)
    assert done.returncode not in (0, 255), done.stdout
    assert said(cloud, keys, "echo still here") == "still here\n"


@pytest.mark.long
def test_it_goes_with_its_cloud_whatever_runs_in_it(keys: Path, tmp_path: Path) -> None:
    system = {"ssh_keys": str(keys / "own.pub")}
    ingress = [{"protocol": "tcp", "ports": [22, 22]}]
    tenant = {"name": "blue", "floating": 1, "system": system, "ingress": ingress}
    text = json.dumps({"weir": 1, "name": "cloud", "tenants": [tenant]})
    with standing(text, run_dir=tmp_path) as cloud:
        done = ssh(cloud, keys / "own", "nohup sleep 4321 >/dev/null 2>&1 &")
        assert done.returncode == 0, done.stderr
        netns = cloud.topology.namespace("blue.1")
        assert len(markers.inside(netns)) > 2
    assert netns not in [path.name for path in namespace.DIRECTORY.iterdir()]
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 4321" not in found
