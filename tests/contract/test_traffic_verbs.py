# SPDX-License-Identifier: Apache-2.0
"""What weir-dp accepts as streams and runs, and how it refuses the rest: asked of a running one."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.verbs import reset
from tests.weir_dp_protocol import check_request
from weir.protocol import DataPlaneClient, DataPlaneError
from weir.protocol.configuration import Configure
from weir.protocol.tester import DataPlaneTester
from weir.protocol.traffic import TrafficConfigure, TrafficStart

from .wire import PORTS, area_of, refused, result, started, stream, template

TAP = "weir-test-tap"


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"id": 64}, "id"),
        ({"id": None}, "id"),
        ({"port": "middle"}, "port"),
        ({"to": 7}, "to"),
        ({"pacing": "bursty"}, "pacing"),
        ({"colour": "red"}, "colour"),
        ({"template": None}, "template"),
        (template(src_mac="02:00"), "template.src_mac"),
        (template(dst_ip="2001:2::1"), "template.dst_ip"),
        (template(ip=5), "template.ip"),
        (template(l4="sctp"), "template.l4"),
        (template(vlan=4095), "template.vlan"),
        ({"frame": {"bytes": 63}}, "frame.bytes"),
        ({"frame": {"bytes": "64"}}, "frame.bytes"),
        ({"frame": {"imix": "ah"}}, "frame.imix"),
        ({"frame": {}}, "frame"),
        ({"flows": {"count": 0}}, "flows.count"),
        ({"flows": {"distribution": "zipf", "zipf_s": "steep"}}, "flows.zipf_s"),
        ({"flows": {"distribution": "zipf", "zipf_s": 0}}, "flows.zipf_s"),
        ({"flows": {"vary": ["ttl"]}}, "flows.vary"),
        ({"flows": {"count": 2}}, "flows.vary"),
        ({"flows": {"count": 32_769, "vary": ["src_ip"]}}, "flows.count"),
        ({"port": "right"}, "port"),
        ({"to": "left"}, "to"),
        ({"flows": {"distribution": "normal"}}, "flows.distribution"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_refused_stream_says_which_field_is_wrong(
    client: DataPlaneClient, changes: dict[str, Any], where: str
) -> None:
    error = refused(client, "traffic.configure", {"streams": [stream(id=1), stream(**changes)]})
    assert error.where == f"streams[1].{where}"


def test_a_stream_that_goes_where_nobody_receives_is_refused(client: DataPlaneClient) -> None:
    assert "no receiver" in str(refused(client, "traffic.configure", {"streams": [stream(to="left")]}))


def test_a_stream_without_a_destination_is_only_sent(client: DataPlaneClient) -> None:
    started(client, to=None)
    client.start_traffic({0: 10_000}, 10**7, 10 * 10**9)  # no drain to wait for
    counts = result(client).streams[0]
    assert (counts.intended, counts.delivered) == (100, 0)


@pytest.mark.parametrize(
    ("rates", "where"),
    [
        ({"0": 1, "1": 1}, "rates_pps.1"),
        ({"0": 1, "00": 1}, "rates_pps.00"),
        ({}, "rates_pps.0"),
        ({"0": -1}, "rates_pps.0"),
        ({"0": 1.1e10}, "rates_pps.0"),
        ({"0": 1e300}, "rates_pps.0"),
        ({"0": "fast"}, "rates_pps.0"),
        ([1], "rates_pps"),
        (None, "rates_pps"),
    ],
)
def test_a_run_needs_a_possible_rate_for_each_stream_and_for_no_other(
    client: DataPlaneClient, rates: Any, where: str
) -> None:
    started(client)
    arguments = {"duration_ns": 10**6, **({} if rates is None else {"rates_pps": rates})}
    assert refused(client, "traffic.start", arguments).where == where


@pytest.mark.parametrize("field", ["duration_ns", "drain_ns"])
def test_a_refused_run_says_which_field_is_wrong(client: DataPlaneClient, field: str) -> None:
    started(client)
    arguments = {"duration_ns": 10**6, "rates_pps": {"0": 1}, field: -1}
    assert refused(client, "traffic.start", arguments).where == field


def test_what_weir_dp_accepts_the_schema_accepts(client: DataPlaneClient) -> None:
    streams = {"streams": [stream(to=None, flows={"count": 9, "vary": ["src_ip"]}, pacing="poisson")]}
    run = {"duration_ns": 10**6, "rates_pps": {"0": 1e10}, "drain_ns": 0}
    TrafficConfigure.model_validate(streams)
    TrafficStart.model_validate(run)
    client.call("traffic.configure", streams)
    client.start()
    client.call("traffic.start", run)
    check_request("traffic.configure", streams)
    check_request("traffic.start", run)


def test_a_poisson_run_offers_what_its_process_drew(client: DataPlaneClient) -> None:
    started(client, pacing="poisson")
    intended = []
    for _ in range(5):
        client.start_traffic({0: 50_000}, 2 * 10**7, 10**8)
        counts = result(client).streams[0]
        assert counts.offered <= counts.intended
        intended.append(counts.intended)
    assert len(set(intended)) > 1, "the number of packets is drawn too"
    assert all(abs(packets - 1000) < 5 * 1000**0.5 for packets in intended)


def test_a_stopped_run_says_so_and_the_next_one_runs(client: DataPlaneClient) -> None:
    started(client)
    run = client.start_traffic({0: 1000}, 10**10, 0)
    client.stop()
    assert client.call("traffic.result") == {"state": "stopped", "run": run, "gone_ports": []}
    with pytest.raises(DataPlaneError, match=f"run {run} was stopped before its end"):
        client.traffic_result(0)
    client.start()
    counts = DataPlaneTester(client).run({0: 1000}, 0.01, 0.1).streams[0]
    assert counts.intended == 10


def test_counts_do_not_change_once_the_run_is_done(client: DataPlaneClient) -> None:
    started(client)
    client.start_traffic({0: 100_000}, 10**7, 10**8)
    first = result(client)
    time.sleep(0.05)
    assert client.traffic_result(0).streams == first.streams  # type: ignore[union-attr]


def test_a_second_receiver_at_a_port_is_refused(weir_dp: DataPlaneClient) -> None:
    areas = [{**area_of("receiver", "left"), "name": name} for name in ("first", "second")]
    error = refused(weir_dp, "configure", {"ports": PORTS, "areas": areas})
    assert error.where == "second"
    assert "first" in error.message


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/net/tun").exists(), reason="makes a tap: run as root")
def test_what_a_tap_refuses_is_counted_once(weir_dp: DataPlaneClient) -> None:
    ports = [{"name": "tap", "kind": "tap", "interface": TAP}]
    weir_dp.configure(Configure.model_validate({"ports": ports, "areas": [area_of("generator", "tap")]}))
    try:
        subprocess.run(["ip", "link", "set", TAP, "down"], check=True)
        started(weir_dp, port="tap", to=None)
        weir_dp.start_traffic({0: 10_000}, 10**7, 0)
        counts = result(weir_dp).streams[0]
        assert counts.tx_refused == counts.offered > 0
        assert weir_dp.ledger().ports[0].tx_errors == 0
    finally:
        reset(weir_dp)
