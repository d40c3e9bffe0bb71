# SPDX-License-Identifier: Apache-2.0
"""Cores that were slowed by somebody whom nobody in the machine sees: by how much, and the evidence of it."""

from __future__ import annotations

from collections.abc import Iterator

from weir.results.explanation import Evidence

SLOWED_TIMES = 1.1
"""A core that takes so many times as long for the same work was slowed."""


def slowed_rows(core: int, times: float | None) -> Iterator[Evidence]:
    """A row if that core was slowed."""
    if times is not None and times >= SLOWED_TIMES:
        yield Evidence(
            what=f"core {core} slowed",
            value=times - 1,
            unit="share",
            note="longer for the same work than at best: a neighbour on its physical core, or a lower clock",
        )
