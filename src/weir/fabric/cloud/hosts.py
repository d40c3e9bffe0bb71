# SPDX-License-Identifier: Apache-2.0
"""Step kind cloud-hosts: from then on commands may run in instances, routers and the host outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weir.fabric import ending
from weir.fabric.end_host import write_names
from weir.fabric.site import Facts, Site
from weir.plan import Step


class CloudHosts:
    """Their names for each other."""

    def do(self, step: Step, site: Site) -> Facts:
        """Writes what commands see as /etc/hosts and /etc/resolv.conf."""
        files, names = step.params["files"], step.params["names"]
        assert isinstance(files, list)
        assert isinstance(names, list)
        for file, text in zip(files, names, strict=True):
            resolver = str(step.params["resolver_file"])
            write_names(site.directory, str(file), resolver, str(text))
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Ends the commands that run there, which would keep their namespaces alive."""
        ending.end_inside(*params["namespaces"])
