# SPDX-License-Identifier: Apache-2.0
"""A lab whose only function stands between two in-memory wires, on one core with its tester."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from tests.verbs import reset
from weir import plan
from weir.lab import Lab
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure

Functions = Sequence[Mapping[str, object]]
Way = Mapping[str, object]  # architecture, workers, …


@contextmanager
def data_plane() -> Iterator[DataPlaneClient]:
    """A weir-dp that polls on CORE."""
    with (
        private_data_plane(CORE, memory_mb=1024, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        yield client


def configuration(functions: Functions, way: Way) -> dict[str, Any]:
    """What weir-dp is told of these functions run that way."""
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "golden",
            "chain": "PVP",
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {"default": {"chain": list(functions), **way}},
            "cores": {"tester": [CORE], "functions": [CORE], "switch": [CORE]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "golden-00000000")
    return plan.configure(topology, lab).arguments()


@contextmanager
def running(client: DataPlaneClient, config: Mapping[str, Any]) -> Iterator[None]:
    """Configured and started, and reset after the body."""
    client.configure(Configure.model_validate(config))
    client.start()
    yield
    reset(client)
