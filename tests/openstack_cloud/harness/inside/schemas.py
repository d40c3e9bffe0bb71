# SPDX-License-Identifier: Apache-2.0
"""The tables of its services, as many at a time as this host has cores."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .. import place

_IDENTITY = f"http://{place.HOST}:5000/v3/"
_NEUTRON = [
    "--config-file",
    "/etc/neutron/neutron.conf",
    "--config-file",
    "/etc/neutron/plugins/ml2/ml2_conf.ini",
]
_KEYSTONE = ["--keystone-user", "keystone", "--keystone-group", "keystone"]


def make() -> None:
    """CalledProcessError with the lane's log beside it."""
    cell0 = f"mysql+pymysql://os:{place.password()}@127.0.0.1/nova_cell0?charset=utf8"
    lanes: dict[str, list[list[str]]] = {
        "nova": [
            ["nova-manage", "api_db", "sync"],
            ["nova-manage", "cell_v2", "map_cell0", "--database_connection", cell0],
            ["nova-manage", "cell_v2", "create_cell", "--name=cell1"],
            ["nova-manage", "db", "sync"],
        ],
        "neutron": [["neutron-db-manage", *_NEUTRON, "upgrade", "head"]],
        "keystone": [
            ["keystone-manage", "db_sync"],
            ["keystone-manage", "fernet_setup", *_KEYSTONE],
            ["keystone-manage", "credential_setup", *_KEYSTONE],
            _bootstrap(),
            ["placement-manage", "db", "sync"],
            ["glance-manage", "db_sync"],
            ["cinder-manage", "db", "sync"],
            ["heat-manage", "db_sync"],
        ],
    }
    for name in ("fernet-keys", "credential-keys"):
        path = Path("/etc/keystone") / name
        path.mkdir(exist_ok=True)
        path.chmod(0o700)
        shutil.chown(path, "keystone", "keystone")
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda lane: _run(*lane), lanes.items()))


def _bootstrap() -> list[str]:
    urls = [f"--bootstrap-{kind}-url={_IDENTITY}" for kind in ("admin", "internal", "public")]
    return ["keystone-manage", "bootstrap", "--bootstrap-region-id", "RegionOne", *urls]


def _run(name: str, commands: list[list[str]]) -> None:
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OS_BOOTSTRAP_PASSWORD": place.password()}
    with (place.LOGS / f"schema-{name}.log").open("w") as log:
        for argv in commands:
            subprocess.run(
                argv, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
