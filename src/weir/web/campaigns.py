# SPDX-License-Identifier: Apache-2.0
"""A campaign over several hosts, as pages have it."""

from __future__ import annotations

from weir.report.hosts import Campaign, campaign
from weir.store import listing
from weir.store.selection import Selection
from weir.web.reading import Reading


def found(reading: Reading, name: str) -> Campaign | None:
    """That of this id; None: there is none. StoreError where one of its runs cannot be read."""
    with reading.store() as store:
        runs = listing.runs(store, Selection(campaigns=[name]))
    if not runs:
        return None

    def read() -> Campaign:
        with reading.store() as store:
            return campaign(store.runs_of_campaign(name, trials=False))

    if any(run.finished_at is None for run in runs):  # there is more at each look
        return read()
    return reading.remembered(("campaign", name, tuple(runs)), read)
