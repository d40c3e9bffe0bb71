# SPDX-License-Identifier: Apache-2.0
"""Instances of tenants that are virtual machines: what is read, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.qcow2_image import write_qcow2
from weir.lab import LabFileError
from weir.lab.tenants import Tenant
from weir.lab.tenants_load import load_tenants

HEAD = "weir: 1\nname: cloud\ntenants:\n"


def written(folder: Path, tenant: str) -> Path:
    (folder / "lab.yml").write_text(f"{HEAD}  - {{name: blue, {tenant}}}\n")
    return folder


@pytest.mark.parametrize(
    ("tenant", "machines"),
    [("instances: 3", 0), ("instances: 3, vm: {}", 3), ("instances: 3, vm: {instances: 1}", 1)],
)
def test_some_or_all_of_a_tenants_instances_are_virtual_machines(
    tenant: str, machines: int, tmp_path: Path
) -> None:
    assert load_tenants(written(tmp_path, tenant)).tenants[0].machines == machines


def test_files_of_an_image_are_looked_for_beside_the_lab(tmp_path: Path) -> None:
    write_qcow2(tmp_path / "server.qcow2")
    (tmp_path / "user-data.yml").touch()
    text = "instances: 1, vm: {image: server.qcow2, user_data: user-data.yml}"
    vm = load_tenants(written(tmp_path, text)).tenants[0].vm
    assert vm is not None
    assert (vm.image, vm.user_data) == (str(tmp_path / "server.qcow2"), str(tmp_path / "user-data.yml"))


@pytest.mark.parametrize(
    ("tenant", "said"),
    [
        (
            "instances: 1, vm: {instances: 2}",
            "tenants[0]: has 2 virtual machines among 1 instances; expected",
        ),
        ("vm: {image: none.qcow2}", "tenants[0].vm.image: there is no file"),
        (
            "vm: {image: lab.yml}",
            "/lab.yml is no qcow2 image; name one, or say vm.image_format: raw if it is",
        ),
        ("vm: {user_data: lab.yml}", "tenants[0].vm.user_data: is for cloud-init, and the images of"),
        ("vm: {}, system: {}", "tenants[0].system: is of instances that are namespaces, and all of these"),
        ("vm: {forwarder: kernel}", "tenants[0].vm.forwarder: unknown key"),
        ("vm: {memory_mb: 64}", "tenants[0].vm.memory_mb: is 64"),
        ("functions: [{name: dpi, kind: vm}]", "tenants[0].functions[0].kind: "),
    ],
)
def test_an_impossible_one_is_refused_where_it_is(tenant: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(LabFileError) as refused:
        load_tenants(written(tmp_path, tenant))
    assert said in str(refused.value)


def test_a_system_may_be_in_those_that_are_none() -> None:
    assert Tenant.model_validate({"name": "blue", "instances": 2, "vm": {"instances": 1}, "system": {}})
