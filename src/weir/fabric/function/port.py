# SPDX-License-Identifier: Apache-2.0
"""Step kind function-port: an interface of a function that is a network namespace."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from weir.base.error import FabricError
from weir.base.topology import Topology
from weir.fabric.counters import Counter
from weir.fabric.function.counters import namespace_counters
from weir.fabric.links import index
from weir.fabric.offloads import switch_off_offloads
from weir.fabric.site import Facts, Site
from weir.plan import Step

_BITS_A_WORD = 32


class FunctionPort:
    """Its MAC address, no offloads, addresses, and the cores that take what comes in."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError if the kernel keeps an offload that changes frames."""
        params = step.params
        netns, interface = str(params["netns"]), str(params["interface"])
        route = site.route(netns)
        number = index(site, netns, interface)
        switch_off_offloads(netns, interface)
        try:
            route.link("set", index=number, address=str(params["mac"]))
            for one in _texts(params["addresses"]):
                address, _, length = one.partition("/")
                route.addr("add", index=number, address=address, prefixlen=int(length))
        except NetlinkError as error:
            raise FabricError(f"cannot {step.text}: {error}") from error
        cores = step.numbers("cores")
        return {"rps": _steer(netns, interface, cores)} if cores else {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: all of it goes with the interface."""

    def counters(self, topology: Topology, site: Site, outside: Sequence[Counter]) -> list[Counter]:  # noqa: ARG002
        """What was lost between such interfaces."""
        return namespace_counters(topology, site)


def _texts(values: object) -> list[str]:
    return [str(one) for one in values] if isinstance(values, list) else []


def core_mask(cores: list[int]) -> str:
    """As sysfs wants it: hexadecimal words of 32 bits, the highest first."""
    bits = sum(1 << core for core in cores)
    words: list[str] = []
    while bits or not words:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= _BITS_A_WORD
    return ",".join(reversed(words))


def _steer(netns: str, interface: str, cores: list[int]) -> bool:
    """Whether the kernel has receive packet steering. sysfs shows these interfaces from inside only."""
    path = f"/sys/class/net/{interface}/queues/rx-0/rps_cpus"
    argv = ["ip", "netns", "exec", netns, "tee", path]
    try:
        done = subprocess.run(argv, input=core_mask(cores), capture_output=True, text=True, check=False)
    except OSError as error:
        raise FabricError(
            f"cannot run ip in {netns}: {error.strerror}", "install the Debian package iproute2"
        ) from error
    return done.returncode == 0
