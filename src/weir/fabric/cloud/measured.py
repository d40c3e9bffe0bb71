# SPDX-License-Identifier: Apache-2.0
"""A cloud that stands with a tester, as whoever measures it sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from socket import AF_INET, SOCK_DGRAM, socket

from pyroute2 import IPRoute

from weir.base.cloud import OUTSIDE, CloudTopology, dhcp_name, router_name
from weir.fabric import namespace, netlink, stop_signals
from weir.fabric.cloud.counters import CloudCounters
from weir.fabric.cloud.switch import userspace
from weir.fabric.cloud.watch import VSWITCHD, CloudWatch
from weir.fabric.counters import Counter
from weir.fabric.deployment import Deployment
from weir.fabric.openvswitch import version
from weir.fabric.outside import TakenWatch, taking_part
from weir.fabric.outside.reading import threads_of
from weir.lab.tenants_measure import DISCARD_PORT

_PERMANENT, _KNOWN = 0x80, 0x02 | 0x04 | 0x08 | 0x10
"""NUD_PERMANENT; NUD_REACHABLE, _STALE, _DELAY, _PROBE of linux/neighbour.h."""


class MeasuredCloud:
    """Its counters, its cores, and what its hosts know of each other."""

    def __init__(self, deployment: Deployment, topology: CloudTopology) -> None:
        self._deployment = deployment
        self._topology = topology
        self._counters = CloudCounters(topology, deployment.steps(), deployment.run_dir)

    def counters(self) -> Sequence[Counter]:
        """What every device on the way counted. Ctrl-C waits for its end. FabricError."""
        self._deployment.require_alive()
        with stop_signals.held():
            return self._counters.read()

    def datapath(self) -> str:
        """What switches, with its version."""
        return f"Open vSwitch {version()} ({'userspace' if userspace() else 'kernel'} datapath)"

    def core_watch(self) -> TakenWatch:
        """For times in which others have its cores; close it."""
        started = self._deployment.processes()
        loops = [pid for name, pid in started.items() if name == "weir-dp"]
        return TakenWatch(
            taking_part(self._topology),
            lambda: threads_of(started.values()),
            lambda: threads_of(loops),
        )

    def watch(self) -> CloudWatch:
        """For areas outside weir-dp."""
        started = self._deployment.processes()
        switches = {node.name: started[f"{VSWITCHD}:{node.name}"] for node in self._topology.nodes}
        return CloudWatch(self._topology, switches, self._counters.ports)

    def ask_gateways(self) -> None:
        """Every host that takes part says a word to the host outside, and that one to the first function, or
        to those that it sends to, by its own TCP/IP stack: so it asks for its gateway, and switches learn
        where that is. The tester asks nobody."""
        topology = self._topology
        tester, shared = topology.tester, topology.shared
        assert tester is not None
        for name in tester.senders:
            to = topology.outside if name != OUTSIDE or shared is None else shared.functions[0].address
            self._say(name, to)
        if "right-to-left" in tester.directions:
            for name in tester.senders:
                floating = topology.instance(name)[1].floating
                assert floating is not None
                self._say(OUTSIDE, floating)

    def _say(self, host: str, to: str) -> None:
        with namespace.inside(self._topology.namespace(host)), socket(AF_INET, SOCK_DGRAM) as word:
            word.sendto(b"", (to, DISCARD_PORT))

    def keep_neighbours(self) -> int:
        """What hosts and routers have learnt of each other's MAC addresses by now, they know from now on: an
        ARP request in the middle of a trial would be counted, and is in nobody's load. Returns how many."""
        return sum(self._kept(self._topology.namespace(name)) for name in self._hosts())

    def _hosts(self) -> Iterator[str]:
        yield from (one.name for _, one in self._topology.in_namespaces())
        yield from (router_name(network) for network in self._topology.tenant_networks)
        yield from (dhcp_name(network) for network in self._topology.all_networks())
        yield OUTSIDE

    def _kept(self, netns: str) -> int:
        with netlink.opened(IPRoute, namespace.inside(netns)) as route:
            known = [
                one
                for one in route.get_neighbours(family=AF_INET)
                if one["state"] & _KNOWN and one.get_attr("NDA_LLADDR")
            ]
            for one in known:
                route.neigh(
                    "replace",
                    dst=one.get_attr("NDA_DST"),
                    lladdr=one.get_attr("NDA_LLADDR"),
                    ifindex=one["ifindex"],
                    state=_PERMANENT,
                )
            return len(known)
