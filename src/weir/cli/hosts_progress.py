# SPDX-License-Identifier: Apache-2.0
"""Progress of a campaign over several hosts: a line a case, and in a terminal what each host is at."""

from __future__ import annotations

from weir.cli.progress import Progress


class HostsProgress(Progress):
    """Shows where each host is."""

    _at: dict[str, str]

    def at(self, host: str, what: str) -> None:
        """What that host does now; empty: it takes part no more."""
        known = self.__dict__.setdefault("_at", {})
        known[host] = what
        if self._status is not None:
            self._status.update(" | ".join(f"{name}: {done}" for name, done in known.items() if done))
