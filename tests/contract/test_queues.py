# SPDX-License-Identifier: Apache-2.0
"""Rings and wires: one core at each end, nothing left in them, and no end of what comes out is waited for."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.polled_core import CORE
from tests.private_data_plane import private_data_plane
from tests.verbs import reset
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure

from .wire import PORTS, area_of, started

RINGS = [{"name": "ring", "size": 64}]


def forwarder(name: str, core: int, take: str, give: str) -> dict[str, Any]:
    stages = [{"nf": "l2fwd", "options": {"mode": "mac-swap"}}]
    path = {"name": "forth", "in": take, "out": give, "stages": stages}
    return {"name": name, "core": core, "kind": "chain", "paths": [path]}


@pytest.fixture
def cores() -> tuple[int, int]:
    others = sorted(os.sched_getaffinity(0) - {CORE})
    if not others:
        pytest.skip("this machine has one CPU")
    return CORE, others[0]


@pytest.mark.parametrize(
    ("take", "give", "what"),
    [(("left", "right"), ("ring", "ring"), "put into"), (("ring", "ring"), ("left", "right"), "take from")],
)
def test_a_ring_at_one_end_of_which_two_cores_would_be_is_refused(
    cores: tuple[int, int], take: tuple[str, str], give: tuple[str, str], what: str
) -> None:
    areas = [forwarder(f"f{core}", core, take[at], give[at]) for at, core in enumerate(cores)]
    asked = Configure.model_validate({"ports": PORTS, "rings": RINGS, "areas": areas})
    with (
        private_data_plane(*cores, memory_mb=256, huge=False) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        message = rf"areas on cores {cores[0]} and {cores[1]} both {what} 'ring'"
        with pytest.raises(DataPlaneError, match=message):
            client.configure(asked)
        one = [forwarder(f"f{at}", cores[0], take[at], give[at]) for at in range(2)]
        client.configure(Configure.model_validate({"ports": PORTS, "rings": RINGS, "areas": one}))


def test_what_is_left_in_a_wire_goes_back_to_its_pool(weir_dp: DataPlaneClient) -> None:
    for _ in range(6):  # were buffers kept, none would be left for the fifth
        weir_dp.configure(Configure.model_validate({"ports": PORTS}))
        before = {pool.name: pool.free for pool in weir_dp.ledger().pools}
        weir_dp.start()
        weir_dp.call("exchange", {"frames": {"left": ["00" * 60] * 2000}, "quiet_ms": 0})
        assert sum(pool.free for pool in weir_dp.ledger().pools) <= sum(before.values()) - 2000
        reset(weir_dp)
        weir_dp.configure(Configure.model_validate({"ports": PORTS}))
        assert {pool.name: pool.free for pool in weir_dp.ledger().pools} == before
        reset(weir_dp)


def test_frames_that_come_without_end_end_an_exchange(weir_dp: DataPlaneClient) -> None:
    areas = [area_of("generator", "left")]
    weir_dp.configure(Configure.model_validate({"ports": PORTS, "areas": areas}))
    started(weir_dp, to=None)
    weir_dp.start_traffic({0: 0.0}, 20 * 10**9, 0)
    with pytest.raises(DataPlaneError, match="frames still arrive after"):
        weir_dp.call("exchange", {"frames": {"right": []}, "quiet_ms": 0}, timeout_s=60)
    reset(weir_dp)
