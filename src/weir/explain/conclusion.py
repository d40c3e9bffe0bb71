# SPDX-License-Identifier: Apache-2.0
"""What an explanation comes to."""

from __future__ import annotations

from dataclasses import dataclass

from weir.explain.cores import Core, CostItem
from weir.results.explanation import Evidence, Limit


@dataclass(frozen=True)
class Verdict:
    """What limits, and what shows it. `core` and `part`: where a core is full."""

    limit: Limit
    evidence: tuple[Evidence, ...] = ()
    core: Core | None = None
    part: CostItem | None = None


def unknown(why: str) -> Verdict:
    """The evidence does not do."""
    return Verdict(Limit(kind="unknown", name="unknown", sentence=f"Cannot tell: {why}"))
