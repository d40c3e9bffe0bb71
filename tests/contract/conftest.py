# SPDX-License-Identifier: Apache-2.0
"""A running weir-dp for the tests of its verbs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from tests.verbs import reset
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure

from .wire import PORTS, area_of


@pytest.fixture(scope="module")
def weir_dp() -> Iterator[DataPlaneClient]:
    """A weir-dp in ordinary memory."""
    with (
        private_data_plane(CORE, memory_mb=256, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        yield client


@pytest.fixture
def client(weir_dp: DataPlaneClient) -> Iterator[DataPlaneClient]:
    """With a generator at port left and a receiver at port right of an in-memory wire."""
    areas = [area_of("generator", "left"), area_of("receiver", "right")]
    weir_dp.configure(Configure.model_validate({"ports": PORTS, "areas": areas}))
    yield weir_dp
    reset(weir_dp)
