# SPDX-License-Identifier: Apache-2.0
"""What l3fwd-dpdk and l3fwd-fastclick share: the same routes, packets and port for both sides, one core.

The port gives 4,096 packets again and again (bench.pcap_port). Destinations are drawn from 1,000 routes, /24
each.
"""

from __future__ import annotations

import ipaddress
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.data_plane import forwarded_pps, weir_dp
from bench.dpdk_peer import DpdkPeer
from bench.pairs import Line, SkipError, interleave, line
from bench.pcap_port import pcap_port, udp_frame
from weir.protocol.configuration import Configure

CORE = 1
SECONDS = 0.5
ROUTES = 1000  # DPDK's l3fwd takes 1,024
PACKETS = 4096
NEXT_HOP = "02:00:00:00:01:00"
SRC_MAC = "02:00:00:00:00:aa"


def prefixes() -> list[str]:
    """The routes' prefixes, spread over 10.0.0.0/8."""
    first = int(ipaddress.IPv4Address("10.0.0.0"))
    return [f"{ipaddress.IPv4Address(first + (index * 65 << 8))}/24" for index in range(ROUTES)]


def _frames() -> Iterator[bytes]:
    dice = random.Random(1)
    source = int(ipaddress.IPv4Address("198.51.100.1"))
    networks = [int(ipaddress.IPv4Network(prefix).network_address) for prefix in prefixes()]
    for _ in range(PACKETS):
        yield udp_frame(source, dice.choice(networks) + dice.randrange(1, 255), 1024, 80)


def program(variable: str, what: str) -> str:
    """The peer's binary, from the environment. SkipError if it is not named or not there."""
    path = os.environ.get(variable, "")
    if not path:
        raise SkipError(f"{variable} is not set: the path of {what}")
    if not os.access(path, os.X_OK):
        raise SkipError(f"{variable}={path} cannot be run")
    return path


def against(
    name: str, peer: str, binary: str, *, target: float, application: Callable[[Path], list[str]]
) -> Line:
    """Ratio of packets a second. `application`: the peer's arguments, given a folder for its files."""
    with pcap_port(_frames()) as (folder, devargs), weir_dp(CORE) as client:
        routes = folder / "routes"
        routes.write_text("".join(f"{prefix} {NEXT_HOP}\n" for prefix in prefixes()))
        stage = {"nf": "l3fwd", "options": {"routes": str(routes), "src_mac": SRC_MAC}}
        path = {"name": "through", "in": "port", "out": "port", "stages": [stage]}
        client.configure(
            Configure.model_validate(
                {
                    "ports": [{"name": "port", "devargs": devargs}],
                    "areas": [{"name": "l3fwd", "core": CORE, "kind": "chain", "paths": [path]}],
                    "ledger": True,
                }
            )
        )
        with DpdkPeer(binary, peer, core=CORE, devargs=devargs, application=application(folder)) as other:
            taken = interleave(lambda: forwarded_pps(client, SECONDS), lambda: other.rate_pps(SECONDS))
    return line(name, taken, target=target, unit="pps")
