# SPDX-License-Identifier: Apache-2.0
"""`weir run` of a lab whose capture is replayed: the same set-ups, stores and ends, another measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from weir.base.topology import Topology
from weir.lab import Lab
from weir.lab.ways import Way
from weir.procedures.campaign import Campaign
from weir.procedures.order import Asked
from weir.procedures.outputs import ReportFolder
from weir.procedures.replay.measure import measure_replay
from weir.procedures.stored_result import CampaignProgress, RunStore
from weir.results.result import Ceiling


class ReplayCampaign(Campaign):
    """One run of such a lab."""

    def __init__(
        self,
        lab: Lab,
        compared: Sequence[Way],
        *,
        quick: bool,
        store: RunStore,
        progress: CampaignProgress,
        reports: ReportFolder | None = None,
        asked: Asked | None = None,
    ) -> None:
        capture = lab.traffic.capture
        assert capture is not None
        assert capture.replay is not None
        measuring = partial(measure_replay, capture.replay)
        super().__init__(
            lab,
            compared,
            quick=quick,
            store=store,
            progress=progress,
            measuring=measuring,
            reports=reports,
            asked=asked,
        )

    def _calibrated(self, way: Way, topology: Topology) -> dict[str, Ceiling]:  # noqa: ARG002
        """None: how punctual the tester was, each replay says of itself."""
        return {}


def nothing_found(records: Sequence[Mapping[str, Any]]) -> str | None:
    """What a command says of records that have none of what was asked; None: they have some."""
    return None if any(one.get("replays") for one in records) else "no replay of the capture can be used"


CAMPAIGN = ReplayCampaign
