# SPDX-License-Identifier: Apache-2.0
"""How a run went through its points, and what each round of a case measured by itself: what a run that was
ended early needs to go on.

A *point* is one case in one round.
"""

from __future__ import annotations

from typing import Any

from weir.base.record import Record
from weir.results.throughput import Throughput


class LeftOutRounds(Record):
    """Of one case: the rounds that were planned and not measured."""

    name: str
    """Of the technology, or variant."""
    chain: str
    frame: str
    measured: int
    """Rounds that were."""
    left_out: int
    """Rounds that were not."""


class SharedCampaign(Record):
    """Of a campaign over several hosts: what this host's run has in common with those of the others."""

    id: str
    """Of all its runs, one a host."""
    host: str
    """This run's, as the campaign calls it."""
    points: int
    """Planned on all hosts together."""
    spec: dict[str, Any]
    """The lab as each host gets it: what it leaves open, such as cores, each host chooses."""


class CampaignRecord(Record):
    """Of a run of a lab: its order, its limit, and what is missing."""

    rounds: int
    """Planned of each case."""
    points: int
    """Planned in all, without those that this machine cannot run; of one host's part of a campaign over
    several: those that it measured."""
    seed: int | None = None
    """Of the random order within each round; None: there and back."""
    budget_s: float | None = None
    """Of all its parts together: what would have ended later was not begun. None: as long as it takes."""
    left_out: list[LeftOutRounds] = []
    """What was not measured when it ended; empty: nothing, or it has not ended."""
    resumed_at: list[str] = []
    """When it was gone on with, in RFC 3339, UTC."""
    shared: SharedCampaign | None = None
    """Of a run that measured one host's part of a campaign over several; `left_out` is of all of them."""

    @property
    def left_out_points(self) -> int:
        """How many points are missing."""
        return sum(one.left_out for one in self.left_out)

    @property
    def points_of_all(self) -> int:
        """What `left_out` is a part of: this run's points, or those of the campaign over several hosts."""
        return self.points if self.shared is None else self.shared.points


class RoundDelay(Record):
    """Delay at one load in one round."""

    load: str
    """As the lab says it."""
    first_packets: bool = False
    load_pps: float
    """Both directions together."""
    trials: int
    """How many of the point's are this round's."""


class CaseRound(Record):
    """What one round measured of a case. Its trials are the case's own, in order of the rounds."""

    round: int | None = None
    """Which one, from 0; from the planned ones' number on: measured once more. Absent in results of older
    versions: the first that is free."""
    throughput: list[Throughput] = []
    """One for each search goal."""
    trials: int = 0
    """How many of the case's are this round's."""
    curve: int = 0
    """Likewise of the curve."""
    delays: list[RoundDelay] = []
    problem: str | None = None
    """Why it was given up."""
    seconds: float = 0.0
    """Time that it took."""
