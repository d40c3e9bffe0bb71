# SPDX-License-Identifier: Apache-2.0
"""What its services stand on: a database, a queue, a cache, and the bus that libvirt asks for."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence

from .. import place
from .services import begin

DATABASES = ("keystone", "glance", "placement", "nova_api", "nova", "nova_cell0", "neutron", "cinder", "heat")
_START_S = 120.0


def start() -> None:
    """TimeoutError names what does not answer."""
    begin("mariadbd", ["mariadbd", "--user=mysql"])
    begin("memcached", ["memcached", "-u", "memcache", "-l", "127.0.0.1", "-m", "64"])
    begin("rabbitmq", ["rabbitmq-server"])
    begin("dbus", ["dbus-daemon", "--system", "--nofork"])
    until("mariadbd", lambda: _says(["mariadb-admin", "ping"]))
    users = [f"'os'@'{host}'" for host in ("127.0.0.1", "localhost")]
    words = [f"create database {name};" for name in DATABASES]
    words += [
        f"create user {user} identified by '{place.password()}'; grant all on *.* to {user};"
        for user in users
    ]
    subprocess.run(["mariadb"], input=" ".join(words), text=True, check=True)
    until("rabbitmq", lambda: _says(["rabbitmqctl", "-q", "await_startup"]))


def until(what: str, holds: Callable[[], bool], within_s: float = _START_S) -> None:
    """Looks each half a second."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} does not answer")
        time.sleep(0.5)


def _says(argv: Sequence[str]) -> bool:
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
