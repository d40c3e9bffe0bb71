# SPDX-License-Identifier: Apache-2.0
"""All facts about a machine, for `weir doctor`."""

from __future__ import annotations

import os
from pathlib import Path

from weir.fabric import probe
from weir.fabric.host import cpus, devices, power
from weir.fabric.host.guest import kvm
from weir.fabric.host.software import software
from weir.fabric.host.tree import Tree
from weir.host.facts import Facts, Probes


def facts(root: Path = Path("/")) -> Facts:
    """Of this machine, or of one whose /proc and /sys lie under `root`: then nothing is tried out.

    Never raises for what is missing or forbidden; changes nothing; takes a second or so.
    """
    tree = Tree(root)
    return Facts(
        cpus=cpus.cpus(tree),
        isolation=cpus.isolation(tree),
        power=power.power(tree),
        interrupts=power.interrupts(tree),
        memory=devices.memory(tree),
        devices=devices.devices(tree),
        probes=_probes(tree) if tree.real else Probes(),
        software=software(tree),
        unseen=tree.unseen(),
    )


def _probes(tree: Tree) -> Probes:
    seen = Probes(kvm=kvm(tree), cycle_counter=probe.counts_cycles())
    if os.geteuid() != 0:
        tree.hide("namespaces, links and packet sockets", "only root can make one to see")
        return seen
    namespaces = probe.makes_namespaces()
    return seen.model_copy(
        update={
            "namespaces": namespaces,
            "packet_sockets": probe.opens_packet_sockets(),
            "links": {kind: probe.makes(kind) for kind in ("veth", "bridge")} if namespaces else {},
            "ovs_datapath": probe.ovs_datapath(),
        }
    )
