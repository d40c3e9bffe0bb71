# SPDX-License-Identifier: Apache-2.0
"""What the reports say beyond the stored numbers: ratios, flags, sums of drops, how quiet the machine was.

Every format takes these from here, so the same result never reads differently in two reports.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from weir.report import clock_text
from weir.store.result import Case, Drop, Result, Setup, Throughput, Trial, slowness

# A spread wider than this share of the median is worth a word. MLRsearch's own goal width here is 0.5 %.
NOISY_SPREAD = 0.05
# Likewise this share of the trials with loss that stalls of the host explain, or invalid.
NOISY_TRIALS = 0.05
# Stalls that take more of a trial than this are a slow loop, which is the system's own.
STALLED_SHARE_MAX = 0.02
# A core that takes so many times as long for the same work as at its best was slowed.
SLOWED_TIMES = 1.2


@dataclass(frozen=True)
class Row:
    """One throughput with the setup and case that it belongs to."""

    setup: Setup
    case: Case
    throughput: Throughput
    ratio: (
        float | None
    )  # load / load of the baseline, same chain, frame and goal; None: one of them is missing

    @property
    def flags(self) -> str:
        """Letters of `legend.FLAGS` that apply, in that order."""
        found = self.throughput
        marks = {"T": found.tester_bound, "S": found.stall_labelled, "I": found.status == "irregular"}
        return "".join(letter for letter, applies in marks.items() if applies)


def title(result: Result) -> str:
    """The lab's title, or its name."""
    return result.title.strip() or result.lab


def chains(result: Result) -> list[str]:
    """Names of the chains, in the order in which they were measured."""
    return list(dict.fromkeys(setup.chain for setup in result.setups))


def technologies(result: Result) -> list[str]:
    """Names of the technologies, or of the variants, likewise."""
    return list(dict.fromkeys(setup.name for setup in result.setups))


def frames(result: Result, chain: str | None = None) -> list[str]:
    """Names of the frame sizes, likewise, of one chain or of all."""
    chosen = [setup for setup in result.setups if chain in (None, setup.chain)]
    return list(dict.fromkeys(case.frame for setup in chosen for case in setup.cases))


def compares_chains(result: Result) -> bool:
    """Several chains under one technology: there is nothing else to compare them with than each other."""
    return len(technologies(result)) == 1 < len(chains(result))


def frame_label(frame: str) -> str:
    """ "64", "IMIX a7d4g": an IMIX genome (RFC 6985) with its runs counted, short enough for a column."""
    kind, _, genome = frame.partition(":")
    if kind != "imix":
        return frame
    runs = ((letter, len(list(same))) for letter, same in groupby(genome))
    return "IMIX " + "".join(letter + (str(count) if count > 1 else "") for letter, count in runs)


def goals(result: Result) -> list[str]:
    """Names of the search goals, strictest first as the lab gives them."""
    found = (t.goal for setup in result.setups for case in setup.cases for t in case.throughput)
    return list(dict.fromkeys(found))


def rows(result: Result) -> Iterator[Row]:
    """Every throughput, in stored order."""
    base = {
        (setup.chain, case.frame, t.goal): t.load_pps
        for setup in result.setups
        if setup.name == result.baseline
        for case in setup.cases
        for t in case.throughput
    }
    for setup in result.setups:
        for case in setup.cases:
            for found in case.throughput:
                reference = base.get((setup.chain, case.frame, found.goal))
                ratio = found.load_pps / reference if reference and found.load_pps is not None else None
                yield Row(setup, case, found, ratio)


def trials(result: Result) -> Iterator[Trial]:
    """Every trial that offered a load to find something out; the warm-up, which overloads, is none."""
    for setup in result.setups:
        for case in setup.cases:
            yield from measured(case)


def measured(case: Case) -> list[Trial]:
    """The same of one case."""
    delays = [trial for point in case.delays for trial in point.trials]
    return [trial for trial in (*case.trials, *case.curve, *delays) if trial.purpose != "calibration"]


def explained_by_stalls(trial: Trial) -> bool:
    """Whether no more packets were lost or left queued than arrived while the host had taken a core away."""
    lost = trial.offered - trial.delivered + trial.backlog
    stalled_s = sum(stall.total_us for stall in trial.stalls) / 1e6
    short = stalled_s <= STALLED_SHARE_MAX * trial.duration_s
    return trial.valid and short and 0 < lost <= trial.intended_load_pps * stalled_s


def switch(setup: Setup) -> str:
    """What switches the packets, in words."""
    return "no switch" if setup.datapath == "none" else setup.datapath


def drops_by_place(case: Case) -> list[Drop]:
    """Drops of all valid trials of a case, summed by place and reason, most first."""
    sums: dict[tuple[str, str], int] = {}
    for trial in measured(case):
        if trial.valid:
            for drop in trial.drops:
                key = drop.place, drop.reason
                sums[key] = sums.get(key, 0) + drop.packets
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [Drop(place=place, reason=reason, packets=packets) for (place, reason), packets in ordered]


def fidelity(result: Result) -> list[tuple[str, list[str]]]:
    """Each fidelity sentence once, with the setups ("direct PVP") that it is for; [] means all of them."""
    built = [setup for setup in result.setups if setup.refused is None]
    where: dict[str, list[str]] = {}
    for setup in built:
        for sentence in (*setup.fidelity, *clock_text.setup_clocks(setup)):
            where.setdefault(sentence, []).append(f"{setup.name} {setup.chain}")
    return [(sentence, [] if len(names) == len(built) else names) for sentence, names in where.items()]


def reasons(result: Result) -> list[str]:
    """One sentence for each case given up, each irregular throughput, each found with a caveat."""
    said = [
        f"{setup.name} {setup.chain}, frame {frame_label(case.frame)}: given up: {case.problem}"
        for setup in result.setups
        for case in setup.cases
        if case.problem is not None
    ]
    caveats: dict[tuple[str, str, str], list[str]] = {}
    for row in rows(result):
        found = row.throughput
        if found.status == "irregular" or found.why is not None:
            place = f"{row.setup.name} {row.setup.chain}, frame {frame_label(row.case.frame)}"
            why = found.why or "no reason was recorded"
            caveats.setdefault((place, found.status, why), []).append(found.goal)
    said += [
        f"{place}: {' and '.join(goals)} {status}: {why}" for (place, status, why), goals in caveats.items()
    ]
    return said


def refusals(result: Result) -> list[tuple[str, str]]:
    """Each refused technology once, with what is missing."""
    return list(dict.fromkeys((s.name, s.refused) for s in result.setups if s.refused is not None))


def noise(result: Result) -> list[str]:
    """Sentences about how much the machine disturbed the run; empty when it was quiet."""
    said = []
    ran = list(trials(result))
    hit = [trial for trial in ran if explained_by_stalls(trial)]
    if hit and len(hit) > NOISY_TRIALS * len(ran):
        longest_us = max(stall.longest_us for trial in hit for stall in trial.stalls)
        said.append(
            f"In {len(hit)} of {len(ran)} trials the host took a polling core away for long enough to "
            f"explain the loss (longest gap {longest_us:,.0f} µs)."
        )
    invalid = [trial for trial in ran if not trial.valid]
    if invalid and len(invalid) > NOISY_TRIALS * len(ran):
        said.append(f"{len(invalid)} of {len(ran)} trials were invalid and not used.")
    slowed = _slowed(ran)
    if slowed and len(slowed) > NOISY_TRIALS * len(ran):
        said.append(
            f"In {len(slowed)} of {len(ran)} trials a core took {SLOWED_TIMES:.1f} times or more as long for "
            f"the same work as at its best ({statistics.median(slowed):.2f} in the median): a neighbour on "
            "its physical core, or a lower clock."
        )
    wide = [row for row in rows(result) if (spread(row.throughput) or 0) > NOISY_SPREAD]
    if wide:
        worst = max(wide, key=lambda row: spread(row.throughput) or 0)
        said.append(
            f"{len(wide)} of {sum(1 for _ in rows(result))} throughputs spread by more than "
            f"{NOISY_SPREAD:.0%} over their repeats; the widest is {worst.throughput.goal} of "
            f"{worst.setup.name} {worst.setup.chain}, "
            f"frame {frame_label(worst.case.frame)}: {spread(worst.throughput):.0%}."
        )
    return said


def _slowed(ran: Sequence[Trial]) -> list[float]:
    """Of each trial in which a core was slowed: how many times as long it took as at its best in any."""
    times = [max(cores.values(), default=1.0) for cores in slowness(ran)]
    return [one for one in times if one >= SLOWED_TIMES]


def spread(found: Throughput) -> float | None:
    """(max - min) / median over the repeats; None without them."""
    if not found.load_pps or found.load_min_pps is None or found.load_max_pps is None:
        return None
    return (found.load_max_pps - found.load_min_pps) / found.load_pps


def farthest(found: Throughput) -> float | None:
    """Largest distance of a repeat from the median, as a share of it; None without a second repeat."""
    if not found.load_pps or found.load_min_pps is None or found.load_max_pps is None or found.repeats < 2:
        return None
    return max(found.load_max_pps - found.load_pps, found.load_pps - found.load_min_pps) / found.load_pps
