# SPDX-License-Identifier: Apache-2.0
"""Every packet is accounted for, by real switches too, when far more is offered than they can carry."""

from __future__ import annotations

import os

import pytest

from .tiny import EACH, tiny_lab
from .trials import AS_FAST_AS_IT_CAN, trials_of

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

DURATION_S = 0.1


@pytest.mark.parametrize("chain", ["PVP", pytest.param("PVVP", marks=pytest.mark.long)])
@pytest.mark.parametrize("technology", EACH)
@pytest.mark.usefixtures("run_root")
def test_overload_is_accounted_for_to_the_packet(technology: str, chain: str) -> None:
    lab = tiny_lab(technology).model_copy(update={"chain": (chain,)})
    trials = trials_of(lab, 3, AS_FAST_AS_IT_CAN, DURATION_S)
    for trial in trials:
        counted = sum(drop.packets for drop in trial.drops)
        assert trial.offered == trial.delivered + counted, f"{trial.unaccounted} in none of {trial.drops}"
        assert trial.delivered > 0, "the chain carries nothing"
    if all(trial.delivered == trial.offered for trial in trials):
        pytest.skip(
            "accounted for, but no overload: this machine cannot load the chain so from its tester's core"
        )
