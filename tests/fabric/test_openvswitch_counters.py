# SPDX-License-Identifier: Apache-2.0
"""Drop counters in the text of `dpctl/show -s`, of both datapaths, beside those of the same interfaces."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import pytest

from weir import plan
from weir.base.topology import Topology, switch_namespace
from weir.fabric import counters
from weir.fabric.counters import kernel_counters, not_sent, openvswitch_counters, parse
from weir.fabric.function.counters import lost
from weir.fabric.site import Site
from weir.lab import Lab

SHOWN = """netdev@ovs-netdev:
  lookups: hit:90 missed:10 lost:3
  port 0: ovs-netdev (tap)
    RX packets:0 errors:0 dropped:7 overruns:0 frame:0
    TX packets:0 errors:0 dropped:0 aborted:0 carrier:0
  port 1: tester.left (dpdkvhostuserclient: configured_rx_queues=1)
    RX packets:100 errors:0 dropped:0 overruns:? frame:?
    TX packets:40 errors:0 dropped:60 aborted:? carrier:?
"""
TESTERS, BEFORE, FUNCTIONS, BACK = 7, 93, 60, 40
"""Packets that found a backlog full: the tester's, those for the function, the function's, those back."""
SENT = 1000
GIVEN = SENT - BEFORE
RETURNED = GIVEN - FUNCTIONS
DELIVERED = RETURNED - BACK


def test_drops_and_packets_of_the_chains_ports() -> None:
    found = {(one.place, one.reason): one.value for one in parse(SHOWN, {"tester.left": True})}
    assert found["switch", "upcall_lost"] == 3
    assert found["switch lookups", None] == 100
    assert found["switch:tester.left rx_packets", None] == 100
    assert not any("ovs-netdev" in place for place, _reason in found)


def test_a_full_queue_is_a_drop_of_the_port() -> None:
    found = {(one.place, one.reason): one.value for one in parse(SHOWN, {"tester.left": True})}
    assert found["switch:tester.left tx_packets", None] == 40
    assert found["switch:tester.left", "tx_queue_full"] == 60


def test_what_the_datapath_gave_to_no_interface_was_not_sent() -> None:
    ends = [{"tx_packets": 50, "tx_dropped": 10}, {"tx_packets": 30, "tx_dropped": 0}]
    found = not_sent(SHOWN, ends)
    assert found is not None
    assert (found.reason, found.value) == ("not_sent", 100 - 3 - 90)


def interface(**counted: int) -> dict[str, int]:
    """Of one end of a veth pair."""
    fields = ("packets", "dropped", "errors")
    zero = {f"{way}_{field}": 0 for way in ("rx", "tx") for field in fields}
    return zero | {"index": 1} | counted


SWITCHS = {
    "tester.left": interface(rx_packets=SENT, rx_dropped=TESTERS),
    "f1.left": interface(tx_packets=GIVEN, tx_dropped=BEFORE),
    "f1.right": interface(rx_packets=RETURNED, rx_dropped=FUNCTIONS),
    "tester.right": interface(tx_packets=DELIVERED, tx_dropped=BACK),
}
"""A backlog that is full is counted at both ends of the pair: by who sends, and by who would receive."""
OTHER_ENDS = {
    "t": {
        "left": interface(tx_packets=SENT, tx_dropped=TESTERS),
        "right": interface(rx_packets=DELIVERED, rx_dropped=BACK),
    },
    "f1": {
        "left": interface(rx_packets=GIVEN, rx_dropped=BEFORE),
        "right": interface(tx_packets=RETURNED, tx_dropped=FUNCTIONS),
    },
}


def chain() -> Topology:
    """Linux between two networks of Open vSwitch."""
    functions = {"linux": {"kind": "kernel"}}
    spec = {"weir": 1, "name": "own", "chain": [["linux"]], "technology": "ovs", "functions": functions}
    lab = Lab.model_validate_json(json.dumps(spec))
    return plan.build_topology(lab, "ovs", lab.chains()[0], "own-0badcafe")


def shown(datapath: str, own: str, times: int) -> str:
    """As Open vSwitch 3.1 shows these interfaces, whose drops it has so many times. `own`: between both."""
    text = f"{datapath}:\n  lookups: hit:{SENT + RETURNED - 5} missed:5 lost:0\n  flows: 2\n{own}"
    for number, (name, one) in enumerate(SWITCHS.items(), 1):
        text += (
            f"  port {number}: {name}\n"
            f"    RX packets:{one['rx_packets']} errors:0 dropped:{times * one['rx_dropped']} "
            "overruns:0 frame:0\n"
            f"    TX packets:{one['tx_packets']} errors:0 dropped:{times * one['tx_dropped']} "
            "aborted:0 carrier:0\n"
            "    collisions:0\n"
            "    RX bytes:64000 (62.5 KiB)  TX bytes:0\n"
        )
    return text


OWN_IN_KERNEL = """  masks: hit:1847 total:1 hit/pkt:1.00
  caches:
    masks-cache:
      size: 256
  port 0: ovs-system (internal)
    RX packets:0 errors:0 dropped:9 overruns:0 frame:0
    TX packets:0 errors:0 dropped:0 aborted:0 carrier:0
"""
KERNEL = shown("system@ovs-system", OWN_IN_KERNEL, times=2)
USERSPACE = shown("netdev@ovs-netdev", "  port 0: ovs-netdev (tap)\n", times=1)


@pytest.mark.parametrize(("in_kernel", "text"), [(True, KERNEL), (False, USERSPACE)])
def test_each_drop_at_an_interface_is_told_once_under_either_datapath(
    in_kernel: bool, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = chain()
    tables = {switch_namespace(topology): SWITCHS}
    tables |= {f"weir-0badcafe-{name}": ends for name, ends in OTHER_ENDS.items()}
    monkeypatch.setattr(counters, "interfaces_of", lambda netns: tables[netns])
    monkeypatch.setattr(counters, "kernel_forwards", lambda _site, _topology: in_kernel)
    monkeypatch.setattr(counters, "ports_shown", lambda *_site, **_which: text)
    site = cast(Site, SimpleNamespace(packet_sockets=lambda _netns: SimpleNamespace(drops=dict)))
    told = kernel_counters(topology, site, {"tester.right": DELIVERED})
    told += openvswitch_counters(topology, site)
    ports = [port for port in topology.ports if port.node == "f1"]
    told += lost("f1/kernel/linux", ports, OTHER_ENDS["f1"], (), 0)
    drops = [one for one in told if one.kind == "drop" and one.value]
    assert {(one.place, one.reason): one.value for one in drops} == {
        ("tester.left", "interface_tx_dropped"): TESTERS,
        ("switch:f1.left", "interface_tx_dropped"): BEFORE,
        ("f1.right", "interface_tx_dropped"): FUNCTIONS,
        ("switch:tester.right", "interface_tx_dropped"): BACK,
    }
    assert sum(one.value for one in drops) == TESTERS + SENT - DELIVERED
    packets = {one.place: one.value for one in told if one.kind == "packets"}
    assert packets["switch:tester.left rx_packets"] == SENT
    assert packets["switch:f1.left tx_packets"] == GIVEN
    assert packets["switch lookups"] == SENT + RETURNED
