# SPDX-License-Identifier: Apache-2.0
"""Its wires: to this host, to the network outside that floating addresses are of and a tester is at, and for
its tunnels."""

from __future__ import annotations

import os
import time
from pathlib import Path

from .. import place
from ..container import ip

_OUTSIDE = "outside"
"""The bridge at which the network outside meets its gateway, which is here, and the tester."""
_ADDRESSES = {
    _OUTSIDE: f"{place.FLOATING_GATEWAY}/{place.FLOATING.partition('/')[2]}",
    "tun1": f"{place.TUNNEL}/24",
}
"""Tunnels are on a wire too: a VXLAN device takes its largest packet from there, and that of the loopback is
too large."""


def make() -> None:
    """Waits for this host's part of it."""
    deadline = time.monotonic() + 20
    while not Path("/sys/class/net", place.INNER_LINK).exists():  # the last of them
        if time.monotonic() > deadline:
            raise TimeoutError(place.INNER_LINK)
        time.sleep(0.05)
    ip("link", "set", "lo", "up")
    ip("addr", "add", f"{place.HOST}/30", "dev", place.INNER_LINK)
    ip("link", "set", place.INNER_LINK, "up")
    ip("link", "add", _OUTSIDE, "type", "bridge")
    for name in ("ext", "tun"):
        ip("link", "add", f"{name}0", "type", "veth", "peer", "name", f"{name}1")
        ip("link", "set", f"{name}0", "up")
    for name in ("ext1", place.INNER_TESTER_LINK):
        ip("link", "set", name, "master", _OUTSIDE, "up")
    for name, address in _ADDRESSES.items():
        ip("addr", "add", address, "dev", name)
        ip("link", "set", name, "up")
    _leave_to_last_core(place.INNER_TESTER_LINK)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def _leave_to_last_core(link: str) -> None:
    """What the kernel does with packets that come in there, which else the sender's core does: a tester polls
    on the first one."""
    cores = sorted(os.sched_getaffinity(0))
    Path(f"/sys/class/net/{link}/queues/rx-0/rps_cpus").write_text(f"{1 << cores[-1]:x}")
