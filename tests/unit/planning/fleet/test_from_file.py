# SPDX-License-Identifier: Apache-2.0
"""From rates to cores, from gigabytes to whole numbers: never less than is needed or more than there is."""

from __future__ import annotations

from weir.lab.fleet import AntiAffinity, FleetChain, FleetFile, FleetHost, NumaNode
from weir.planning.fleet.instance import UNLIMITED, fleet_of, needs

NODE = NumaNode(count=2, cores=10, memory_gb=31.9999, link_gbps=25)


def test_each_area_has_cores_of_its_own_from_rate_cycles_clock_and_cur() -> None:
    chain = FleetChain(rate_pps=2e6, cycles_per_packet=(400, 900), frame_bytes=64)
    host = FleetHost(numa=(NODE,), cpu_ghz=2.0, cur=0.5)
    # 0.8 and 1.8 cores; 2 Mpps of 84 B on the wire
    assert needs(chain, host) == (1 + 2, 0, 0, 1344)
    assert needs(chain, FleetHost(numa=(NODE,), cpu_ghz=4.0, cur=1.0))[0] == 1 + 1


def test_a_rate_that_needs_a_whole_number_of_cores_gets_no_more() -> None:
    chain = FleetChain(rate_pps=3e6, cycles_per_packet=(700,))
    assert needs(chain, FleetHost(numa=(NODE,), cpu_ghz=2.1, cur=1.0))[0] == 1


def test_needs_are_rounded_up_and_capacities_down() -> None:
    file = FleetFile(
        weir=1,
        name="one",
        hosts={"h": FleetHost(numa=(NODE,), zone="b"), "i": FleetHost(numa=(NODE,), zone="a", link_gbps=30)},
        chains={
            "c": FleetChain(cores=1, memory_gb=1.0001, zones=("a",), per_host=2),
            "d": FleetChain(cores=1, hosts=("h",)),
        },
        anti_affinity=(AntiAffinity(chains=("c", "d"), per_zone=3),),
    )
    fleet = fleet_of(file)
    assert fleet.hosts[0].nodes == ((10, 31999, 0, 25000),) * 2
    assert [host.link_mbps for host in fleet.hosts] == [UNLIMITED, 30000]
    assert [host.zone for host in fleet.hosts] == [1, 0]
    assert fleet.chains[0].needs == (None, (1, 1001, 0, 0))
    assert fleet.chains[1].needs[1] is None
    assert [(sorted(rule.chains), rule.per_host, rule.per_zone) for rule in fleet.rules] == [
        ([0], 2, None),
        ([0, 1], None, 3),
    ]
