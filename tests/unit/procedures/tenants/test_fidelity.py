# SPDX-License-Identifier: Apache-2.0
"""What reports say of instances that are virtual machines beside what is measured."""

from __future__ import annotations

import pytest

from weir.lab.tenants import TenantsFile
from weir.plan.cloud import measured_topology
from weir.procedures.tenants.fidelity import fidelity


@pytest.mark.parametrize(
    ("instances", "said"),
    [
        (2, ["blue.2 is a virtual machine, beside what is measured and on its core 1"]),
        (3, ["blue.2, blue.3 are virtual machines, beside what is measured and on its core 1"]),
    ],
)
def test_a_report_names_them_and_where_they_run(instances: int, said: list[str]) -> None:
    blue = {"name": "blue", "instances": instances, "vm": {"instances": instances - 1}}
    tenants = TenantsFile.model_validate({"weir": 1, "name": "cloud", "tenants": [blue]})
    sentences = fidelity(measured_topology(tenants, "cloud-12345678", (0, 1)), "Open vSwitch")
    assert [one.partition(": nothing")[0] for one in sentences if "virtual machine" in one] == said


def test_without_them_nothing_is_said() -> None:
    tenants = TenantsFile.model_validate({"weir": 1, "name": "cloud", "tenants": [{"name": "blue"}]})
    sentences = fidelity(measured_topology(tenants, "cloud-12345678", (0, 1)), "Open vSwitch")
    assert not any("virtual machine" in one for one in sentences)
