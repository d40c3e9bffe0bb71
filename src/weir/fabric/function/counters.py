# SPDX-License-Identifier: Apache-2.0
"""What functions that are network namespaces have lost: by the kernel's reasons where it tells them.

What went in at the interfaces and did not come out was lost in the namespace. The counters of IP (RFC 4293),
of queueing disciplines and of nftables say why; what none of them counts is `not_returned`.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pyroute2 import IPRoute

from weir.base.error import FabricError
from weir.base.node import Node, Port
from weir.base.topology import Topology
from weir.fabric import namespace
from weir.fabric.counters import Counter, Statistics, interfaces_of
from weir.fabric.function import vpp, xdp
from weir.fabric.function.dpdk import telemetry
from weir.fabric.function.fastclick import fastclick
from weir.fabric.function.lost import Losses, Lost
from weir.fabric.function.suricata import suricata
from weir.fabric.site import Site
from weir.lab.counterparts import IPVS_ARRIVED, IPVS_TABLE, TABLE_PREFIX, linux_counterpart

_NET = Path("/proc/thread-self/net")
_CALL_S = 10.0
IP_DROPS = (
    "InHdrErrors",
    "InAddrErrors",
    "InUnknownProtos",
    "InDiscards",
    "InNoRoutes",
    "InTruncatedPkts",
    "OutDiscards",
    "OutNoRoutes",
    "FragFails",
)
IP6_DROPS = (*(one for one in IP_DROPS if one != "FragFails"), "InTooBigErrors")
"""Without FragFails, which counts what is too big a second time."""
_ROOT, _INGRESS = 0xFFFFFFFF, 0xFFFFFFF1  # TC_H_ROOT, TC_H_INGRESS, which clsact has too
_DISCIPLINES = {_ROOT: "queue_full", _INGRESS: "tc_dropped"}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def namespace_counters(topology: Topology, site: Site) -> list[Counter]:
    """Of every function that Linux does. FabricError if nftables does not tell what the lab asks of it."""
    nodes = [node for node in topology.namespaced() if not topology.by_socket(node)]
    return [counter for node in nodes for counter in _of(topology, site, node)]


def socket_counters(
    topology: Topology, site: Site, node: Node, outside: Sequence[Counter]
) -> Iterator[Counter]:
    """Of a program with ports at sockets: what its peers gave and did not get back. `outside`: what these
    counted just before."""
    packets = {one.place: one.value for one in outside if one.kind == "packets"}
    ports = [port for port in topology.ports if port.node == node.name]
    rest = 0
    for port in ports:
        link = topology.links[port.link]
        peer = link.left if port.name == link.right else link.right
        place = f"switch:{port.name}" if link.network else f"weir-dp:{peer}"
        rest += packets.get(f"{place} tx_packets", 0) - packets.get(f"{place} rx_packets", 0)
    told = [*_told(site, node, rest)]
    yield from told
    yield Counter(f"{node.name}/program", "not_returned", "drop", rest - sum(one.value for one in told))


def _told(site: Site, node: Node, lost_packets: int) -> Iterator[Counter]:
    """What a program says that it has lost, of what was lost."""
    losses = site.kept(f"losses:{node.name}", Losses)
    for one in losses.of(_said(site, node, lost_packets), lost_packets, under_load=site.under_load):
        yield Counter(f"{node.name}{one.where}", one.reason, "drop", one.packets)


def _said(site: Site, node: Node, lost_packets: int) -> Sequence[Lost]:
    """By DPDK's telemetry, or as the counterpart has it of its own; nothing of all others."""
    who, counterpart = f"program {node.name}", node.program.counterpart if node.program is not None else None
    if counterpart == "suricata":
        return suricata(site, node.name, who).lost(lost_packets)
    if counterpart == "vpp":
        assert node.program is not None
        return vpp.lost(site, node.name, who, node.program.directory, node.program.command[0])
    if counterpart == "fastclick":
        return [*fastclick(site, node.name, who).lost(), *_of_ports(site, node, who)]
    return _of_ports(site, node, who)


def _of_ports(site: Site, node: Node, who: str) -> Sequence[Lost]:
    source = telemetry(site, node.name, who)
    return source.lost() if source is not None else ()


def _of(topology: Topology, site: Site, node: Node) -> list[Counter]:
    ports = [port for port in topology.ports if port.node == node.name]
    netns = topology.namespace_of(node)
    statistics = interfaces_of(netns)
    if node.kind == "program":  # what IP counts is of copies: the program has the packets
        queues = [*_queue_drops(site, netns, ports)]
        *known, rest = lost(f"{node.name}/program", ports, statistics, queues, 0)
        told = [*_told(site, node, rest.value)]
        own = rest.value - sum(one.value for one in told)
        return [*queues, *known, *told, Counter(rest.place, rest.reason, rest.kind, own)]
    with namespace.inside(netns):
        tables = [(_NET / name).read_text(encoding="ascii") for name in ("snmp", "netstat", "snmp6")]
    passed: list[Counter] = []
    if node.kernel is not None and node.kernel.counterpart == "xdp":
        passed = [*xdp.counters(site, netns, ports)]
    told = [
        *ip_drops(node.name, *tables),
        *_queue_drops(site, netns, ports),
        *_nft_drops(node, netns),
    ]
    made = generated(tables[0], tables[2])
    return [*passed, *told, *lost(f"{node.name}/kernel/linux", ports, statistics, told, made)]


def lost(
    place: str,
    ports: Sequence[Port],
    statistics: Mapping[str, Statistics],
    told: Sequence[Counter],
    made: int,
) -> Iterator[Counter]:
    """What no reason covers, and what an interface could not send. `made`: packets of the kernel's own.

    What was received counts once it is past the sender's end, and so past the core's backlog.
    """
    rest = made - sum(counter.value for counter in told)
    for port in ports:
        found = statistics.get(port.interface or "")
        if found is None:
            continue
        yield Counter(port.name, "interface_tx_dropped", "drop", found["tx_dropped"])
        yield Counter(f"{port.name} rx", None, "packets", found["rx_packets"])
        rest += found["rx_packets"] - found["tx_packets"] - found["tx_dropped"]
    yield Counter(place, "not_returned", "drop", rest)


def ip_drops(node: str, snmp: str, netstat: str, snmp6: str) -> list[Counter]:
    """Of the texts of /proc/net/snmp, netstat and snmp6, as proc_net(5) has them."""
    ip = {**_table(snmp).get("Ip", {}), **_table(netstat).get("IpExt", {})}
    ip6 = dict(line.split() for line in snmp6.splitlines() if line.startswith("Ip6"))
    found = [("ip", name, int(ip.get(name, 0))) for name in IP_DROPS]
    found += [("ip6", name, int(ip6.get(f"Ip6{name}", 0))) for name in IP6_DROPS]
    return [
        Counter(f"{node}/kernel/linux", f"{version}_{_WORD.sub('_', name).lower()}", "drop", value)
        for version, name, value in found
    ]


def generated(snmp: str, snmp6: str) -> int:
    """ICMP messages that the kernel has sent: in nobody's input, but in its output."""
    ip6 = dict(line.split() for line in snmp6.splitlines() if line.startswith("Icmp6OutMsgs"))
    return int(_table(snmp).get("Icmp", {}).get("OutMsgs", 0)) + int(ip6.get("Icmp6OutMsgs", 0))


def _table(text: str) -> dict[str, dict[str, int]]:
    """Two lines each: names, then numbers."""
    found: dict[str, dict[str, int]] = {}
    lines = text.splitlines()
    for names, numbers in zip(lines[::2], lines[1::2], strict=False):
        group, _, rest = names.partition(":")
        values = numbers.partition(":")[2].split()
        found[group] = dict(zip(rest.split(), map(int, values), strict=True))
    return found


def _queue_drops(site: Site, netns: str, ports: Sequence[Port]) -> Iterator[Counter]:
    """Of disciplines at the function's ports."""
    ours = {port.interface: port.name for port in ports}
    for interface, reason, packets in queue_drops(site.route(netns)):
        if interface in ours:
            yield Counter(ours[interface], reason, "drop", packets)


def queue_drops(route: IPRoute) -> Iterator[tuple[str, str, int]]:
    """Interface, reason, packets: of disciplines, of which there are none unless a command makes one."""
    names = {int(one["index"]): one.get_attr("IFLA_IFNAME") for one in route.get_links()}
    for one in route.get_qdiscs():
        reason, interface = _DISCIPLINES.get(one["parent"]), names.get(int(one["index"]))
        if reason is None or interface is None:
            continue
        stats = dict((one.get_attr("TCA_STATS2") or {}).get("attrs", ()))
        yield interface, reason, int(stats.get("TCA_STATS_QUEUE", {}).get("drops", 0))


def _nft_drops(node: Node, netns: str) -> Iterator[Counter]:
    assert node.kernel is not None
    by = node.kernel.counterpart
    done = [linux_counterpart(one.nf, by) for one in node.kernel.does]
    tables = any(one is not None and "nft" in one.programs for one in done)
    if not (node.kernel.drop_counters or tables):
        return
    argv = ["ip", "netns", "exec", netns, "nft", "--json", "list", "counters"]
    try:
        listed = subprocess.run(argv, capture_output=True, text=True, timeout=_CALL_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise FabricError(f"nft does not answer in {netns}") from late
    except OSError as error:
        raise FabricError(
            f"cannot run ip in {netns}: {error.strerror}", "install the Debian package iproute2"
        ) from error
    if listed.returncode != 0:
        raise FabricError(f"nft does not list the counters of {netns}: {listed.stderr.strip()}")
    yield from nft_drops(node.name, node.kernel.drop_counters, listed.stdout)
    if by == "ipvs":
        with namespace.inside(netns):
            stats = (_NET / "ip_vs_stats_percpu").read_text(encoding="ascii")
        yield ipvs_drops(node.name, listed.stdout, stats)


def nft_drops(node: str, wanted: Sequence[str], listed: str) -> list[Counter]:
    """Of `nft --json list counters`: those that are wanted, and all of the catalogue's tables. FabricError if
    one that is wanted is not there."""
    counted = _counters(listed)
    for name in wanted:
        if name not in counted:
            there = ", ".join(counted) or "none"
            raise FabricError(
                f"{node} has no counter of nftables called {name}, and it has: {there}",
                "mend kernel.drop_counters, or make it by a command",
            )
    own = [name for name in counted if name.split()[1].startswith(TABLE_PREFIX) and name not in wanted]
    return [Counter(f"{node}/kernel/nft", name.split()[2], "drop", counted[name]) for name in (*wanted, *own)]


def _counters(listed: str) -> dict[str, int]:
    """Packets by family, table and name, of `nft --json list counters`."""
    found = (one["counter"] for one in json.loads(listed)["nftables"] if "counter" in one)
    return {f"{one['family']} {one['table']} {one['name']}": int(one["packets"]) for one in found}


def ipvs_drops(node: str, listed: str, stats: str) -> Counter:
    """What came to a service and IPVS did not take: it has no back-end, or no room for the connection.
    `stats`: /proc/net/ip_vs_stats_percpu, a line for each CPU behind two of heading, hexadecimal: its number,
    connections, packets in, out. Totals, there and in ip_vs_stats, are renewed each two seconds only."""
    arrived = _counters(listed).get(f"ip {IPVS_TABLE} {IPVS_ARRIVED}", 0)
    cpus = itertools.takewhile(lambda words: words[:1] != ["~"], map(str.split, stats.splitlines()[2:]))
    taken = sum(int(words[2], 16) for words in cpus)
    return Counter(f"{node}/kernel/ipvs", "not_scheduled", "drop", arrived - taken)
