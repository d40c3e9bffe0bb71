# SPDX-License-Identifier: Apache-2.0
"""How much the machine disturbed a run: what was left out and who had the cores, slower cores.
And the one sentence above all numbers, where they say little."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from weir.base.si import US_PER_S
from weir.lab.frames import frame_label
from weir.report import chain_faults, numbers, rates, summary
from weir.results import slices
from weir.results.result import Case, Result, Trial, slowness
from weir.results.slices import HOST, SLOWED, SLOWED_HOW, Had
from weir.results.trial import left_out_s, left_out_share

NOISY_LEFT_OUT = 0.01
"""Of the time of all trials; less is left out on any machine."""
NOISY_SPREAD = 0.05
"""A spread wider than this share of the median is worth a word."""
NOISY_TRIALS = 0.05
"""Likewise so many of the trials."""
UNDIVIDED_SLOWED_TIMES = 1.2
"""Where times were not divided: a core that takes so many times as long for the same work was slowed."""
MOVED_TIMES = 1.35
"""A core that is so many times as far from the first as at its nearest was moved."""
HEADLINE_SHARE = 0.25
"""Of the cases without a rate, or of the time left out: with more the first sentence of a report says so."""
TAKERS = 4
"""Those that had most of the cores are named."""
AWAY_HEAD = ("core", "who had it", "most of it in", "there", "in all", "of the trials' time", "in trials")
AWAY_LINES = 20
"""Of them on the page."""
_NOT_PROGRAMS = {HOST: "the host", SLOWED: SLOWED_HOW}


def headline(result: Result) -> str | None:
    """What to know before any number, where much has no rate or does not count; None of every other run."""
    ran = list(summary.trials(result))
    if (why := chain_faults.fault(result)) is not None:
        whole = f"{why}, which no disturbance of the machine does"
        besides = (
            f" Besides, {left_out_share(ran):.0%} of the time {lost_to(ran)}."
            if mostly_disturbed(result)
            else ""
        )
        return (
            f"{whole[:1].upper()}{whole[1:]}: look for the cause in the chain, and see the remarks.{besides}"
        )
    searched = [case for _, case in result.cases() if case.throughput or case.problem is not None]
    without = [case for case in searched if not any(one.load_pps for one in case.throughput)]
    too_much, said = sum(map(_too_much, without)), []
    if len(without) > HEADLINE_SHARE * len(searched):
        verb = "has" if len(without) == 1 else "have"
        lacking = "no rate" if result.spec.get("measure", {}).get("goals", True) else "no result"
        cases = "the only case" if len(searched) == 1 else f"{len(without)} of {len(searched)} cases"
        of_them = "" if too_much == len(without) else f"{too_much} of them "
        why = f", {of_them}since even the lowest load was too much" if too_much else ""
        said.append(f"{cases} {verb} {lacking}{why}")
    if not mostly_disturbed(result):
        return f"{said[0][:1].upper()}{said[0][1:]}: the remarks say why." if said else None
    said.append(f"{left_out_share(ran):.0%} of the time {lost_to(ran)}")
    whole = "; ".join(said)
    these = "the other" if too_much else "these"
    return f"{whole[:1].upper()}{whole[1:]}: {these} numbers say little about the system."


def overloaded(result: Result) -> bool:
    """Whether for a case even the lowest load was too much, whoever had the cores."""
    return any(_too_much(case) for _, case in result.cases())


def _too_much(case: Case) -> bool:
    return any(one.load_pps is None and one.upper_bound_pps is not None for one in case.throughput)


def mostly_disturbed(result: Result) -> bool:
    """Whether so much of the time was left out that the numbers say little."""
    return left_out_share(summary.trials(result)) > HEADLINE_SHARE


def lost_to(ran: Sequence[Trial]) -> str:
    """ "was taken by others, most by python (4711)", "…, most by 626 threads called cc1"."""
    found: defaultdict[str, Had] = defaultdict(Had)
    for trial in ran:
        for (_, by), one in slices.takers(trial.left_out, trial.duration_s * US_PER_S).items():
            found[by].add(one)
    if not found:
        return "was left out"
    most = max(found, key=lambda by: found[by].us)
    if most == SLOWED:
        return f"was left out, most since cores were {SLOWED_HOW}"
    return f"was taken by others, most by {slices.named(most, found[most].threads)}"


def sentences(result: Result) -> list[str]:
    """Empty when the machine was quiet."""
    ran = list(summary.trials(result))
    return [*_left_out(ran), *_repeated(result, ran), *_state(result, ran), *_spread(result)]


def in_short(result: Result) -> str | None:
    """How far the machine disturbed the run, and what that means for its numbers; None: nothing is known."""
    ran = list(summary.trials(result))
    every = [row.throughput for row in summary.rows(result)]
    worse = sum(found.worse_state for found in every)
    wide = sum((rates.spread(found) or 0) > NOISY_SPREAD for found in every)
    out_s, whole_s = left_out_s(ran)
    said = []
    if out_s > NOISY_LEFT_OUT * whole_s:
        said.append(f"{out_s / whole_s:.0%} of the trials' time {lost_to(ran)}, and does not count")
    if worse:
        said.append(f"{worse} of {len(every)} rates may be higher in a better state of the machine")
    if wide:
        said.append(
            f"{wide} of {len(every)} rates have repeats more than {NOISY_SPREAD:.0%} apart, so that such "
            "differences say little"
        )
    if said:
        return f"The machine was noisy: {'; '.join(said)}."
    if whole_s and not sentences(result):
        return f"The machine was quiet: {numbers.percent(out_s / whole_s)} of the trials' time was left out."
    return None


def taken_us(trials: Sequence[Trial]) -> Counter[tuple[int, str]]:
    """By core, and by the program without its thread's number: how long it had the core."""
    found: Counter[tuple[int, str]] = Counter()
    for trial in trials:
        for place, one in slices.takers(trial.left_out, trial.duration_s * US_PER_S).items():
            found[place] += round(one.us)
    return found


def away_lines(result: Result) -> Iterator[list[str]]:
    """In the order of AWAY_HEAD: a line for each core and who had it, those with most first."""
    had: dict[tuple[int, str], list[tuple[float, str]]] = {}
    whole_s = 0.0
    for setup, case in result.cases():
        place = f"{setup.title}, {summary.sizes(case.frame)}"
        for trial in summary.measured(case):
            whole_s += trial.duration_s
            for (core, by), us in taken_us([trial]).items():
                had.setdefault((core, by), []).append((us / US_PER_S, place))
    ordered = sorted(had.items(), key=lambda item: -sum(seconds for seconds, _ in item[1]))
    for (core, by), spans in ordered[:AWAY_LINES]:
        seconds = sum(one for one, _ in spans)
        places: dict[str, float] = {}
        for one, place in spans:
            places[place] = places.get(place, 0.0) + one
        most, most_s = max(places.items(), key=lambda item: item[1])
        yield [
            str(core),
            _who(by),
            most,
            numbers.time_s(most_s),
            numbers.time_s(seconds),
            numbers.percent(seconds / whole_s if whole_s else None),
            str(len(spans)),
        ]


def takers(trials: Sequence[Trial]) -> str:
    """ "core 1: python3 1.20 s; core 0: the host 310.0 ms; others 2.0 ms": those with most first."""
    most = [(taken, us / US_PER_S) for taken, us in taken_us(trials).most_common()]
    said = [f"core {core}: {_who(by)} {numbers.time_s(seconds)}" for (core, by), seconds in most[:TAKERS]]
    rest_s = sum(seconds for _, seconds in most[TAKERS:])
    return "; ".join([*said, *([f"others {numbers.time_s(rest_s)}"] if most[TAKERS:] else [])])


def _who(by: str) -> str:
    return _NOT_PROGRAMS.get(by, by)


def _left_out(ran: Sequence[Trial]) -> Iterator[str]:
    out_s, whole_s = left_out_s(ran)
    if out_s > NOISY_LEFT_OUT * whole_s:
        times = f"{numbers.time_s(out_s)} of the {numbers.time_s(whole_s)}"
        taken = taken_us(ran)
        away_s, cores = taken.total() / US_PER_S, len({core for core, _ in taken})
        summed = f", summed over {cores} cores," if cores > 1 else ""
        away = f"slices around {numbers.time_s(away_s)}{summed} in which cores were away ({takers(ran)})"
        around = f": {away}, whole and with those behind them" if away_s else ""
        yield f"{times} of all trials ({out_s / whole_s:.0%}) were left out{around}."


def _repeated(result: Result, ran: Sequence[Trial]) -> Iterator[str]:
    invalid = [trial for trial in ran if not trial.valid]
    if len(invalid) > NOISY_TRIALS * len(ran):
        yield f"{len(invalid)} of {len(ran)} trials were invalid and not used."
    longer = [trial for trial in ran if _lasted_longer(trial, result)]
    if len(longer) > NOISY_TRIALS * len(ran):
        count = f"{len(longer)} of {len(ran)}"
        yield f"{count} trials lasted longer than asked for, to have enough undisturbed time."


def _lasted_longer(trial: Trial, result: Result) -> bool:
    """Than the longest that the lab asks for: of others it is not known how long they should have been."""
    asked = summary.measure_of(result)
    curve, search = asked.get("curve", {}), asked.get("trial", {})
    longest_s = curve.get("duration_s") if trial.purpose == "curve" else search.get("duration_s")
    return (
        trial.counted is not None
        and longest_s is not None
        and trial.purpose in ("search", "confirm", "curve")
        and trial.intended_duration_s > 1.001 * longest_s
    )


def _state(result: Result, ran: Sequence[Trial]) -> Iterator[str]:
    slow = _slower_times(ran)
    if len(slow) > NOISY_TRIALS * len(ran):
        yield (
            f"In {len(slow)} of {len(ran)} trials a core was slower than at its best "
            f"({statistics.median(slow):.2f} times in the median): a neighbour on its physical core, or a "
            "lower clock."
        )
    moved = list(_moved(ran))
    if moved:
        yield f"The hypervisor moved cores: {'; '.join(moved)}."
    every = [row.throughput for row in summary.rows(result)]
    worse = [found for found in every if found.worse_state]
    if worse:
        slower = [found.slower_times for found in worse if found.slower_times is not None]
        farther = [found.farther_times for found in worse if found.farther_times is not None]
        how = [f"{len(slower)} with cores up to {max(slower):.2f} times slower"] if slower else []
        if farther:
            how.append(
                f"{len(farther)} with cores up to {max(farther):.2f} times slower to pass data to each other"
            )
        yield (
            f"{len(worse)} of {len(every)} throughputs were only measured in a worse state of the machine: "
            f"{', '.join(how)}."
        )


def _slower_times(ran: Sequence[Trial]) -> list[float]:
    """Of each trial in which a core was slower in all that counts; of older ones in its mean."""
    found = [trial.slower_times for trial in ran if trial.slower_times is not None]
    older = [trial for trial in ran if trial.counted is None]
    times = [max(cores.values(), default=1.0) for cores in slowness(older)]
    return found + [one for one in times if one >= UNDIVIDED_SLOWED_TIMES]


def _moved(ran: Sequence[Trial]) -> Iterator[str]:
    """Each two cores whose distance changed."""
    seen: dict[str, list[float]] = {}
    for trial in ran:
        for pair, distance_cycles in trial.distances_cycles.items():
            seen.setdefault(pair, []).append(distance_cycles)
    for pair, cycles in sorted(seen.items()):
        core = pair.rpartition("-")[2]
        if max(cycles) > MOVED_TIMES * min(cycles):
            yield (
                f"what core {core} had took the first one {min(cycles):.0f} to {max(cycles):.0f} cycles to "
                f"read ({statistics.median(cycles):.0f} in the median)"
            )


def _spread(result: Result) -> Iterator[str]:
    wide = [row for row in summary.rows(result) if (rates.spread(row.throughput) or 0) > NOISY_SPREAD]
    if wide:
        worst = max(wide, key=lambda row: rates.spread(row.throughput) or 0)
        yield (
            f"{len(wide)} of {sum(1 for _ in summary.rows(result))} throughputs have repeats more than "
            f"{NOISY_SPREAD:.0%} apart; the widest is {worst.throughput.goal} of "
            f"{worst.setup.title}, "
            f"frame {frame_label(worst.case.frame)}: {rates.spread(worst.throughput):.0%}."
        )
