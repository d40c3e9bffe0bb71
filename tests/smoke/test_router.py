# SPDX-License-Identifier: Apache-2.0
"""A router in a real lab, under every technology: tenants reach the outside."""

from __future__ import annotations

import os

import pytest

from weir.lab.function import FunctionOptions
from weir.lab.lab import DEFAULT_FUNCTION

from .tiny import EACH, tiny_lab
from .trials import trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

ROUTER = {"tenants": [{"prefix": "198.18.0.0/16"}], "external": "203.0.113.0/30", "isolate": True}


@pytest.mark.parametrize("technology", EACH)
@pytest.mark.usefixtures("run_root")
def test_what_tenants_send_arrives_outside(technology: str) -> None:
    router = FunctionOptions.model_validate({"router": ROUTER, "architecture": "dispatch", "fastpath": True})
    tiny = tiny_lab(technology)
    lab = tiny.model_copy(
        update={
            "functions": {DEFAULT_FUNCTION: router},
            "tester": tiny.tester.model_copy(update={"direction": "left-to-right"}),
        }
    )
    trials = list(trials_of(lab, 3, 2000, 0.1))
    assert all(trial.delivered == trial.offered for trial in trials)
    trial = max(trials, key=lambda trial: trial.offered)  # while the core is away nothing is sent
    assert trial.offered > 100
