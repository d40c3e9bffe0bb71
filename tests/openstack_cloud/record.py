# SPDX-License-Identifier: Apache-2.0
"""Records what a real cloud answers, for tests that replay it, while the harness stands:
`python -m tests.openstack_cloud.record NAME ...`. Names: those of SCENARIOS, "absent",
"swept" and "unswept"; none: all.

Identifiers of stacks are counted, so that a replay asks for the same names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

from tests.unit.verify.openstack import exchange, scenario
from tests.unit.verify.openstack.exchange import Exchange
from weir.base.error import WeirError
from weir.fabric import attended
from weir.verify.driver import ScenarioWanted
from weir.verify.drivers.openstack import OpenStackDriver, kinds, sweep
from weir.verify.drivers.openstack.connection import Cloud, Deadline
from weir.verify.drivers.openstack.journal import Made

from .harness import place
from .harness.inside.services import PORTS

_TYPES = {
    "keystone": "identity", "glance": "image", "neutron": "network", "nova": "compute",
    "cinder": "volumev3", "heat": "orchestration",
}  # fmt: skip
ROUTERS = "NeutronNetworks.create_and_delete_routers"
BASES = [
    (f"http://{place.HOST}:{port}", f"{exchange.CLOUD}/{_TYPES.get(name, name)}")
    for name, port in PORTS.items()
]


@contextmanager
def recording() -> Iterator[list[Exchange]]:
    """All that this process asks by HTTP, in the body."""
    found: list[Exchange] = []
    send = HTTPAdapter.send

    def kept(self: HTTPAdapter, request: PreparedRequest, **how: Any) -> Response:
        said = send(self, request, **how)
        url = exchange.rebased(request.url, BASES)
        sent = exchange.body(request.body) if isinstance(request.body, bytes | str) else None
        headers = {name: said.headers[name] for name in exchange.HEADERS if name in said.headers}
        if "X-Subject-Token" in headers:
            headers["X-Subject-Token"] = exchange.TOKEN
        found.append(
            Exchange(
                method=str(request.method),
                path=exchange.path_of(url),
                sent=exchange.rebased(exchange.scrubbed(sent), BASES),
                status=said.status_code,
                headers=exchange.rebased(headers, BASES),
                said=exchange.rebased(exchange.scrubbed(exchange.body(said.content)), BASES),
            )
        )
        return said

    with patch.object(HTTPAdapter, "send", kept):
        yield found


def _verified(name: str) -> list[Exchange]:
    """A scenario's cases."""
    wanted = scenario.SCENARIOS[name]
    with tempfile.TemporaryDirectory() as directory, recording() as found:
        cloud = place.MEMBER_CLOUD if wanted.member else place.CLOUD
        driver = OpenStackDriver(
            scenario.sut(wanted, cloud, place.IMAGE_FILE), Path(directory), scenario.counted()
        )
        done = scenario.run(wanted, driver)
        for case in done.suites[0].cases:
            print(case.name, case.outcome, case.seconds, case.clean_up_seconds, case.why or "", flush=True)
    return found


def _absent() -> list[Exchange]:
    """What the cloud says where one looks for what is not there."""
    with recording() as found:
        cloud = Cloud.connected(place.CLOUD, None)
        for kind in kinds.KINDS:
            kinds.found(cloud, Made(kind, "weir-none-of-that-name"), Deadline(60), everywhere=False)
    return found


def _swept(*, member: bool = False) -> list[Exchange]:
    """What Weir asks where a scenario's Rally is killed once it has a network; and of a user of no rights."""
    wanted = scenario.Scenario(member=member)
    with tempfile.TemporaryDirectory() as directory, recording() as found:
        cloud = place.MEMBER_CLOUD if member else place.CLOUD
        file = scenario.sut(wanted, cloud, place.IMAGE_FILE)
        driver = OpenStackDriver(file, Path(directory), scenario.counted())
        killing = threading.Thread(target=_kill_once_a_network_is_there, daemon=True)
        killing.start()
        try:
            with driver.scenario(ScenarioWanted(ROUTERS), 600.0):
                pass
        except WeirError as error:
            print(error)
    return found


def _kill_once_a_network_is_there() -> None:
    """Asked by a process of its own, whose requests are not recorded."""
    tag = f"weir-{scenario.counted()()}"
    ask = (
        f"import openstack, time\ncloud = openstack.connect(cloud={place.CLOUD!r})\n"
        f"while not any({tag!r} in one.name for one in cloud.network.networks()): time.sleep(0.2)"
    )
    subprocess.run([sys.executable, "-c", ask], check=True)
    attended.end(sweep.marker(tag))


def main(names: list[str]) -> None:
    """Files anew."""
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    todo: dict[str, Callable[[], list[Exchange]]] = {
        "absent": _absent,
        "swept": _swept,
        "unswept": lambda: _swept(member=True),
    }
    todo |= {name: lambda name=name: _verified(name) for name in scenario.SCENARIOS}  # type: ignore[misc]
    for name in names or list(todo):
        found = todo[name]()
        exchange.write(name, found)
        print(f"{name}: {len(found)} exchanges")


if __name__ == "__main__":
    main(sys.argv[1:])
