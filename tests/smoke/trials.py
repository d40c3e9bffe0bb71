# SPDX-License-Identifier: Apache-2.0
"""Trials on a chain that is really there, without a search around them."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.dataplane import DataPlaneClient, DataPlaneTester
from weir.measure import Traffic
from weir.measure.trial import TrialRunner
from weir.plan.steps import SOCKET
from weir.spec import Lab
from weir.spec.frames import mean_frame_bytes
from weir.store.result import Trial

AS_FAST_AS_IT_CAN = 0.0


def trials_of(
    lab: Lab, count: int, load_pps: float, duration_s: float, *, drain_ms: float = 30
) -> list[Trial]:
    """So many trials of the lab's only chain and technology, which are built for them."""
    (technology,) = lab.technology
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
                options=lab.measure.trial.model_copy(update={"drain_ms": drain_ms}),
                on_trial=trials.append,
                outside=deployment.watch(sample_stacks=lab.measure.sample_stacks),
            )
            for _ in range(count):
                runner.once("curve", load_pps, duration_s)
    finally:
        deployment.destroy()
    return trials
