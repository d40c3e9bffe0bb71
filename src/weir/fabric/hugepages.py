# SPDX-License-Identifier: Apache-2.0
"""Step kind hugepages: enough free 2 MiB pages, and the old number back afterwards.

Deployments may overlap and go in any order, so what counts is how many pages each has added. The number that
the machine had without any of them is journalled too: where their sum no longer explains the number found,
somebody else has set it, and it stays.
"""

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
            with site.alone():
                before = _number("nr_hugepages")
                missing = (memory_mb + MARGIN_MB + PAGE_MB - 1) // PAGE_MB - _number("free_hugepages")
                if missing <= 0:
                    return {}
                base = before - _added(site)
                site.note({"base": base, "before": before, "asked": before + missing})
                (DIRECTORY / "nr_hugepages").write_text(str(before + missing))
                facts = {"got": _number("nr_hugepages")}
                site.note(facts)
                return facts
        except OSError:
            return {}  # no hugepages here, or not ours to change: weir-dp falls back

    def undo(self, params: Mapping[str, Any], facts: Facts, site: Site) -> None:  # noqa: ARG002
        """Takes away the pages that this step has added, unless somebody else has changed the number."""
        if "before" not in facts:
            return
        with site.alone():
            rest = int(facts["base"]) + _added(site)
            ours = _number("nr_hugepages") - rest
            # Killed before "got" was journalled: the kernel may have given any part of what was asked for.
            asked = facts["asked"] - facts["before"]
            known = ours == facts["got"] - facts["before"] if "got" in facts else ours <= asked
            if known and ours > 0:
                (DIRECTORY / "nr_hugepages").write_text(str(rest))
                site.note({"got": facts["before"]})  # from now on it has added none


def _number(name: str) -> int:
    return int((DIRECTORY / name).read_text())


def _added(site: Site) -> int:
    """Pages that the other deployments which stand have added."""
    return sum(facts["got"] - facts["before"] for facts in site.elsewhere("hugepages") if "got" in facts)
