# SPDX-License-Identifier: Apache-2.0
"""NDR and PDR together: Weir's search against RFC 2544 bisection with 60 s trials, on a simulated device.

No hardware and no waiting: both measure `tests.simulated.tester`, whose clock is virtual. Each pair is one
device drawn from a seed: 0.5 to 9 Mpps, a sharp knee or one of 1 to 5 %, a tester 1.2 to 4 times as fast,
noise of 0.05 %, rare background loss, and the stalls of a virtual machine (5 to 8 a second over 50 us, now
and then some ms).

- *ours*: one search for both goals as a lab has it by default, with validity rules, repeats of trials that
  stalls explain, and 0.1 s of overhead a trial.
- *peer*: for each goal one bisection from zero to the tester's rate until 0.5 % of that rate is left (RFC
  2544 section 26.1 with the 60 s trials of section 24), without any overhead.

`ratio` is the peer's virtual time to ours. An error is the distance of a throughput from the truth, in
percent of it; the *truth* is the conditional throughput of the device's known response without stalls, noise
and background loss: the load where the goal's loss ratio is just met, times the share delivered there. A goal
for which a search found nothing is an error of 100 %. Errors are stated goal by goal.
"""

from __future__ import annotations

import os
import random
import secrets
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.pairs import Line, of_ratios
from tests.simulated.device import HOST_STALLS, Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.measure import Measure
from weir.measure.search import search
from weir.measure.tester import no_counters
from weir.measure.trial import TrialRunner

PAIRS = 50
SEED_BITS = 31
TARGET = 10.0
NOTHING_PERCENT = 100.0
OVERHEAD_S = 0.1
RFC2544_TRIAL_S = 60.0
RFC2544_WIDTH = 0.005  # of the highest load


@dataclass(frozen=True)
class Taken:
    """One way of measuring one device."""

    seconds: float
    errors_percent: tuple[float, ...]  # a goal each


@dataclass(frozen=True)
class Harder:
    """What makes devices harder to measure than those of the ratio."""

    buffer_packets: int = 4096
    noise: float = 0.0005  # standard deviation of the rate from trial to trial


HARDER = {
    "buffers of 512 packets": Harder(buffer_packets=512),
    "rate that varies by 0.3 %": Harder(noise=0.003),
}


def device(seed: int, harder: Harder = Harder()) -> tuple[Response, float]:
    """The device of a seed, and the highest load that its tester offers."""
    draw = random.Random(seed)
    capacity_pps = 10 ** draw.uniform(5.7, 6.95)
    often, rare = HOST_STALLS
    knee = draw.uniform(0.01, 0.05) if seed % 2 else 0.0
    response = Response(
        capacity_pps=capacity_pps,
        saturation_pps=capacity_pps * (1 + knee),
        buffer_packets=harder.buffer_packets,
        noise=harder.noise,
        background_per_second=draw.uniform(0.05, 0.2),
        stalls=(replace(often, per_second=draw.uniform(5, 8)), rare),
    )
    return response, capacity_pps * draw.uniform(1.2, 4)


def ours(seed: int, measure: Measure, harder: Harder = Harder()) -> Taken:
    """The lab's search."""
    return searched(*device(seed, harder), seed, measure)


def searched(response: Response, highest_pps: float, seed: int, measure: Measure) -> Taken:
    """The lab's search on that device."""
    dut = SimulatedDut(response, seed=seed, overhead_s=OVERHEAD_S)
    runner = TrialRunner(
        dut,
        no_counters,
        simulated_traffic(),
        options=measure.trial,
        on_trial=lambda _trial: None,
        sleep=dut.sleep,
    )
    limits_pps = (measure.min_load * highest_pps, highest_pps)
    found = search(runner, measure, limits_pps, clock=dut.clock, deadline=float("inf"))
    return Taken(
        dut.now_s, tuple(_error_percent(response, one.goal.loss_ratio, one.load_pps or 0.0) for one in found)
    )


def peer(seed: int, measure: Measure) -> Taken:
    """RFC 2544 bisection, goal by goal."""
    response, highest_pps = device(seed)
    dut = SimulatedDut(response, seed=seed)
    errors: list[float] = []
    for goal in measure.goals:
        found_pps = bisect(dut, highest_pps, goal.loss_ratio)
        errors.append(_error_percent(response, goal.loss_ratio, found_pps))
    return Taken(dut.now_s, tuple(errors))


def bisect(dut: SimulatedDut, highest_pps: float, goal_loss_ratio: float) -> float:
    """The forwarding rate at the highest load that passed."""

    def passed(load_pps: float) -> float | None:
        run = dut.run({0: load_pps / 2, 1: load_pps / 2}, RFC2544_TRIAL_S, 0.0)
        offered = sum(stream.offered for stream in run.streams)
        delivered = sum(stream.delivered for stream in run.streams)
        met = offered - delivered <= goal_loss_ratio * offered
        return delivered / RFC2544_TRIAL_S if met else None

    best = passed(highest_pps)
    if best is not None:
        return best
    best, low, high = 0.0, 0.0, highest_pps
    while high - low > RFC2544_WIDTH * highest_pps:
        middle = (low + high) / 2
        rate = passed(middle)
        if rate is None:
            high = middle
        else:
            best, low = rate, middle
    return best


def seeds_of(count: int, bench: str) -> range:
    """Devices that nobody chose and no search was tuned to: drawn when the bench is run, and told.

    DEVICE_SEED draws the same again.
    """
    said = os.environ.get("DEVICE_SEED")
    first = int(said) if said else 2 * secrets.randbits(SEED_BITS)
    print(f"{bench}: DEVICE_SEED={first}", file=sys.stderr, flush=True)
    return range(first, first + count)


def run() -> Line:
    """Fifty devices, both ways; errors goal by goal, since what one goal hides another may show."""
    measure = Measure()
    seeds = seeds_of(PAIRS, "search")
    our_takes = [ours(seed, measure) for seed in seeds]
    peer_takes = [peer(seed, measure) for seed in seeds]
    goals = [goal.name for goal in measure.goals]
    harder = {
        name: _errors(goals, [ours(seed, measure, how) for seed in seeds]) for name, how in HARDER.items()
    }
    return of_ratios(
        "search",
        [other.seconds / one.seconds for one, other in zip(our_takes, peer_takes, strict=True)],
        target=TARGET,
        detail={
            "devices": PAIRS,
            "first_seed": seeds[0],
            "ours_median_s": statistics.median(take.seconds for take in our_takes),
            "peer_median_s": statistics.median(take.seconds for take in peer_takes),
            "error_percent": _errors(goals, our_takes),
            "peer_error_percent": _errors(goals, peer_takes),
            "harder_error_percent": harder,
        },
    )


def _error_percent(response: Response, goal_loss_ratio: float, found_pps: float) -> float:
    truth_pps = response.truth_pps(goal_loss_ratio)
    return abs(found_pps - truth_pps) / truth_pps * 100


def _errors(goals: Sequence[str], takes: Sequence[Taken]) -> dict[str, dict[str, float]]:
    """Of each goal over all devices; `nothing_found`: how many are errors of 100 %."""
    by_goal = zip(*(take.errors_percent for take in takes), strict=True)
    return {
        goal: {
            "median": statistics.median(errors),
            "p90": statistics.quantiles(errors, n=10, method="inclusive")[-1],
            "max": max(errors),
            "nothing_found": sum(error == NOTHING_PERCENT for error in errors),
        }
        for goal, errors in zip(goals, by_goal, strict=True)
    }
