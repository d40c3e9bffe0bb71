# SPDX-License-Identifier: Apache-2.0
"""What one search goal found, round by round, and in which state of the machine."""

from __future__ import annotations

from typing import Literal, Protocol

from weir.base.record import Record
from weir.results.slices import DISTURBED_SHARE

PAIR = 2
"""Repeats that are known each by itself: the lowest and the highest."""


class _OfState(Protocol):
    slower_times: float | None
    farther_times: float | None


class InState:
    """What was found in some state of the machine. Has no fields: records have them where they want them."""

    @property
    def worse_state(self: _OfState) -> bool:
        """It was only measured in a worse state of the machine than it is known to have."""
        return self.slower_times is not None or self.farther_times is not None


class RoundRate(Record, InState):
    """What one round of a run found."""

    round: int
    """From 0; everything that a run compares is measured once a round."""
    load_pps: float
    slower_times: float | None = None
    """As of the throughput, like the next one."""
    farther_times: float | None = None
    tester_bound: bool | None = None
    """As of the throughput; absent in results of older versions."""
    lab_bound: bool = False
    """As of the throughput."""


class Throughput(Record, InState):
    """What one search goal found."""

    goal: str
    """NDR, PDR, or a name that the lab gives."""
    goal_loss_ratio: float
    """What the goal allows."""
    status: Literal["found", "irregular"]
    why: str | None = None
    """Why it is irregular, or what to bear in mind though it was found."""
    unmeasured: bool = False
    """Irregular for want of time or of trials that can be believed: it says nothing of the system."""
    load_pps: float | None = None
    """Conditional throughput: median over the repeats, both directions together."""
    load_min_pps: float | None = None
    """Lowest of the repeats."""
    load_max_pps: float | None = None
    """Highest of the repeats."""
    lower_bound_pps: float | None = None
    """Relevant lower bound: intended load, median over repeats."""
    upper_bound_pps: float | None = None
    """Relevant upper bound, likewise; None: no load was too much. Of an irregular one the lowest load tried,
    if that was too much whenever it was tried."""
    repeats: int = 0
    """Searches that found a throughput, and that it rests on."""
    searches: int = 0
    """All that were made for it, in every round; 0: an older result does not say."""
    l2_bps: float | None = None
    """The same rate in bit/s of frames with FCS."""
    l1_bps: float | None = None
    """The same with 20 B a frame of preamble and gap."""
    loss_ratio: float | None = None
    """Measured again at `lower_bound_pps`; of an irregular one 1: nothing came through any more."""
    tester_bound: bool = False
    """Within 10 % of the tester's own ceiling: the system under test may do more."""
    lab_bound: bool = False
    """It carried all that `measure.max_load_pps` lets be sent: the system under test may do more."""
    stall_labelled: bool = False
    """Of older results: stalls of the host can explain the loss of a trial at a load that bounds it."""
    out_of_time: bool = False
    """The time limit came before the bounds were as close as asked: the answer is all between them."""
    slower_times: float | None = None
    """Where each trial that lost too much was in a slower state of the machine: how many times as long the
    slowest core took for the same work as at its best, in this run or in earlier ones since the machine
    booted. In a better state it may carry more."""
    farther_times: float | None = None
    """Likewise where the cores took so many times as long to pass data to each other as at their best."""
    distances_cycles: dict[str, float] = {}
    """By both cores, "0-1": to read on the one what the other has, there and back; of those trials that lost
    too much, in the one with the nearest cores."""
    left_out_share: float = 0.0
    """Of the time of the trials at the loads that bound it, of an irregular one of all its trials: not
    counted, since a core was away."""
    unsteady: bool = False
    """Trials at the load just above lost packets in pauses (see `Counted`), or more than that load can be too
    much: the system under test or the machine was slower in them than in those at the rate itself."""
    rounds: list[RoundRate] = []
    """What each round found, in order; those alone that found a rate."""

    @property
    def at_least(self) -> bool:
        """Whether the system under test may do more than what was found: nothing above it was tried."""
        return self.tester_bound or self.lab_bound

    @property
    def interval_pps(self) -> tuple[float, float] | None:
        """The answer of a search that ran out of time, between its bounds; None of every other.

        It holds what each repeat and round found too: theirs may have ended elsewhere.
        """
        ends = self.load_pps, self.lower_bound_pps, self.upper_bound_pps, self.load_min_pps, self.load_max_pps
        known = [one for one in ends if one is not None]
        return (min(known), max(known)) if self.out_of_time and self.load_pps is not None else None

    @property
    def disturbed(self) -> bool:
        """Whether more than half of that time was left out."""
        return self.left_out_share > DISTURBED_SHARE

    @property
    def beside_others(self) -> bool:
        """Whether others had cores for much of the time that it rests on; of older results as they say."""
        return self.disturbed or self.stall_labelled

    @property
    def samples_pps(self) -> tuple[float, ...]:
        """What its rounds found; of a run of one round, its repeats. Rounds of a worse state of the machine
        do not stand beside those of its best one; none where the answer is all between the bounds."""
        if self.load_pps is None or self.out_of_time:
            return ()
        rounds = tuple(one.load_pps for one in self.rounds if not one.worse_state or self.worse_state)
        lowest, highest = self.load_min_pps, self.load_max_pps
        if len(rounds) > 1 or self.repeats < PAIR or lowest is None or highest is None:
            return rounds or (self.load_pps,)
        return (lowest, *((self.load_pps,) if self.repeats > PAIR else ()), highest)
