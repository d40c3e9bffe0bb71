# SPDX-License-Identifier: Apache-2.0
"""What a cloud's filters have dropped, by instance and reason: from the filters' own counters."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weir.base.cloud import CloudNode, CloudTopology, Security
from weir.base.error import FabricError
from weir.fabric import namespace
from weir.fabric.openvswitch import call
from weir.plan.cloud import names
from weir.plan.cloud.security import bridge_filter, ovs_conntrack

_READ_S = 20.0
_SAVED = re.compile(
    rf'^\[(?P<packets>\d+):\d+\] .*--comment "{bridge_filter.COMMENT} '
    r'(?P<network>\d+) (?P<instance>\d+) (?P<reason>\w+)"'
)
Counted = tuple[int, int, str, int]
"""Network, instance, reason, packets."""
_FLOW = re.compile(r"\bcookie=(?P<cookie>0x[0-9a-f]+).*?\bn_packets=(?P<packets>\d+)")


@dataclass(frozen=True)
class Drop:
    """Packets that a filter dropped since it was made."""

    of: str
    """The instance before or behind it; the tenant, or the node, where it is of none in particular."""
    reason: str
    packets: int


def drops(topology: CloudTopology, run_dir: Path) -> list[Drop]:
    """Of every filter, also those that dropped nothing yet. FabricError if they cannot be read."""
    found: dict[tuple[str, str], int] = {}
    for node in topology.compute_nodes():
        for network, instance, reason, packets in _read(topology, node, run_dir):
            key = _named(topology, node, network, instance), reason
            found[key] = found.get(key, 0) + packets
    return [Drop(of, reason, packets) for (of, reason), packets in found.items()]


def _read(topology: CloudTopology, node: CloudNode, run_dir: Path) -> Iterator[Counted]:
    return READERS[topology.security](topology, node, run_dir)


def _of_bridges(topology: CloudTopology, node: CloudNode, _run_dir: Path) -> Iterator[Counted]:
    if topology.instances_at(node.name):
        netns = topology.namespace(node.name)
        yield from of_nftables(_said(netns, ["nft", "-j", "list", "counters", "table", "bridge", "weir"]))
        yield from of_iptables(_said(netns, ["iptables-save", "-c", "-t", "filter"]))


def _of_switch(_topology: CloudTopology, node: CloudNode, run_dir: Path) -> Iterator[Counted]:
    directory = run_dir / names.ovs_directory(node.name)
    management = f"unix:{directory}/{names.INTEGRATION}.mgmt"
    return of_flows(call(["ovs-ofctl", "-O", "OpenFlow14", "dump-flows", management], directory))


def _of_none(*_where: object) -> Iterator[Counted]:
    return iter(())


READERS: Mapping[Security, Callable[[CloudTopology, CloudNode, Path], Iterator[Counted]]] = {
    "bridge-filter": _of_bridges,
    "ovs-conntrack": _of_switch,
    "none": _of_none,
}
"""Of each way to filter, what it counts."""


def of_nftables(listed: str) -> Iterator[Counted]:
    """Of the counters of a node's bridges, as `nft -j list counters` says them (libnftables-json(5))."""
    for one in json.loads(listed)["nftables"]:
        if "counter" in one:
            reason, network, instance = bridge_filter.reading(one["counter"]["name"])
            yield network, instance, reason, int(one["counter"]["packets"])


def of_iptables(saved: str) -> Iterator[Counted]:
    """Of the rules of a node's security groups, as `iptables-save -c` says them (iptables-save(8))."""
    for line in saved.splitlines():
        match = _SAVED.match(line)
        if match is not None:
            yield int(match["network"]), int(match["instance"]), match["reason"], int(match["packets"])


def of_flows(dumped: str) -> Iterator[Counted]:
    """Of a node's switch, as `ovs-ofctl dump-flows` says its flows (ovs-ofctl(8))."""
    for line in dumped.splitlines():
        match = _FLOW.search(line)
        read = ovs_conntrack.reading(int(match["cookie"], 16)) if match is not None else None
        if match is not None and read is not None:
            reason, network, instance = read
            yield network, instance, reason, int(match["packets"])


def _named(topology: CloudTopology, node: CloudNode, network: int, instance: int) -> str:
    if network == 0:
        return node.name
    of = topology.all_networks()[network - 1]
    return of.instances[instance - 1].name if instance else of.name


def _said(netns: str, argv: list[str]) -> str:
    try:
        with namespace.inside(netns):
            done = subprocess.run(
                argv, capture_output=True, text=True, timeout=_READ_S, check=False, stdin=subprocess.DEVNULL
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FabricError(f"cannot read the filters of {netns}: {error}") from error
    if done.returncode != 0:
        raise FabricError(f"cannot read the filters of {netns}: {done.stderr.strip()}")
    return done.stdout
