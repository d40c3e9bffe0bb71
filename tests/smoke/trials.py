# SPDX-License-Identifier: Apache-2.0
"""Trials on a chain that is really there, without a search around them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weir import fabric, plan
from weir.lab import Lab
from weir.lab.frames import mean_frame_bytes
from weir.measure import Traffic
from weir.measure.trial import TrialRunner
from weir.plan import SOCKET
from weir.procedures.driver import configured, counted_outside
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.results.result import Trial

AS_FAST_AS_IT_CAN = 0.0


@contextmanager
def standing(
    lab: Lab, on_trial: Callable[[Trial], None], *, drain_ms: float = 30
) -> Iterator[tuple[fabric.Deployment, TrialRunner]]:
    """The lab's only chain and technology, built for the body, and what runs trials on it."""
    (technology,) = lab.technology
    refusal = fabric.check(technology)
    if refusal is not None:
        pytest.skip(f"{refusal.missing}: {refusal.fix}")
    topology = plan.build_topology(
        lab, technology, lab.chains()[0], plan.deployment_id(lab.name, secrets.token_hex(4))
    )
    made = plan.Plan.of(topology, lab)
    frame = str(lab.traffic.frames[0])
    traffic = Traffic.from_config(frame, mean_frame_bytes(frame), made.streams[frame])
    deployment = fabric.Deployment.deploy([*made.steps], topology)
    try:
        with DataPlaneClient(Path(deployment.run_dir) / SOCKET) as client:
            configured(client, made, deployment)
            tester = DataPlaneTester(client)
            tester.announce(3)
            tester.configure_traffic(traffic.config)
            yield (
                deployment,
                TrialRunner(
                    tester,
                    lambda: counted_outside(client, deployment),
                    traffic,
                    options=lab.measure.trial.model_copy(update={"drain_ms": drain_ms}),
                    on_trial=on_trial,
                    outside=deployment.watch(sample_stacks=lab.measure.sample_stacks),
                ),
            )
    finally:
        deployment.destroy()


def trials_of(
    lab: Lab, count: int, load_pps: float, duration_s: float, *, drain_ms: float = 30
) -> list[Trial]:
    """So many trials of the lab's only chain and technology, which are built for them."""
    trials: list[Trial] = []
    with standing(lab, trials.append, drain_ms=drain_ms) as (_, runner):
        for _ in range(count):
            runner.run("curve", load_pps, duration_s)
    return trials
