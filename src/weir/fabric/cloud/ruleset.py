# SPDX-License-Identifier: Apache-2.0
"""Step kind ruleset: rules of nftables or iptables in a namespace, all of them or none."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from weir.base.error import FabricError
from weir.fabric import namespace, process
from weir.fabric.site import Facts, Site
from weir.plan import Step

_PROGRAMS = {"nft": ("nft", "-f", "{}"), "iptables": ("iptables-restore", "-w", "30", "{}")}
_PACKAGES = {"nft": "nftables", "iptables": "iptables"}
_LOAD_S = 60.0


class Ruleset:
    """One call of a program that takes all rules at once."""

    def do(self, step: Step, site: Site) -> Facts:
        """FabricError with what the program said if it refuses."""
        netns, name = str(step.params["netns"]), str(step.params["program"])
        path = site.directory / f"{netns}.{name}"
        path.write_text(str(step.params["rules"]))
        argv = [word.format(path) for word in _PROGRAMS[name]]
        try:
            with namespace.inside(netns):
                done = process.run_tool(argv, marker=site.marker(), env=_ENVIRONMENT, timeout_s=_LOAD_S)
        except subprocess.TimeoutExpired as late:
            raise FabricError(f"{argv[0]} does not end", f"its rules: {path}") from late
        if done.returncode != 0:
            raise FabricError(f"{argv[0]} refuses {path}: {done.stderr.strip()}", "see `weir doctor`")
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:
        """Nothing: they go with the namespace."""

    def lacking(self, params: Mapping[str, Any]) -> str | None:
        """The program's Debian package, if it is not installed."""
        name = str(params["program"])
        return not_installed(_PROGRAMS[name][0], _PACKAGES[name])


_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def not_installed(program: str, package: str) -> str | None:
    """What to do where a program is missing; None if it is there."""
    if shutil.which(program, path=_ENVIRONMENT["PATH"]):
        return None
    return f"{program} is not installed; install the package {package}"
