# SPDX-License-Identifier: Apache-2.0
"""What weir-dp is told of a lab's connections. Pure."""

from __future__ import annotations

from weir.base.si import MS_PER_S, NS_PER_S
from weir.base.topology import Topology
from weir.lab.lab import Lab
from weir.plan.carried import Protocol, let_through
from weir.plan.topology import PlanError, next_hop
from weir.protocol.connections import Clients, ConnectionsConfigure, Servers, Service
from weir.protocol.errors import refusing

LEFT, RIGHT = "tester.left", "tester.right"


@refusing()
def connections(topology: Topology, lab: Lab) -> ConnectionsConfigure:
    """Clients at the left end, servers at the right one. PlanError for a lab without connections.

    A packet's destination is the next hop's port, so that a learning bridge delivers it.
    """
    wanted = lab.traffic.connections
    if wanted is None:
        raise PlanError("the lab has no connections; expected traffic.connections")
    _check_carried(topology, lab)
    (source, _), (destination, _) = lab.traffic.sent()
    left, right = topology.port(LEFT), topology.port(RIGHT)
    first_port, last_port = wanted.client_ports
    return ConnectionsConfigure(
        clients=Clients(
            port=LEFT,
            src_mac=left.mac,
            dst_mac=next_hop(topology, left).mac,
            address=source,
            addresses=wanted.clients,
            first_port=first_port,
            last_port=last_port,
        ),
        servers=Servers(
            port=RIGHT,
            src_mac=right.mac,
            dst_mac=next_hop(topology, right).mac,
            address=destination,
            addresses=wanted.servers,
        ),
        vlan=lab.traffic.vlan,
        mss=wanted.mss,
        retries=wanted.retries,
        retransmit_ns=round(wanted.retransmit_ms / MS_PER_S * NS_PER_S),
        seed=lab.measure.seed,
        services=tuple(
            Service(
                l4=one.l4,
                port=one.port,
                weight=one.weight,
                transactions=one.transactions,
                request_bytes=one.request_bytes,
                answer_bytes=one.answer_bytes,
                think_ns=round(one.think_ms / MS_PER_S * NS_PER_S),
                close=one.close,
            )
            for one in wanted.services
        ),
    )


def _check_carried(topology: Topology, lab: Lab) -> None:
    """PlanError where a function lets the connections' version of IP through on no account: none would be
    completed, whatever the load."""
    protocol: Protocol = "IPv6" if lab.traffic.ip == 6 else "IPv4"
    for who, through in let_through(topology):
        if protocol not in through:
            raise PlanError(
                f"{who} lets no {protocol} through, and connections are of {protocol}; expected another"
                f" function, options with which it carries {protocol}, or traffic.ip {10 - lab.traffic.ip}"
            )
