# SPDX-License-Identifier: Apache-2.0
"""Answers about a run at full rate contradict neither themselves nor each other."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.private_data_plane import private_data_plane
from tests.verbs import reset, so_far
from weir import plan
from weir.lab import Lab
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure
from weir.protocol.traffic import TrafficConfigure

CORES = sorted(os.sched_getaffinity(0))[
    -2:
]  # the tester's and the functions': packets change hands between them
LOOKS = 10
FUNCTIONS = [{"nf": "acl", "options": {"default": "permit"}}, {"nf": "dpi"}]
HOUR_NS = 3_600_000_000_000
WAYS: list[dict[str, Any]] = [
    {"architecture": "pipeline", "fastpath": True, "fastpath_flows": 64},
    {"architecture": "dispatch", "workers": 2},
    {"architecture": "separated", "workers": 2, "state_cores": 2, "fastpath": True, "fastpath_flows": 64},
]


def configuration(way: dict[str, Any]) -> Configure:
    lab = Lab.model_validate(
        {
            "weir": 1,
            "name": "live",
            "chain": "PVP",
            "technology": "direct",
            "technologies": {"direct": {"wire": "memory"}},
            "functions": {"default": {"chain": FUNCTIONS, **way}},
            "cores": {"tester": CORES[:1], "functions": CORES[-1:], "switch": CORES[-1:]},
        }
    )
    topology = plan.build_topology(lab, "direct", lab.chains()[0], "live-00000000")
    return Configure.model_validate(plan.configure(topology, lab).arguments())


def streams() -> TrafficConfigure:
    """One from each side, of so many flows that a fast path of 64 forgets some."""
    sides = ("tester.left", "tester.right")
    addresses = ("198.18.0.1", "198.19.0.1")
    made = [
        {
            "id": number,
            "port": sides[number],
            "to": sides[not number],
            "frame": {"bytes": 64},
            "flows": {"count": 100, "vary": ["src_port"]},
            "template": {
                "src_mac": "02:00:00:00:00:01",
                "dst_mac": "02:00:00:00:00:02",
                "src_ip": addresses[number],
                "dst_ip": addresses[not number],
                "src_port": 1024,
            },
        }
        for number in range(2)
    ]
    return TrafficConfigure.model_validate({"streams": made})


def look(client: DataPlaneClient, counts_before: dict[int, int]) -> None:
    """Every answer of a run that goes on; those that belong together agree."""
    for stream in so_far(client).streams:
        assert stream.delivered + stream.tx_refused <= stream.offered
        assert stream.latency is not None
        assert stream.latency.count == stream.delivered
        assert stream.delivered >= counts_before[stream.id]
        found = sum(count for _, _, count in client.delays(stream.id).buckets)
        assert found >= stream.latency.count
        counts_before[stream.id] = found
    for interval in client.traffic_interval().streams:
        assert interval.delivered + interval.tx_refused <= interval.offered
        assert interval.latency.count == interval.delivered
        assert interval.delivered >= counts_before[interval.id]
        counts_before[interval.id] = interval.delivered
    for area in client.ledger().areas:
        for path in area.paths:
            for stage in path.stages:
                if stage.nf == "dpi":
                    client.report(area.name, "dpi")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way["architecture"])
def test_answers_during_a_run_agree_with_each_other(way: dict[str, Any]) -> None:
    with (
        private_data_plane(*dict.fromkeys(CORES), memory_mb=1024, huge=False) as path,
        DataPlaneClient(path, connect_s=60, timeout_s=60) as client,
    ):
        client.configure(configuration(way))
        client.start()
        client.configure_traffic(streams())
        client.start_traffic({0: 0, 1: 0}, HOUR_NS, 50_000_000)
        counts = {0: 0, 1: 0}
        for _ in range(LOOKS):
            look(client, counts)
        client.finish_traffic()
        while (result := client.traffic_result(100)) is None:
            pass
        for stream in result.streams:
            assert counts[stream.id] <= stream.delivered <= stream.offered - stream.tx_refused
            assert stream.latency is not None
            assert 0 < stream.delivered == stream.latency.count
            assert sum(count for _, _, count in client.delays(stream.id).buckets) == stream.delivered
        reset(client)
