# SPDX-License-Identifier: Apache-2.0
"""What a campaign over several hosts is to measure, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.hosts.placement import Block, Point
from weir.lab.ways import Key
from weir.procedures.order import Order
from weir.procedures.rounds import rounds_of
from weir.results.campaign import SharedCampaign
from weir.results.result import Case, Result
from weir.results.rounds import ended, rounds_done


@dataclass(frozen=True)
class Wanted:
    """What is measured, and in which order."""

    shared: SharedCampaign
    """Its `host` is filled in for each."""
    setups: Sequence[Key]
    frames: Sequence[str]
    rounds: int
    quick: bool
    seed: int | None = None
    budget_s: float | None = None
    """From now on; None: no limit."""
    budget_of_all_s: float | None = None
    """Of all its parts together, as its runs have it."""
    before: Sequence[Result] = ()
    """The stored runs of the campaign, if it goes on."""

    @property
    def points(self) -> int:
        """Planned on all hosts together."""
        return len(self.setups) * len(self.frames) * self.rounds

    def left(self) -> Iterator[Point]:
        """Points that no run of before has, in the order of a run on one machine."""
        done = rounds_done(self.before)
        for visit in Order(self.setups, self.rounds, seed=self.seed).blocks():
            for frame in self.frames:
                if visit.round not in done.get((*visit.setup, frame), ()):
                    yield Point(*visit.setup, frame, visit.round)

    def known(self) -> Iterator[tuple[str, str, Case]]:
        """Of what was measured before, each round by itself: name, chain and what it found."""
        for run in self.before:
            for setup, case in run.cases():
                yield from ((setup.name, setup.chain, one) for one in rounds_of(case))

    def begun(self) -> Iterator[tuple[Block, str]]:
        """Which host has measured some of which block, the oldest first. Older results do not say it."""
        for run in self.before:
            shared = run.campaign.shared if run.campaign is not None else None
            for setup, case in run.cases() if shared is not None else ():
                for one in rounds_of(case):
                    if shared is not None and one.round is not None and ended(one):
                        yield (setup.chain, case.frame, one.round), shared.host
