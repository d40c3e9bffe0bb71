# SPDX-License-Identifier: Apache-2.0
"""Step kind steering: on which cores the kernel works for what comes in at some interfaces of a namespace."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

from weir.base.error import FabricError
from weir.fabric.function.port import core_mask
from weir.fabric.site import Facts, Site
from weir.plan import Step


class Steering:
    """Receive packet steering: whoever sends is done when the packet waits for these cores."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        """FabricError where the kernel has none: the sender would do the work of the whole way itself."""
        netns, interfaces = str(step.params["netns"]), step.params["interfaces"]
        assert isinstance(interfaces, list)
        paths = [f"/sys/class/net/{name}/queues/rx-0/rps_cpus" for name in interfaces]
        # sysfs shows these interfaces from inside only
        argv = ["ip", "netns", "exec", netns, "tee", *paths]
        try:
            done = subprocess.run(
                argv, input=core_mask(step.numbers("cores")), capture_output=True, text=True, check=False
            )
        except OSError as error:
            raise FabricError(
                f"cannot run ip in {netns}: {error.strerror}", "install the Debian package iproute2"
            ) from error
        if done.returncode != 0:
            raise FabricError(
                f"cannot {step.text}: {done.stderr.strip().splitlines()[-1]}",
                "use a kernel with receive packet steering (CONFIG_RPS)",
            )
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: it goes with the interfaces."""
