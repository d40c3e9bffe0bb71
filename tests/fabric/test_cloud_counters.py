# SPDX-License-Identifier: Apache-2.0
"""How a measured cloud's counters are read, and what the places are called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir.fabric import namespace, netlink
from weir.fabric.cloud.counters import CloudCounters, End, conntrack_drops
from weir.fabric.cloud.sent_again import SentAgain
from weir.fabric.cloud.watch import SwitchPorts, switch_areas
from weir.fabric.counters import Counter
from weir.fabric.outside.reading import Reading, Thread
from weir.lab.tenants import Tenant, TenantFunction, TenantsFile
from weir.plan.cloud import cloud_steps, measured_topology
from weir.results.result import AreaLoad

TABLE = """entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop
0000000a  00000000 00000001 00000000 0000002c 00000007 00000000 00000000 00000000 00000003 0000000f 00000001
0000000a  00000000 00000001 00000000 0000002c 00000007 00000000 00000000 00000000 00000001 00000001 00000000
"""


def test_connection_tracking_tells_what_it_dropped_for_each_cpu() -> None:
    assert {one.reason: one.value for one in conntrack_drops("blue.router", TABLE)} == {
        "conntrack_drop": 16,
        "conntrack_early_drop": 1,
        "conntrack_insert_failed": 4,
    }
    assert conntrack_drops("blue.router", "") == []


@pytest.fixture
def counters(tmp_path: Path) -> CloudCounters:
    tenants = TenantsFile(
        weir=1, name="cloud", tenants=(Tenant(name="blue", functions=(TenantFunction(name="dpi"),)),)
    )
    topology = measured_topology(tenants, "cloud-12345678", (0, 1))
    return CloudCounters(topology, cloud_steps(topology), tmp_path)


@pytest.mark.parametrize(
    ("at", "interface", "place"),
    [
        ("compute1", "qvo1.1", "compute1:qvo of blue.1"),
        ("compute1", "tap1.2", "compute1:tap of blue.dpi"),
        ("network", "qr1", "network:qr1"),
        ("compute1", "eth1", "compute1:eth1"),
        ("blue.1", "eth0", "blue.1:eth0"),
        ("blue.router", "qg", "blue.router:qg"),
    ],
)
def test_a_place_is_called_by_whose_it_is(
    counters: CloudCounters, at: str, interface: str, place: str
) -> None:
    assert counters.place(End(f"weir-12345678-{at}", interface)) == place


def refused_and_rest(first: int, second: int, rest: int) -> tuple[list[Counter], Counter]:
    places = {"compute1:eth1": first, "compute1:qvo of a.1": second}
    refused = [Counter(place, "interface_tx_dropped", "drop", value) for place, value in places.items()]
    return refused, Counter("compute1:openvswitch", "not_forwarded", "drop", rest)


def test_what_a_switch_sent_again_is_no_loss_where_it_was_refused() -> None:
    again = SentAgain()
    before = again.without(*refused_and_rest(10, 5, 3))
    assert [one.value for one in before] == [10, 5, 3]
    after = again.without(*refused_and_rest(30, 12, -5))
    more = [one.value - first.value for one, first in zip(after, before, strict=True)]
    assert more == [12, 7, 0]
    assert sum(more) == 20 + 7 - 8
    later = again.without(*refused_and_rest(31, 12, -3))
    assert [one.value - first.value for one, first in zip(later, after, strict=True)] == [1, 0, 2]


def test_what_a_switch_sent_besides_stays_a_residual() -> None:
    again = SentAgain()
    again.without(*refused_and_rest(0, 0, 0))
    after = again.without(*refused_and_rest(1, 0, -3))
    assert sum(one.value for one in after) == -2


def spent(at_s: float, main_s: float, idle_s: float) -> Reading:
    """By a node's switch."""
    threads = [Thread(7, "ovs-vswitchd", 1, main_s), Thread(8, "revalidator5", 1, idle_s)]
    return Reading(at_s, {}, {}, {}, {"compute1": threads})


def main_area(*, in_kernel: bool) -> AreaLoad:
    """Of the switch's main thread, which worked for half a second."""
    ports = {"compute1": SwitchPorts(("compute1:qvo of a.1", "compute1:eth1"), 500)}
    was, now = spent(0.0, 1.0, 1.0), spent(2.0, 1.5, 1.0001)
    (area,) = switch_areas(was, now, ports, 1e9, in_kernel=in_kernel)
    assert (area.name, area.core, area.kind) == ("compute1:ovs-vswitchd.main", 1, "thread")
    assert area.busy_cycles == 500_000_000
    return area


def test_threads_of_a_nodes_switch_are_areas_and_the_main_one_takes_what_comes_to_its_ports() -> None:
    area = main_area(in_kernel=False)
    assert area.packets == 500
    assert area.paths[0].inputs == ["compute1:qvo of a.1", "compute1:eth1"]


def test_where_the_kernel_forwards_no_thread_of_the_switch_is_said_to_have_forwarded() -> None:
    area = main_area(in_kernel=True)
    assert (area.packets, area.paths) == (0, [])


def interface(**counted: int) -> dict[str, int]:
    fields = [f"{way}_{field}" for way in ("rx", "tx") for field in ("packets", "dropped", "errors")]
    return dict.fromkeys(fields, 0) | {"index": 1} | counted


@contextmanager
def no_packet_sockets(*_made_inside: object) -> Iterator[SimpleNamespace]:
    yield SimpleNamespace(drops=dict)


def test_a_packet_that_is_too_long_for_an_interface_is_lost_there_and_nowhere_else(
    counters: CloudCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(netlink, "opened", no_packet_sockets)
    monkeypatch.setattr(namespace, "inside", lambda _netns: None)
    monkeypatch.setattr(CloudCounters, "_upcalls_lost", lambda _self, _node: 1)
    node = counters._topology.node("compute1")
    sent = interface(tx_packets=88, tx_dropped=4, tx_errors=5)
    ends = {"qvo1.1": interface(rx_packets=100), "eth1": sent}
    statistics = defaultdict(dict[str, dict[str, int]], {counters._topology.namespace(node.name): ends})
    told = [*counters._wires(statistics), *counters._switch(node, statistics, [])]
    assert {(one.place, one.reason): one.value for one in told if one.value} == {
        ("compute1:eth1", "interface_tx_errors"): 5,
        ("compute1:eth1", "interface_tx_dropped"): 4,
        ("compute1:openvswitch", "upcall_lost"): 1,
        ("compute1:openvswitch", "not_forwarded"): 100 - 88 - 5 - 4 - 1,
    }
