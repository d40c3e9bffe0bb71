# SPDX-License-Identifier: Apache-2.0
"""Records what a real cloud answers, for tests that replay it, while the harness stands:
`python -m tests.openstack_cloud.record NAME ...`. Names: those of SCENARIOS; none: all.

Identifiers of stacks are counted, so that a replay asks for the same names.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter

from tests.unit.verify.openstack import exchange, scenario
from tests.unit.verify.openstack.exchange import Exchange
from tests.unit.verify.openstack.made_attached import MadeTester
from weir.verify.drivers.openstack import OpenStackDriver, kinds
from weir.verify.drivers.openstack.connection import Cloud, Deadline
from weir.verify.drivers.openstack.journal import Made
from weir.verify.drivers.tester_alone import TesterAlone

from .harness import place
from .harness.inside.services import PORTS

_LIMIT_S = 1200.0
"""Of a case: what is recorded is what is answered, however late."""
_TYPES = {"keystone": "identity", "glance": "image", "neutron": "network", "nova": "compute"}
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
        one = Exchange(
            method=str(request.method),
            path=exchange.path_of(url),
            sent=exchange.rebased(exchange.scrubbed(sent), BASES),
            status=said.status_code,
            headers=exchange.rebased(headers, BASES),
            said=exchange.rebased(exchange.scrubbed(exchange.body(said.content)), BASES),
        )
        if not found or one != found[-1] or not _waits(one):
            found.append(one)
        return said

    with patch.object(HTTPAdapter, "send", kept):
        yield found


def _waits(one: Exchange) -> bool:
    """What is asked again and again: the same answer is kept once."""
    return one.method == "GET" or one.path.endswith("/action")


def _verified(name: str) -> list[Exchange]:
    """A scenario's cases."""
    wanted = scenario.SCENARIOS[name]
    with (
        tempfile.TemporaryDirectory() as directory,
        patch.object(TesterAlone, "measured", lambda *_: {}),
        recording() as found,
    ):
        cloud = place.MEMBER_CLOUD if wanted.member else place.CLOUD
        file = scenario.sut(wanted, cloud, place.IMAGE_FILE, _LIMIT_S)
        # Chains are of real servers, and what they carry is no part of what is recorded.
        driver = OpenStackDriver(file, Path(directory), scenario.counted(), MadeTester().attach)
        done = scenario.run(wanted, driver, file)
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


def main(names: list[str]) -> None:
    """Files anew."""
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    todo: dict[str, Callable[[], list[Exchange]]] = {"absent": _absent}
    todo |= {name: lambda name=name: _verified(name) for name in scenario.SCENARIOS}  # type: ignore[misc]
    for name in names or list(todo):
        found = todo[name]()
        exchange.write(name, found)
        print(f"{name}: {len(found)} exchanges")


if __name__ == "__main__":
    main(sys.argv[1:])
