# SPDX-License-Identifier: Apache-2.0
"""own-pauses: what a search finds of a function that pauses by itself, again and again.

`direct`, PVP, 256 B, NDR as labs/switching --quick finds it. The function is `impair`: a microsecond of work
a packet, and a pause of 50 to 500 us every 10 ms, drawn from a seed for each setup. Its queue holds a pause,
so its true NDR is what it carries in the long run. That is measured before and behind each search: what it
forwards of 3 % too much, ten times for a quarter of a second. (Of far too much it may forward less: packets
that wait in a full queue are out of the caches.) The machine moves it by some percent from one second to the
next, and a neighbour only ever takes away: between the median of the ten and the second highest all is true.

- *ratio*: share of the searches whose rate is at most 3 % below the lower or 1 % above the higher of the two
  (a search's bounds are 1 % apart, and a rate is the lower one). A rate that says itself that it was measured
  while cores were slower may be lower.
- `higher`: those that found more than 1 % above. None is allowed.
- `unknown`: those without such a time on either side, left out of both.
"""

from __future__ import annotations

import os
import random
import statistics
from dataclasses import asdict, dataclass

from bench.pairs import Line, SkipError
from bench.standing_chain import StandingChain, standing, switching
from weir.base.error import WeirError
from weir.fabric import require_root
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.measure.machine_state import MachineState

SETUPS, SEARCHES = 10, int(os.environ.get("OWN_PAUSES_SEARCHES", "10"))
TARGET = 0.95
BELOW, ABOVE = 0.03, 0.01
TRUTH_S, TRUTH_TRIALS, TRUTH_TRIALS_MOST, TOO_MUCH_TIMES = 0.25, 5, 8, 1.03
SEED = 29


@dataclass(frozen=True)
class Searched:
    """One search, between two looks at what the function carries."""

    pause_us: int
    truth_low_pps: float | None
    """None: cores were slowed all the time."""
    truth_high_pps: float | None
    load_pps: float | None
    flags: str

    @property
    def error(self) -> float | None:
        """To the nearer of both, 0 between them; None without a rate, or without a truth."""
        if self.load_pps is None or self.truth_low_pps is None or self.truth_high_pps is None:
            return None
        low, high = self.load_pps / self.truth_low_pps, self.load_pps / self.truth_high_pps
        return min(0.0, low - 1) + max(0.0, high - 1)

    @property
    def right(self) -> bool:
        """A rate, not too high, and not too low without saying why."""
        return self.error is not None and self.error <= ABOVE and (self.error >= -BELOW or "S" in self.flags)


def run() -> Line:
    """The share that is right; detail has each search."""
    if len(os.sched_getaffinity(0)) < 2:
        raise SkipError("needs two cores")
    draw, state = random.Random(SEED), MachineState()
    found: list[Searched] = []
    try:
        require_root()
        for _ in range(SETUPS):
            pause_us = draw.randint(50, 500)
            with standing(lab_of_a_function_that_pauses(pause_us), "direct", "PVP", state) as chain:
                for _ in range(SEARCHES):
                    found.append(_searched(chain, pause_us))
    except WeirError as error:
        raise SkipError(str(error)) from None
    known = [one for one in found if one.truth_low_pps is not None]
    if not known:
        raise SkipError("cores were slowed all the time")
    errors = [one.error for one in known if one.error is not None]
    right = sum(one.right for one in known) / len(known)
    return Line(
        name="own-pauses",
        ratio=right,
        min=right,
        max=right,
        n=len(known),
        target=TARGET,
        detail={
            "higher": sum(error > ABOVE for error in errors),
            "unknown": len(found) - len(known),
            "median_error": statistics.median(errors) if errors else None,
            "searches": [asdict(one) | {"error": one.error} for one in found],
        },
    )


def lab_of_a_function_that_pauses(pause_us: int) -> Lab:
    lab = switching(frame="256")
    options: dict[str, str | int | float | bool] = {
        "busy_ns": 1000,
        "stall_us": pause_us,
        "stall_every_ms": 10,
    }
    return lab.model_copy(update={"functions": {"default": FunctionOptions(nf="impair", options=options)}})


def _searched(chain: StandingChain, pause_us: int) -> Searched:
    before_pps = _carried_pps(chain)
    search = chain.search()
    carried_pps = sorted(before_pps + _carried_pps(chain))
    known = len(carried_pps) > 1
    return Searched(
        pause_us,
        statistics.median(carried_pps) if known else None,
        carried_pps[-2] if known else None,
        search.found.load_pps,
        search.flags,
    )


def _carried_pps(chain: StandingChain) -> list[float]:
    """Of trials in which no core was slowed; few or none where one always was."""
    roughly_pps = chain.carried(TRUTH_S).pps
    found: list[float] = []
    for _ in range(TRUTH_TRIALS_MOST):
        carried = chain.carried(TRUTH_S, TOO_MUCH_TIMES * roughly_pps)
        found += [] if carried.slower else [carried.pps]
        if len(found) == TRUTH_TRIALS:
            break
    return found
