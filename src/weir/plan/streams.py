# SPDX-License-Identifier: Apache-2.0
"""What the tester sends: the arguments of weir-dp's `traffic.configure` command for one frame size.

Addresses are those set aside for benchmarks: 198.18.0.0/15 (RFC 2544, RFC 6815) and 2001:2::/48 (RFC 5180).
The frame's destination is the next hop's port, so that a learning bridge delivers it.
"""

from __future__ import annotations

from typing import Any

from weir.base.topology import Topology
from weir.lab.frames import IMIX_PREFIX
from weir.lab.lab import Lab
from weir.lab.traffic import Traffic
from weir.plan.architecture import next_hop

_ADDRESSES = {4: ("198.18.0.1", "198.19.0.1"), 6: ("2001:2:0:1::1", "2001:2:0:2::1")}
# RFC 4814: source ports from 1024 on, destination ports from 1 to 49151.
_SRC_PORT = 1024
_DST_PORT = 1024


def streams(topology: Topology, lab: Lab, frame: str) -> dict[str, Any]:
    """The arguments of `traffic.configure`: stream 0 left to right, and stream 1 back if bidirectional."""
    ways = [("tester.left", "tester.right")]
    if lab.tester.direction == "bidirectional":
        ways.append(("tester.right", "tester.left"))
    return {"streams": [_stream(topology, lab, frame, *numbered) for numbered in enumerate(ways)]}


def _stream(topology: Topology, lab: Lab, frame: str, number: int, way: tuple[str, str]) -> dict[str, Any]:
    traffic, flows = lab.traffic, lab.traffic.flows
    port = topology.port(way[0])
    imix = frame.startswith(IMIX_PREFIX)
    return {
        "id": number,
        "port": way[0],
        "to": way[1],
        "frame": {"imix": frame.removeprefix(IMIX_PREFIX)} if imix else {"bytes": int(frame)},
        "template": template(traffic, port.mac, next_hop(topology, port).mac, back=number == 1),
        "flows": {
            "count": flows.count,
            "distribution": flows.distribution,
            "zipf_s": flows.zipf_s,
            "seed": lab.measure.seed + number,
            "vary": list(flows.vary),
        },
        "pacing": traffic.pacing,
    }


def template(traffic: Traffic, src_mac: str, dst_mac: str, *, back: bool = False) -> dict[str, Any]:
    """Headers of a stream's first flow, from left to right; or `back`, from right to left."""
    source, destination = _ADDRESSES[traffic.ip][:: -1 if back else 1]
    headers: dict[str, Any] = {
        "ip": traffic.ip,
        "l4": traffic.l4,
        "src_mac": src_mac,
        "dst_mac": dst_mac,
        "src_ip": source,
        "dst_ip": destination,
        "src_port": _SRC_PORT,
        "dst_port": _DST_PORT,
    }
    if traffic.vlan is not None:
        headers["vlan"] = traffic.vlan
    return headers
