# SPDX-License-Identifier: Apache-2.0
"""What Open vSwitch's userspace datapath counted, from its own live statistics."""

from __future__ import annotations

import re

from weir.base.topology import Topology
from weir.fabric.counters import Counter
from weir.fabric.openvswitch import ports_shown
from weir.fabric.step_kind import Site

_PORT = re.compile(r"^\s*port \d+: (\S+)", re.M)
_LOOKUPS = re.compile(r"hit:(\d+) missed:(\d+) lost:(\d+)")


def openvswitch_counters(topology: Topology, site: Site) -> list[Counter]:
    """Drops of each port of the chain and of the datapath, and how many packets the datapath looked up."""
    return parse(ports_shown(site), {port.name for port in topology.ports})


def parse(shown: str, ports: set[str]) -> list[Counter]:
    """The counters in `dpctl/show -s`'s text; ports that are not the chain's are left out."""
    counters = []
    lookups = _LOOKUPS.search(shown)
    if lookups is not None:
        hit, missed, lost = map(int, lookups.groups())
        counters.append(Counter("switch", "upcall_lost", "drop", lost))
        counters.append(Counter("switch lookups", None, "packets", hit + missed))
    sections = _PORT.split(shown)[1:]
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        if name not in ports:
            continue
        for line, reason in (("RX", "rx_dropped"), ("TX", "tx_queue_full")):
            found = re.search(rf"{line} packets:(\S+) errors:(\S+) dropped:(\S+)", text)
            if found is None:
                continue
            packets, _errors, dropped = (int(word) if word.isdigit() else 0 for word in found.groups())
            counters.append(Counter(f"switch:{name}", reason, "drop", dropped))
            counters.append(Counter(f"switch:{name} {line.lower()}_packets", None, "packets", packets))
    return counters
