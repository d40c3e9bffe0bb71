# SPDX-License-Identifier: Apache-2.0
"""The peer of bench bring-up: a chain of N two-port functions between two tester hosts, by Mininet.

Runs under the system's Python (Debian package mininet), not in Weir's virtual environment:
`/usr/bin/python3 bench/mininet_chain.py N` prints the seconds from the empty Mininet object to a started
network, then stops it. Only Mininet's own objects are removed.
"""

from __future__ import annotations

import itertools
import sys
import time

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge


def bring_up_seconds(functions: int) -> float:
    """Seconds to build and start tester, N functions and N + 1 Linux bridges, each host in a namespace."""
    begin = time.perf_counter()
    net = Mininet(controller=None, switch=LinuxBridge, autoSetMacs=True)
    names = ["t0", *(f"f{index}" for index in range(1, functions + 1)), "t1"]
    hosts = [net.addHost(name) for name in names]
    for index, (left, right) in enumerate(itertools.pairwise(hosts)):
        bridge = net.addSwitch(f"s{index}")
        net.addLink(left, bridge)
        net.addLink(bridge, right)
    net.start()
    taken = time.perf_counter() - begin
    net.stop()
    return taken


if __name__ == "__main__":
    print(bring_up_seconds(int(sys.argv[1])))
