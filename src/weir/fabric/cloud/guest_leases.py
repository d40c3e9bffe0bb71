# SPDX-License-Identifier: Apache-2.0
"""Step kind guest-leases: virtual machines have asked for their addresses, by what the DHCP servers noted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.base.si import MS_PER_S
from weir.fabric import process, stop_signals
from weir.fabric.cloud.dhcp import lease_file
from weir.fabric.cloud.texts import texts
from weir.fabric.site import Facts, Site
from weir.fabric.vm.condition import last_words
from weir.fabric.vm.storage import stored
from weir.plan import Step

_LOOK_S = 0.05


class GuestLeases:
    """Of all machines of a cloud."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError with a machine's last words if it has got no address in time, or has ended."""
        nodes, networks, expected = (texts(step.params[key]) for key in ("nodes", "networks", "expected"))
        limit_s = int(str(step.params["time_limit_ms"])) / MS_PER_S
        deadline = time.monotonic() + limit_s
        for node, network, wanted in zip(nodes, networks, expected, strict=True):
            pid = site.facts_of(f"vm:{node}")["pid"]
            while wanted not in leased(lease_file(site.directory, network)):
                ended = not process.alive(pid)
                if ended or time.monotonic() > deadline:
                    what = "has ended" if ended else f"has got no address by DHCP within {limit_s:g} s"
                    raise FabricError(
                        f"virtual machine {node} {what}: {last_words(stored(site, node))}",
                        "does its image ask for one at its only interface? raise vm.boot_time_limit_s",
                    )
                stop_signals.check()
                time.sleep(_LOOK_S)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: leases go with their server."""


def leased(leases: Path) -> set[str]:
    """MAC and IPv4 addresses that a server gave, as "02:57:00:00:01:01 10.0.0.3": words of the lines in
    its --dhcp-leasefile, dnsmasq(8)."""
    with suppress(FileNotFoundError):
        lines = leases.read_text(encoding="ascii", errors="replace").splitlines()
        return {" ".join(line.split()[1:3]) for line in lines}
    return set()
