# SPDX-License-Identifier: Apache-2.0
"""The process weir-dp of a deployment: step kind weir-dp."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.built import built
from weir.fabric.host import isolated
from weir.fabric.process import wait_for
from weir.fabric.site import Facts, Site
from weir.plan import Step

_NO_PAGES = "of free hugepages or --no-huge"
"""weir-dp's last words where pages that were free as it looked were another's as it took them."""


class WeirDp:
    """One weir-dp for the whole deployment."""

    def do(self, step: Step, site: Site) -> Facts:
        """Starts it and waits until its socket answers. Without hugepages, where others have taken those that
        were free meanwhile; it says so."""
        cores = step.numbers("cores")
        path = site.directory / str(step.params["socket"])
        argv = [str(built("weir-dp")), "--socket", str(path), "--cores", ",".join(map(str, cores))]
        argv += ["--memory-mb", str(step.params["memory_mb"])]
        cards = step.params["pci"]
        assert isinstance(cards, list)
        if isolated.holding(cores) or not step.params["pinned"]:
            argv.append("--unpinned")  # it could not pin loops to CPUs that are not its own yet
        if not step.params["huge"]:
            argv.append("--no-huge")
        for address in [*cards, *site.noted("address")]:
            argv += ["--pci", str(address)]
        try:
            pid = _started(argv, path, step, site)
        except FabricError as error:
            if _NO_PAGES not in error.message or step.params.get("huge_required") or "--no-huge" in argv:
                raise
            pid = _started([*argv, "--no-huge"], path, step, site)
        facts: Facts = {"pid": pid}
        if step.params["pinned"]:
            facts["realtime"] = realtime = bool(step.params["rt"])
            isolated.place(pid, {"rte-worker-" + str(at): cpu for at, cpu in enumerate(cores, 1)}, realtime)
            for switch in site.noted("polling_switch"):
                isolated.place_switch(switch, realtime)
        return facts

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends it."""
        site.end()


def _started(argv: list[str], socket: Path, step: Step, site: Site) -> int:
    """Its pid, once its socket answers. FabricError with its last words if it has ended before."""
    pid = site.spawn(argv, netns=None, env={}, cores=[], log=str(step.params["log"]))
    wait_for("weir-dp", socket, pid, site.directory / str(step.params["log"]))
    return pid
