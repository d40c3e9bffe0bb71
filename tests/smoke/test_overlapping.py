# SPDX-License-Identifier: Apache-2.0
"""Two deployments at once, taken down in either order: the machine is as before."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.fabric import hugepages

from .surroundings import Surroundings
from .tiny import tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]


def deployed(tokens: str) -> fabric.Deployment:
    lab = tiny_lab("direct")
    name = plan.deployment_id(lab.name, tokens + secrets.token_hex(1))
    topology = plan.build_topology(lab, "direct", lab.chains()[0], name)
    return fabric.Deployment.deploy(plan.steps(topology, lab), topology, shares_cores=True)


def pages() -> int:
    return int((hugepages.DIRECTORY / "nr_hugepages").read_text())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first first", "last first"])
def test_hugepages_are_as_before(order: tuple[int, int], run_root: Path) -> None:
    tokens, before = secrets.token_hex(3), pages()
    surroundings = Surroundings(run_root, "tiny", tokens)
    try:
        both = [deployed(tokens), deployed(tokens)]
        added = pages() - before
        for index in order:
            both[index].destroy()
        surroundings.check(order)
        if not added:
            pytest.skip("this machine has so many free hugepages that none are added")
    finally:
        surroundings.remove()
