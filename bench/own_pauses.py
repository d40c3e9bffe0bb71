# SPDX-License-Identifier: Apache-2.0
"""own-pauses: what a search finds of a function that pauses by itself, again and again.

`direct`, PVP, 256 B, NDR as labs/switching --quick finds it. The function is `impair`: a microsecond of work
a packet, and a pause of 50 to 500 us every 10 ms, drawn from a seed for each setup. Its queue holds a pause,
so its true NDR is what it carries in the long run. That is measured before and behind each search: what it
forwards of 3 % too much, in quarters of a second. (Of far too much it may forward less: packets that wait
in a full queue are out of the caches.) The machine moves it by some percent from one second to the
next; between the two all is true.

- *ratio*: share of the searches whose rate is at most 3 % below the lower or 1 % above the higher of the two
  (a search's bounds are 1 % apart, and a rate is the lower one).
- `higher`: those that found more than 1 % above. None is allowed.
"""

from __future__ import annotations

import os
import random
import statistics

from bench.pairs import Line, SkipError
from bench.standing import Standing, standing, switching
from weir.base.error import WeirError
from weir.fabric import require_root
from weir.lab import Lab
from weir.lab.function import FunctionOptions
from weir.measure.machine_state import MachineState

SETUPS, SEARCHES = 10, int(os.environ.get("OWN_PAUSES_SEARCHES", "10"))
TARGET = 0.95
BELOW, ABOVE = 0.03, 0.01
TRUTH_S, TRUTH_TRIALS, TOO_MUCH_TIMES = 0.25, 5, 1.03
SEED = 29


def run() -> Line:
    """The share that is right; detail has each search."""
    if len(os.sched_getaffinity(0)) < 2:
        raise SkipError("needs two cores")
    draw, state = random.Random(SEED), MachineState()
    found: list[dict[str, float | str | None]] = []
    try:
        require_root()
        for _ in range(SETUPS):
            pause_us = draw.randint(50, 500)
            with standing(_lab(pause_us), "direct", "PVP", state) as chain:
                for _ in range(SEARCHES):
                    found.append(_searched(chain, pause_us))
    except WeirError as error:
        raise SkipError(str(error)) from None
    errors = [one["error"] for one in found if isinstance(one["error"], float)]
    right = sum(-BELOW <= error <= ABOVE for error in errors) / len(found)
    return Line(
        name="own-pauses",
        ratio=right,
        min=right,
        max=right,
        n=len(found),
        target=TARGET,
        detail={
            "higher": sum(error > ABOVE for error in errors),
            "median_error": statistics.median(errors) if errors else None,
            "searches": found,
        },
    )


def _lab(pause_us: int) -> Lab:
    lab = switching(frame=256)
    options: dict[str, str | int | float | bool] = {
        "busy_ns": 1000,
        "stall_us": pause_us,
        "stall_every_ms": 10,
    }
    return lab.model_copy(update={"functions": {"default": FunctionOptions(nf="impair", options=options)}})


def _searched(chain: Standing, pause_us: int) -> dict[str, float | str | None]:
    """One search, between two looks at what the function carries."""
    before_pps = _truth_pps(chain)
    search = chain.search()
    truth_pps = sorted((before_pps, _truth_pps(chain)))
    load_pps = search.found.load_pps
    return {
        "pause_us": pause_us,
        "truth_low_pps": truth_pps[0],
        "truth_high_pps": truth_pps[1],
        "load_pps": load_pps,
        "flags": search.flags,
        "error": _error(load_pps, *truth_pps) if load_pps is not None else None,
    }


def _truth_pps(chain: Standing) -> float:
    roughly_pps = chain.carried_pps(TRUTH_S)
    return statistics.median(
        chain.carried_pps(TRUTH_S, TOO_MUCH_TIMES * roughly_pps) for _ in range(TRUTH_TRIALS)
    )


def _error(load_pps: float, low_pps: float, high_pps: float) -> float:
    """To the nearer of both, 0 between them."""
    return min(0.0, load_pps / low_pps - 1) + max(0.0, load_pps / high_pps - 1)
