# SPDX-License-Identifier: Apache-2.0
"""Every packet is accounted for, by real switches too, when far more is offered than they can carry."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.dataplane import DataPlaneClient, DataPlaneTester
from weir.measure import Traffic
from weir.measure.trial import TrialRunner
from weir.plan.steps import SOCKET
from weir.spec.frames import mean_frame_bytes
from weir.store.result import Trial

from .tiny import TECHNOLOGIES, tiny_lab

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces and processes: run as root"),
]

DURATION_S = 0.1


@pytest.mark.parametrize("chain", ["PVP", "PVVP"])
@pytest.mark.parametrize("technology", TECHNOLOGIES)
@pytest.mark.usefixtures("run_root")
def test_overload_is_accounted_for_to_the_packet(technology: str, chain: str) -> None:
    trials = overloaded(technology, chain)
    if all(trial.delivered == trial.offered for trial in trials):
        pytest.skip("nothing was lost: this machine cannot overload the chain from its tester's core")
    for trial in trials:
        counted = sum(drop.packets for drop in trial.drops)
        assert trial.offered == trial.delivered + counted, f"{trial.unaccounted} in none of {trial.drops}"
        assert trial.delivered > 0, "the chain carries nothing"


def overloaded(technology: str, chain: str) -> list[Trial]:
    """Three trials as fast as the tester can."""
    lab = tiny_lab(technology).model_copy(update={"chain": (chain,)})
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{refusal.missing}: {refusal.fix}")
    topology = plan.build_topology(
        lab, technology, lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    frame = str(lab.traffic.frames[0])
    traffic = Traffic.from_config(frame, mean_frame_bytes(frame), plan.streams(topology, lab, frame))
    trials: list[Trial] = []
    deployment = fabric.Deployment.deploy(plan.steps(topology, lab), topology)
    try:
        with DataPlaneClient(Path(deployment.run_dir) / SOCKET) as client:
            client.configure(
                plan.dataplane_config(topology, lab, str(deployment.run_dir), deployment.devices)
            )
            client.start()
            tester = DataPlaneTester(client)
            tester.teach(3)
            tester.configure_traffic(traffic.config)
            runner = TrialRunner(
                tester,
                lambda: deployment.counters({port.name: port.rx_packets for port in client.ledger().ports}),
                traffic,
                options=lab.measure.trial.model_copy(update={"drain_ms": 30}),
                on_trial=trials.append,
            )
            for _ in range(3):
                runner.once("curve", 0, DURATION_S)
    finally:
        deployment.destroy()
    return trials
