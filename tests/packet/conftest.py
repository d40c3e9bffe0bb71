# SPDX-License-Identifier: Apache-2.0
"""A network for N4, and a upf that listens there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .control_plane import network, upf
from .replay import Replay, replay


@pytest.fixture(scope="module")
def netns() -> Iterator[str]:
    """A namespace in which loopback is up."""
    with network() as name:
        yield name


@pytest.fixture
def chain(netns: str) -> Iterator[Replay]:
    """A upf without sessions, controlled from that namespace."""
    with replay(upf()) as running:
        running.listen("upf0", f"/run/netns/{netns}")
        yield running
