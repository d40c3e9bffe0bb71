# SPDX-License-Identifier: Apache-2.0
"""What all procedures work with: a runner that rests before each trial, and the rate that is 100 %."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from weir.lab.frames import link_pps
from weir.lab.rfc2544 import Rfc2544Options
from weir.measure.one_case import AS_FAST_AS_CAN, Phase
from weir.measure.repeats import Highest
from weir.measure.trial import Outcome, TrialRunner
from weir.protocol.traffic import DelayWanted, Shape
from weir.results.result import Ceiling
from weir.results.trial import Purpose


class RestingRunner(TrialRunner):
    """Rests before each trial, so that the system under test settles (RFC 2544, 23 e)."""

    rest_s: float = 0.0

    def __init__(self, *args: Any, sleep: Callable[[float], None], **named: Any) -> None:
        super().__init__(*args, sleep=sleep, **named)
        self._rest = sleep

    def run(
        self,
        purpose: Purpose,
        load_pps: float,
        duration_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> Outcome:
        """As that of a runner without rest."""
        if self.rest_s:
            self._rest(self.rest_s)
        return super().run(purpose, load_pps, duration_s, delay, shape)


@dataclass(frozen=True)
class Maximum:
    """The rate that is 100 %, both directions together."""

    pps: float
    of: Literal["medium", "tester", "lab"]
    """Lab: nobody knows what the tester can do, but that it is more than the lab allows."""


@dataclass(frozen=True)
class Bench:
    """One frame size on one built chain."""

    runner: RestingRunner
    options: Rfc2544Options
    frames: tuple[str, ...]  # of the whole run
    maximum: Maximum
    ceiling: Ceiling | None
    allowed_pps: float
    """By the lab, both directions together; infinite: as much as is possible."""
    shares_cores: bool
    """The system under test works on the tester's cores, too."""
    phase: Callable[[Phase, int, int], None]  # what begins: test, step, steps
    clock: Callable[[], float]

    @property
    def directions(self) -> int:
        """In which frames are sent."""
        return len(self.runner.traffic.streams)

    @property
    def reachable_pps(self) -> float:
        """The maximum, or what the tester can do of it, and the lab allows."""
        able = [self.ceiling.max_pps] if self.ceiling is not None else []
        return min([self.maximum.pps, self.allowed_pps, *able])

    @property
    def highest_by(self) -> Highest:
        """Who says what the highest rate is; the medium, where the lab allows just that."""
        if self.maximum.of == "medium" and self.reachable_pps == self.maximum.pps:
            return "medium"
        return "lab" if self.reachable_pps == self.allowed_pps else "tester"

    @property
    def burst_pps(self) -> float:
        """The rate of bursts, both directions together; `AS_FAST_AS_CAN`."""
        limited = self.highest_by != "tester" or math.isfinite(self.allowed_pps)
        return self.reachable_pps if limited else AS_FAST_AS_CAN


def medium_pps(link_bps: float, mean_frame_bytes: float, directions: int) -> float:
    """Frames that fit on the medium, all directions together (RFC 2544, appendix B)."""
    return directions * link_pps(link_bps, mean_frame_bytes)
