# SPDX-License-Identifier: Apache-2.0
"""A cloud whose answers do not end costs a case no more than its time."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.base.error import FabricError
from weir.fabric.cloud.system import ssh
from weir.verify.driver import CloudError
from weir.verify.drivers.openstack.connection import Cloud, Deadline
from weir.verify.drivers.openstack.stack import OpenStackStack, Server, Standing

from .conftest import Playing
from .replay import Fault

LATE_S = 5.0
"""What an answer may take beyond a case's time, and a busy machine."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "path"), [("subnet", "/network/v2.0/subnets/"), ("router", "/network/v2.0/routers/")]
)
def test_looking_at_what_stands_ends_with_the_case(kind: str, path: str, played: Playing) -> None:
    fault = Fault("GET", path, slow=True)
    with played("healthcheck", case="tenantnetwork1", faults=[fault], limit_s=6.0) as cloud:
        found = cloud.case()
    assert fault.met
    assert found.outcome == "failed"
    assert re.search(rf"look at {kind} .*: its answer has not ended within", found.why or ""), found.why
    assert found.seconds < 6.0 + LATE_S


@pytest.mark.long
def test_asking_every_service_ends_with_the_case(played: Playing) -> None:
    fault = Fault("GET", "/image/v2/images", slow=True)
    began_s = time.monotonic()
    with (
        played("healthcheck", faults=[fault]) as cloud,
        pytest.raises(CloudError, match=r"^ask image at .*: its answer has not ended within"),
    ):
        cloud.driver.services(3.0, ExitStack())
    assert time.monotonic() - began_s < 3.0 + LATE_S


def test_the_last_words_of_a_server_are_read_though_the_time_of_its_case_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> str:
        raise FabricError("nothing answers by SSH")

    monkeypatch.setattr(ssh, "said", unreachable)
    console = SimpleNamespace(get_server_console_output=lambda _id: {"output": "boot\nno lease\n"})
    cloud = Cloud(SimpleNamespace(session=SimpleNamespace(), compute=console), "made", frozenset())
    standing = Standing(cloud, "outside", servers={"vm": Server("7", "10.0.0.3", "198.51.100.3")})
    stack = OpenStackStack(standing, tmp_path / "key", "root", "weir-made", Deadline(0.0))
    with pytest.raises(
        CloudError, match=r"^vm: nothing answers by SSH; its console ends with: boot \| no lease$"
    ):
        stack.run("vm", "true", 0.0)
    with pytest.raises(CloudError, match=r"^read the console of vm: not begun within 0 s$"):
        stack.console("vm")
