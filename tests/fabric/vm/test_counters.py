# SPDX-License-Identifier: Apache-2.0
"""What guests say that they lost, as drops by place and reason."""

from __future__ import annotations

from typing import Any

from weir import plan
from weir.base.topology import Topology, migratable
from weir.fabric.counters import Counter
from weir.fabric.vm.counters import kernel_drops, ledger_drops, not_returned
from weir.lab import Lab


def topology() -> Topology:
    text = (
        '{"weir": 1, "name": "vm", "chain": ["PVP"], "technology": ["linux-bridge"], '
        '"functions": {"default": {"kind": "vm", "vm": {"forwarder": "kernel"}}}}'
    )
    lab = Lab.model_validate_json(text)
    return plan.build_topology(lab, "linux-bridge", lab.chains()[0], "vm-0badcafe")


def interface(name: str, **counted: int) -> dict[str, Any]:
    zeros = dict.fromkeys(("rx_dropped", "rx_errors", "tx_dropped", "tx_errors"), 0)
    return {"name": name, **zeros, **counted}


def test_a_kernel_loses_at_interfaces_in_their_queues_and_where_it_rewrites() -> None:
    action = {"stats": {"drops": 7}}
    answer = {
        "left": interface("eth0", rx_dropped=2, rx_errors=1),
        "right": interface("eth1"),
        "queues": [
            {"dev": "eth1", "root": True, "drops": 5},
            {"dev": "eth1", "parent": ":1", "drops": 5},
            {"dev": "eth0", "parent": "ffff:fff1", "drops": 9},
        ],
        "rewriting": {"left": [{"kind": "matchall"}, {"options": {"actions": [action]}}], "right": []},
    }
    lost = {(one.place, one.reason): one.value for one in kernel_drops(topology().functions()[0], answer)}
    assert {key: value for key, value in lost.items() if value} == {
        ("f1 guest:left", "rx_dropped"): 3,
        ("f1 guest:right", "queue_full"): 5,
        ("f1 guest:left", "not_rewritten"): 7,
    }


def test_a_guests_weir_dp_loses_at_ports_paths_and_stages() -> None:
    ledger = {
        "ports": [{"name": "f1.left", "rx_missed": 4, "rx_nombuf": 0, "tx_errors": 0}],
        "areas": [
            {
                "name": "f1",
                "paths": [
                    {
                        "name": "right",
                        "drops": {"tx_queue_full": 3},
                        "stages": [{"nf": "nat", "drops": {"no_port": 2}, "held": 1}],
                    }
                ],
            }
        ],
    }
    lost = {(one.place, one.reason): one.value for one in ledger_drops(ledger) if one.value}
    assert lost == {
        ("guest:f1.left", "rx_missed"): 4,
        ("guest:f1/right", "tx_queue_full"): 3,
        ("guest:f1/right/nat", "no_port"): 2,
        ("guest:f1/right/nat", "held"): 1,
    }


def test_an_unknown_image_has_lost_what_it_took_and_did_not_give_back() -> None:
    node = topology().functions()[0]
    outside = [
        Counter("switch:f1.left tx", None, "packets", 100),
        Counter("switch:f1.left rx", None, "packets", 20),
        Counter("switch:f1.right tx", None, "packets", 30),
        Counter("switch:f1.right rx", None, "packets", 90),
        Counter("switch:f1.right", "interface_tx_dropped", "drop", 5),
        Counter("switch:tester.left rx", None, "packets", 7),
    ]
    assert not_returned(topology(), node, outside).value == 20


def test_of_failover_pairs_all_devices_count_and_announcements_do_not() -> None:
    ready = migratable(topology(), "f1")
    counted = {
        "switch:f1.left.p tx": 50,
        "switch:f1.left.to tx": 40,
        "switch:f1.right.p rx": 48,
        "switch:f1.right.to rx": 33,
        "switch:net0 broadcast": 2,
        "switch:net1 broadcast": 3,
    }
    outside = [Counter(place, None, "packets", value) for place, value in counted.items()]
    assert not_returned(ready, ready.functions()[0], outside).value == 90 - (81 - 5)
