# SPDX-License-Identifier: Apache-2.0
"""Progress of a campaign over several hosts: a line a case, and in a terminal what each host is at."""

from __future__ import annotations

from rich.console import Console

from weir.cli.progress import Progress


class HostsProgress(Progress):
    """Shows where each host is."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._at: dict[str, str] = {}

    def at(self, host: str, what: str) -> None:
        """What that host does now; empty: it takes part no more."""
        self._at[host] = what
        if self._status is not None:
            self._status.update(" | ".join(f"{name}: {done}" for name, done in self._at.items() if done))
