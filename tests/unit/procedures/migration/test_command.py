# SPDX-License-Identifier: Apache-2.0
"""What cannot be migrated is refused before anything is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.qcow2_image import write_qcow2
from weir.cli import exits
from weir.cli.main import app

runner = CliRunner()
KERNEL = {"kind": "vm", "vm": {"forwarder": "kernel"}}


def lab(tmp_path: Path, function: dict[str, Any], technology: str = "linux-bridge") -> str:
    path = tmp_path / "lab.yml"
    functions = {"default": function, "plain": {"nf": "l2fwd"}}
    spec = {"weir": 1, "name": "small", "chain": "PVP", "technology": technology, "functions": functions}
    path.write_text(json.dumps(spec))
    return str(path)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ({"nf": "l2fwd"}, "has no virtual machine: its functions are default; expected one of kind vm"),
        ({"kind": "vm", "nf": "l2fwd"}, "default is weir-dp"),
        ({"kind": "vm", "vm": {"image": "router.qcow2"}}, "default is an image of yours"),
        ({"kind": "vm", "vm": {"forwarder": "kernel", "queues": 2}}, "expected vm.queues: 1"),
    ],
)
def test_a_function_that_cannot_be_migrated_is_refused(
    function: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    write_qcow2(tmp_path / "router.qcow2")
    done = runner.invoke(app, ["migrate", lab(tmp_path, function), "--store", str(tmp_path / "results.db")])
    assert done.exit_code == exits.USAGE
    assert expected in done.stderr


def test_a_technology_without_tap_interfaces_is_refused(tmp_path: Path) -> None:
    done = runner.invoke(app, ["migrate", lab(tmp_path, KERNEL, "ovs-dpdk")])
    assert done.exit_code == exits.USAGE
    assert "the lab has ovs-dpdk, and a machine is migrated under linux-bridge only" in done.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--function", "plain"], "no such virtual machine; it has default"),
        (["--rate", "50% PDR"], "--rate 50% PDR: expected a number"),
        (["--bandwidth", "fast"], "--bandwidth fast: expected a rate"),
        (["--downtime-limit", "1h"], "--downtime-limit 1h: expected 0.001s to 2000s"),
        (["--frame", "65"], "no frame '65'"),
    ],
)
def test_what_makes_no_migration_is_refused(words: list[str], expected: str, tmp_path: Path) -> None:
    done = runner.invoke(app, ["migrate", lab(tmp_path, KERNEL), *words])
    assert done.exit_code == exits.USAGE
    assert expected in done.stderr
