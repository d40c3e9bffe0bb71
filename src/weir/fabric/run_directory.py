# SPDX-License-Identifier: Apache-2.0
"""Step kind run-directory: sockets, logs and the switch's database of one deployment."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.base.error import FabricError
from weir.fabric.kept_logs import keep_logs
from weir.fabric.removal import remove_tree
from weir.fabric.site import LOGS, Facts, Site
from weir.plan import Step


class RunDirectory:
    """The directory that everything else of the deployment puts its files in."""

    def do(self, step: Step, site: Site) -> Facts:  # noqa: ARG002
        """FabricError if it is there: it would not be ours, and undo must not touch it."""
        if site.directory.exists():
            raise FabricError(f"there is a {site.directory} already", "it is not Weir's: rename it")
        site.note({"ours": True})
        site.directory.mkdir(mode=0o700)
        return {}

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Removes it with all that is in it. OSError if anything in it cannot be removed."""
        while facts.get("ours") and site.directory.exists():
            with suppress(FileNotFoundError):  # somebody removes files there, too
                remove_tree(site.directory)

    def keep_logs(self, site: Site, error: BaseException) -> None:
        """Of all processes of the deployment, and of what they note as theirs elsewhere."""
        keep_logs(site.deployment, [site.directory, *map(Path, site.noted(LOGS))], error)
