# SPDX-License-Identifier: Apache-2.0
"""What the local driver builds where a case only asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.lab.sut import SutFile
from weir.verify.drivers import local
from weir.verify.drivers.local import LocalDriver


def test_the_cloud_whose_services_are_asked_stands_until_what_was_built_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    @contextmanager
    def deployed(*_: object) -> Iterator[SimpleNamespace]:
        said.append("built")
        yield SimpleNamespace(run_dir=tmp_path, require_alive=lambda: None)
        said.append("gone")

    monkeypatch.setattr(local, "deployed_cloud", deployed)
    monkeypatch.setattr(local, "call", lambda *_: "ovs-vswitchd (Open vSwitch) 3.1.0\n")
    with ExitStack() as built:
        found = LocalDriver(SutFile(weir=1, name="own"), tmp_path).services(20.0, built)
        assert said == ["built"]
    assert said == ["built", "gone"]
    assert [one.name.split()[0] for one in found] == ["ovs-vswitchd", "ovsdb-server"] * 3 + ["DHCP"]
