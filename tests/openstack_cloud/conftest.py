# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack on this host, whose servers are emulated (QEMU TCG), and which tests leave as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from .harness import container, place
from .inventory import listed


@pytest.fixture(scope="session")
def cloud() -> Iterator[Any]:
    """It stands; one that stood before stays."""
    ours = container.alive() is None
    if ours:
        print(f"\nOpenStack is up in {container.begin():.0f} s")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(place.CLOUDS)
    import openstack

    yield openstack.connect(cloud=place.CLOUD)
    if ours:
        container.end()


@pytest.fixture
def untouched(cloud: Any) -> Iterator[Any]:
    """All of the cloud is afterwards as it was before, look-alikes among it."""
    network = cloud.network.create_network(name="weir-c0ffee-own-network", description="somebody else's")
    group = cloud.network.create_security_group(name="weir-0123456789ab-group", description="Weir's? No.")
    router = cloud.network.create_router(name="weir-0123456789ab-own-router")
    key = cloud.compute.create_keypair(name="weir-0123456789ab-key")
    before = listed(cloud)
    yield cloud
    after = listed(cloud)
    for name, delete in (
        (network, cloud.network.delete_network), (group, cloud.network.delete_security_group),
        (router, cloud.network.delete_router), (key, cloud.compute.delete_keypair),
    ):  # fmt: skip
        delete(name)
    assert after == before
