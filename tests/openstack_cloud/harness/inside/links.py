# SPDX-License-Identifier: Apache-2.0
"""Its wires: to this host, to the network outside that floating addresses are of, and for its tunnels."""

from __future__ import annotations

import time
from pathlib import Path

from .. import place
from ..container import ip

_WIRES = {"ext": f"{place.FLOATING_GATEWAY}/{place.FLOATING.partition('/')[2]}", "tun": f"{place.TUNNEL}/24"}
"""A pair each, with the address of its other end. Tunnels are on a wire too: a VXLAN device takes its largest
packet from there, and that of the loopback is too large."""


def make() -> None:
    """Waits for this host's part of it."""
    deadline = time.monotonic() + 20
    while not Path("/sys/class/net", place.INNER_LINK).exists():
        if time.monotonic() > deadline:
            raise TimeoutError(place.INNER_LINK)
        time.sleep(0.05)
    ip("link", "set", "lo", "up")
    ip("addr", "add", f"{place.HOST}/30", "dev", place.INNER_LINK)
    ip("link", "set", place.INNER_LINK, "up")
    for name, address in _WIRES.items():
        ip("link", "add", f"{name}0", "type", "veth", "peer", "name", f"{name}1")
        ip("addr", "add", address, "dev", f"{name}1")
        ip("link", "set", f"{name}0", "up")
        ip("link", "set", f"{name}1", "up")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
