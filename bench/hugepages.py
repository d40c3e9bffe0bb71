# SPDX-License-Identifier: Apache-2.0
"""Hugepages for a bench, by the step that deployments have for it: journalled, and given back."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from weir.base.topology import Topology
from weir.fabric import Deployment
from weir.plan import Step, deployment_id


@contextmanager
def hugepages(memory_mb: int) -> Iterator[None]:
    """Makes sure that so many MiB are free during the body; with fewer, programs say so themselves."""
    topology = Topology(
        lab="bench",
        deployment=deployment_id("bench", secrets.token_hex(4)),
        technology="direct",
        chain="none",
        nodes=(),
        ports=(),
        links=(),
    )
    step = Step(
        kind="hugepages",
        name="hugepages",
        params={"memory_mb": memory_mb},
        text=f"make sure that {memory_mb} MiB of 2 MiB hugepages are free",
        undo_text="set the number of hugepages to what it was",
    )
    deployment = Deployment.deploy([step], topology)
    try:
        yield
    finally:
        deployment.destroy()
