# SPDX-License-Identifier: Apache-2.0
"""What `--on` says where it cannot work, and that nothing imports Ray before."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weir.cli.main import app
from weir.hosts import by_ray
from weir.hosts.transport import HostsError

LAB = str(Path(__file__).parents[3] / "labs" / "switching")


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(by_ray, "import_module", none)
    with pytest.raises(HostsError, match=r"pip install 'ray\[") as error:
        by_ray.RayHosts("ray://nowhere:1")
    assert error.value.exit_code == 3


def test_another_address_is_a_wrong_usage() -> None:
    for address in (
        "nfv1",
        "http://nfv1:8265",
        "ray://nfv1",
        "nfv1:",
        "nfv1:0",
        "nfv1:99999",
        "ray://nfv1:65536",
    ):
        done = CliRunner().invoke(app, ["run", LAB, "--on", address])
        assert done.exit_code == 2
        assert f"--on {address}: expected HOST:PORT of a Ray cluster" in done.output


def test_the_command_and_what_it_imports_do_without_ray() -> None:
    importlib.import_module("weir.procedures.throughput.hosts_command")
    importlib.import_module("weir.hosts.by_ray")
    assert "ray" not in sys.modules
