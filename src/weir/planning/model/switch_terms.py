# SPDX-License-Identifier: Apache-2.0
"""What a switch costs from one port to the other, as `weir.planning.model.terms` names costs.

- `pmd hop`, `bridge hop`, `netfilter bridge hop`, `openvswitch hop`, `veth hop`, `switch thread hop`: a
  packet from one port of a network to the other one, with taking, looking up and giving: every packet has all
  of it, so no trial tells these apart;
- `… hop across cores`: times the distance of the cores, of what other cores put there or take there;
- `bytes pmd`, `bytes bridge` …: a kilobyte of frame, copied on the way;
- `pmd memory`: times the excess latency of as much memory as the flows in a polling thread's exact-match
  cache take, which all networks share;
- `pmd classifier`: what more a packet costs that the polling thread's exact-match cache does not know.

c0 + c1 S as equation (1) of the execution-area paper has it for the forwarding of virtual switches.
"""

from __future__ import annotations

from dataclasses import replace

from weir.lab.execution import AreaPath, Execution

KILOBYTE = 1000.0
HOP = " hop"
EXACT_ENTRY_BYTES = 576
"""About, of a flow in the exact-match cache: struct emc_entry of Open vSwitch's dpif-netdev-private-dfc.h."""


def hop_terms(path: AreaPath, execution: Execution, excess_cycles: float = 0.0) -> dict[str, float]:
    """Of one packet that comes in on a path of a switch's area. `excess_cycles`: latency of the memory that
    the polling thread's exact-match cache lies in."""
    distance = execution.distance()
    found = {
        f"{path.hop}{HOP}": 1.0,
        f"{path.hop}{HOP} across cores": (path.crossing + path.parting) * distance,
        f"bytes {path.hop}": execution.frame_bytes / KILOBYTE,
    }
    if path.hop == "pmd":
        found["pmd classifier"] = 1 - path.remembered
        found["pmd memory"] = excess_cycles
    return {name: amount for name, amount in found.items() if amount}


def smallest_hop(path: AreaPath, execution: Execution) -> dict[str, float]:
    """The same of a frame of hardly any bytes, of a flow that is known."""
    return hop_terms(replace(path, remembered=1.0), replace(execution, frame_bytes=0.0))
