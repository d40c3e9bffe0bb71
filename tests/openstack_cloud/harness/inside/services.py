# SPDX-License-Identifier: Apache-2.0
"""Its services: how each is started, and when it answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from .. import place

RUNNING: dict[int, str] = {}
"""By process."""
_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PYTHONWARNINGS": "ignore",
}
_START_S = 180.0
_NEUTRON = ["--config-file", "/etc/neutron/neutron.conf"]
# One connection a request: uwsgi closes kept ones without a word, and clients take that for a fault.
_UWSGI = (
    "uwsgi", "--master", "--lazy-apps", "--enable-threads", "--die-on-term", "--buffer-size", "65535",
    "--thunder-lock", "--plugin", "python3", "--add-header", "Connection:close",
)  # fmt: skip
PORTS = {
    "keystone": 5000, "placement": 8778, "glance": 9292, "neutron": 9696, "nova": 8774, "metadata": 8775,
    "cinder": 8776, "heat": 8004,
}  # fmt: skip


def begin(name: str, argv: Sequence[str]) -> int:
    """Its output goes into a file of its name."""
    log = (place.LOGS / f"{name}.log").open("w")
    run = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        env=_ENVIRONMENT,
        cwd="/",
    )
    RUNNING[run.pid] = name
    return run.pid


def start_identity() -> None:
    """Keystone and Placement."""
    begin("keystone", _wsgi("keystone-wsgi-public", 5000, processes=2))
    begin("placement", _wsgi("placement-api", 8778))
    wait_for_port("keystone", 5000)


def start_rest() -> None:
    """All others, side by side."""
    begin("libvirtd", ["libvirtd"])
    begin("virtlogd", ["virtlogd"])
    begin("glance", ["glance-api"])
    plugin = ["--config-file", "/etc/neutron/plugins/ml2/ml2_conf.ini"]
    begin("neutron", ["neutron-server", *_NEUTRON, *plugin])
    for name in ("nova-conductor", "nova-scheduler", "nova-api"):
        begin(name, [name])
    begin("cinder", _wsgi("cinder-wsgi", PORTS["cinder"]))
    begin("heat", _wsgi("heat-wsgi-api", PORTS["heat"]))
    for name in ("cinder-scheduler", "cinder-volume", "heat-engine"):
        begin(name, [name])
    for name, port in PORTS.items():
        wait_for_port(name, port)
    agents = {
        "linuxbridge-agent": "plugins/ml2/linuxbridge_agent.ini",
        "dhcp-agent": "dhcp_agent.ini",
        "l3-agent": "l3_agent.ini",
        "metadata-agent": "metadata_agent.ini",
    }
    for name, file in agents.items():
        begin(name, [f"neutron-{name}", *_NEUTRON, "--config-file", f"/etc/neutron/{file}"])
    begin("nova-compute", ["nova-compute", "--config-file", "/etc/nova/nova.conf"])


def _wsgi(program: str, port: int, processes: int = 1) -> list[str]:
    file = shutil.which(program)
    assert file is not None, program
    return [*_UWSGI, "--http-socket", f"0.0.0.0:{port}", "--processes", str(processes), "--threads", "4",
            "--wsgi-file", file]  # fmt: skip


def wait_for_port(name: str, port: int) -> None:
    """Until something answers there by HTTP, whatever it says. TimeoutError with its log's end."""
    deadline = time.monotonic() + _START_S
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20)
        except urllib.error.HTTPError:
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} at port {port}: {error}") from error
            time.sleep(0.5)
        else:
            return


def wait_for_agents() -> None:
    """Until Neutron has four that are alive, and Nova a compute host that is up."""
    import openstack

    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    cloud = openstack.connect(cloud=place.CLOUD)
    deadline = time.monotonic() + _START_S
    while True:
        agents = sum(one.is_alive for one in cloud.network.agents())
        hosts = sum(one.state == "up" for one in cloud.compute.hypervisors(details=True))
        if agents >= 4 and hosts:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"{agents} agents of 4 are alive, {hosts} compute hosts are up")
        subprocess.run(
            ["nova-manage", "cell_v2", "discover_hosts"], capture_output=True, check=False, env=_ENVIRONMENT
        )
        time.sleep(1)


def log_of(name: str) -> Path:
    """What it said."""
    return place.LOGS / f"{name}.log"
