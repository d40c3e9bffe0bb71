# SPDX-License-Identifier: Apache-2.0
"""Step kind hugepages: enough free 2 MiB pages, and the old number back afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weir.fabric.step_kind import Facts, Site
from weir.plan import Step

DIRECTORY = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
PAGE_MB = 2
MARGIN_MB = 64  # DPDK's own structures besides packet buffers


class Hugepages:
    """Raises the number of pages only if too few are free. Still too few: weir-dp does without, says so."""

    def do(self, step: Step, site: Site) -> Facts:
        """The number before and the number asked for are journalled before anything changes."""
        memory_mb = step.params["memory_mb"]
        assert isinstance(memory_mb, int)
        try:
            free = int((DIRECTORY / "free_hugepages").read_text())
            before = int((DIRECTORY / "nr_hugepages").read_text())
            missing = (memory_mb + MARGIN_MB + PAGE_MB - 1) // PAGE_MB - free
            if missing <= 0:
                return {}
            site.note({"before": before, "asked": before + missing})
            (DIRECTORY / "nr_hugepages").write_text(str(before + missing))
            return {"got": int((DIRECTORY / "nr_hugepages").read_text())}
        except OSError:
            return {}  # no hugepages here, or not ours to change: weir-dp falls back

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Sets the old number, unless somebody has changed it since."""
        if "before" not in facts:
            return
        now = int((DIRECTORY / "nr_hugepages").read_text())
        # Killed before "got" was journalled: the kernel may have given any part of what was asked for.
        ours = now == facts["got"] if "got" in facts else facts["before"] < now <= facts["asked"]
        if ours:
            (DIRECTORY / "nr_hugepages").write_text(str(facts["before"]))
