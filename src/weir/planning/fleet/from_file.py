# SPDX-License-Identifier: Apache-2.0
"""From a fleet file to whole numbers: cores from rates, MB and Mbit/s, needs rounded up, capacities down."""

from __future__ import annotations

import math

from weir.lab.fleet import FleetChain, FleetFile, FleetHost
from weir.planning.fleet.instance import UNLIMITED, Amounts, ChainClass, Fleet, HostClass, Rule

PER_GIGA = 1000
WIRE_BYTES = 20  # preamble and gap of each frame
SLIP = 1e-9  # of a whole number, by which floating point may miss it


def fleet_of(file: FleetFile) -> Fleet:
    """What the solver is asked."""
    zones = sorted({host.zone for host in file.hosts.values()})
    hosts = tuple(_host(name, host, zones.index(host.zone)) for name, host in file.hosts.items())
    chains = tuple(
        ChainClass(
            name,
            chain.count,
            tuple(
                needs(chain, host) if _may_stand(chain, key, host) else None
                for key, host in file.hosts.items()
            ),
        )
        for name, chain in file.chains.items()
    )
    return Fleet(hosts, chains, tuple(_rules(file)))


def needs(chain: FleetChain, host: FleetHost) -> Amounts:
    """Of one chain on that class of hosts.

    Cores by the papers' rate = clock · CUR / cycles a packet: each area has cores of its own.
    """
    cores = chain.cores
    if cores is None:
        cycles_per_s = host.cpu_ghz * 1e9 * host.cur
        cores = sum(_up((chain.rate_pps or 0) * cycles / cycles_per_s) for cycles in chain.cycles_per_packet)
    gbps = chain.link_gbps or 0.0
    if chain.frame_bytes is not None:
        gbps = (chain.rate_pps or 0) * (chain.frame_bytes + WIRE_BYTES) * 8 / 1e9
    return cores, _up(chain.memory_gb * PER_GIGA), _up(chain.hugepages_gb * PER_GIGA), _up(gbps * PER_GIGA)


def _may_stand(chain: FleetChain, name: str, host: FleetHost) -> bool:
    return (chain.hosts is None or name in chain.hosts) and (chain.zones is None or host.zone in chain.zones)


def _host(name: str, host: FleetHost, zone: int) -> HostClass:
    nodes = tuple(
        (node.cores, _down(node.memory_gb), _down(node.hugepages_gb), _link(node.link_gbps))
        for node in host.numa
        for _ in range(node.count)
    )
    return HostClass(name, host.count, nodes, host.cost, _link(host.link_gbps), zone)


def _rules(file: FleetFile) -> list[Rule]:
    index = {name: position for position, name in enumerate(file.chains)}
    own = [
        Rule(name, frozenset({index[name]}), chain.per_host, chain.per_zone)
        for name, chain in file.chains.items()
        if chain.per_host is not None or chain.per_zone is not None
    ]
    groups = [
        Rule(
            f"anti_affinity[{position}]",
            frozenset(index[name] for name in group.chains),
            group.per_host,
            group.per_zone,
        )
        for position, group in enumerate(file.anti_affinity)
    ]
    return own + groups


def _link(gbps: float | None) -> int:
    return UNLIMITED if gbps is None else _down(gbps)


def _up(value: float) -> int:
    return math.ceil(value - SLIP * max(1.0, value))


def _down(giga: float) -> int:
    return math.floor(giga * PER_GIGA * (1 + SLIP) + SLIP)
