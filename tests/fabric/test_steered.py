# SPDX-License-Identifier: Apache-2.0
"""Whether the kernel took receive packet steering is read from what was done, not from what was planned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from weir import plan
from weir.fabric.deployment import Deployment
from weir.fabric.journal import Journal
from weir.lab import Lab

DEPLOYMENT = "small-1a2b3c4d"


@pytest.fixture
def lab() -> Lab:
    return Lab.model_validate(
        {
            "weir": 1,
            "name": "small",
            "chain": [["router", "router"]],
            "technology": "linux-bridge",
            "cores": {"tester": [0], "functions": [1]},
            "functions": {"router": {"kind": "kernel"}},
        }
    )


@pytest.fixture
def journal(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("WEIR_RUN_DIR", str(tmp_path / "weir"))
    with closing(
        Journal.begin(plan.build_topology(lab, "linux-bridge", lab.chains()[0], DEPLOYMENT))
    ) as made:
        yield made


def test_a_function_is_steered_where_the_kernel_took_it_at_all_its_interfaces(
    lab: Lab, journal: Journal
) -> None:
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], DEPLOYMENT)
    deployment = Deployment(journal)
    for step in plan.steps(topology, lab):
        if step.kind == "function-port":
            assert step.numbers("cores") == [1]
            journal.write({"do": step.model_dump()})
            journal.write({"facts": {"rps": step.name != "function-port:f2.right"}, "step": step.name})
    assert deployment.steered() == ["f1"]


def test_where_nobody_asked_for_it_nothing_is_steered(lab: Lab, journal: Journal) -> None:
    function = {"kind": "kernel", "kernel": {"rps": False}}
    lab = Lab.model_validate({**lab.model_dump(exclude_unset=True), "functions": {"router": function}})
    topology = plan.build_topology(lab, "linux-bridge", lab.chains()[0], DEPLOYMENT)
    for step in plan.steps(topology, lab):
        if step.kind == "function-port":
            journal.write({"do": step.model_dump()})
            journal.write({"facts": {}, "step": step.name})
    assert Deployment(journal).steered() == []
