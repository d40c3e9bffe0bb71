# SPDX-License-Identifier: Apache-2.0
"""Files of its own, where its programs expect this host's: /etc, /run, /tmp, /var/log and what they keep in
/var/lib are copies, or empty, and go with its directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from .. import place

_FILES = place.STATE / "files"
_KEPT = (
    "keystone",
    "glance",
    "placement",
    "nova",
    "neutron",
    "cinder",
    "heat",
    "libvirt",
    "mysql",
    "rabbitmq",
)
_OWNERS = ("keystone", "glance", "placement", "nova", "neutron", "cinder", "heat")


def own_files() -> None:
    """CalledProcessError."""
    _FILES.mkdir()
    _bind(_copied(Path("/etc")), "/etc")
    for name in _KEPT:
        there = Path("/var/lib") / name
        if there.is_dir():
            _bind(_copied(there), str(there))
    for name, mode in (("log", 0o755), ("tmp", 0o1777)):
        own = _FILES / name
        own.mkdir()
        own.chmod(mode)
        _bind(own, f"/var/{name}" if name == "log" else f"/{name}")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    subprocess.run(
        ["mount", "-t", "sysfs", "sysfs", "/sys"], check=True
    )  # which has its links, not this host's
    for name in ("netns", "lock", "dbus", "mysqld", "libvirt", "sudo", "uwsgi"):
        Path("/run", name).mkdir(mode=0o755)
    shutil.chown("/run/mysqld", "mysql")
    shutil.chown("/run/dbus", "messagebus")
    for name in _OWNERS:
        Path("/var/log", name).mkdir()
    for name in ("mysql", "rabbitmq"):
        Path("/var/log", name).mkdir()
        shutil.chown(f"/var/log/{name}", name, name)
    for inside in (
        "glance/images", "glance/staging", "glance/tasks", "nova/tmp", "nova/instances", "neutron/tmp",
        "cinder/tmp", "cinder/conversion", "cinder/mnt", "cinder/share",
    ):  # fmt: skip
        Path("/var/lib", inside).mkdir(parents=True, exist_ok=True)
    os.umask(0o022)


def _copied(there: Path) -> Path:
    own = _FILES / str(there).strip("/").replace("/", "-")
    subprocess.run(["cp", "--archive", str(there), str(own)], check=True)
    return own


def _bind(own: Path, there: str) -> None:
    subprocess.run(["mount", "--bind", str(own), there], check=True)
