# SPDX-License-Identifier: Apache-2.0
"""What the reports say beyond the stored numbers: ratios, flags, sums of drops, and in sentences what timed
packets and the least delay that the tester has.

Every format takes these from here, so the same result never reads differently in two reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weir.base.packet_rate import RateUnit, unit_of
from weir.base.words import counted
from weir.lab.frames import frame_label
from weir.report import numbers, rates
from weir.report.rates import ITSELF, NoRatio, Ratio, compared
from weir.results.result import ArrivalClock, Case, Drop, Originated, Result, Setup, Throughput, Trial


@dataclass(frozen=True)
class Row:
    """One throughput with the setup and case that it belongs to."""

    setup: Setup
    case: Case
    throughput: Throughput
    ratio: Ratio | None
    """To the baseline, same chain, frame and goal."""
    no_ratio: NoRatio | None
    """Why there is none."""

    @property
    def flags(self) -> str:
        """Letters of `rates.FLAGS` that apply, in that order."""
        return rates.flags(self.throughput)

    @property
    def ratio_text(self) -> str:
        """ "6.42", "≥24.4"; "1" of the baseline itself; a dash where there is none."""
        if self.ratio is None:
            return numbers.NONE
        return "1" if self.ratio is ITSELF else self.ratio.text


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
    cases = (case for setup in chosen for case in setup.cases)
    return list(dict.fromkeys(case.frame for case in cases if case.by_the_tester))


def built(result: Result) -> list[str]:
    """Names of the technologies, or variants, that were not refused."""
    return list(dict.fromkeys(setup.name for setup in result.setups if setup.refused is None))


def compares(result: Result) -> bool:
    """Whether several technologies, or variants, were built: else there is nothing to have a ratio to."""
    return len(built(result)) > 1


def compares_chains(result: Result) -> bool:
    """Several chains under one technology: there is nothing else to compare them with than each other."""
    return len(built(result)) == 1 < len(chains(result))


def way_title(result: Result) -> str:
    """What a column of them is headed with."""
    return "Variant" if any(setup.variant is not None for setup in result.setups) else "Technology"


def sizes(frame: str) -> str:
    """ "64 B", "IMIX a7d4g"."""
    label = frame_label(frame)
    return f"{label} B" if label.isdigit() else label


def goals(result: Result) -> list[str]:
    """Names of the search goals, strictest first as the lab gives them."""
    found = (t.goal for _, case in result.cases() for t in case.throughput)
    return list(dict.fromkeys(found))


def rate_unit(result: Result) -> RateUnit:
    """In which a run's throughputs are, side by side."""
    return unit_of(rates.greatest_pps(found for _, case in result.cases() for found in case.throughput))


def curve_unit(result: Result) -> RateUnit:
    """Likewise its trials at given loads."""
    return unit_of(trial.intended_load_pps for _, case in result.cases() for trial in case.curve)


def rows(result: Result) -> Iterator[Row]:
    """Every throughput, in stored order."""
    base = {
        (setup.chain, case.frame, t.goal): t
        for setup in result.setups
        if setup.name == result.baseline
        for case in setup.cases
        for t in case.throughput
    }
    for setup, case in result.cases():
        for found in case.throughput:
            ratio = compared(found, base.get((setup.chain, case.frame, found.goal)))
            if isinstance(ratio, Ratio):
                yield Row(setup, case, found, ratio, None)
            else:
                yield Row(setup, case, found, None, ratio)


def measure_of(result: Result) -> Mapping[str, Any]:
    """`measure` of the resolved lab; empty where a result has none."""
    found = result.spec.get("measure")
    return found if isinstance(found, dict) else {}


def trials(result: Result) -> Iterator[Trial]:
    """Every trial that offered a load to find something out; the warm-up, which overloads, is none, and
    what looks whether anything comes through is none."""
    for _, case in result.cases():
        yield from measured(case)


def measured(case: Case) -> list[Trial]:
    """The same of one case."""
    delays = [trial for point in case.delays for trial in point.trials]
    ahead = ("calibration", "preflight")
    return [trial for trial in (*case.trials, *case.curve, *delays) if trial.purpose not in ahead]


def duration(result: Result) -> str:
    """How long it took, or why nobody can say."""
    if result.finished_at is None:
        return "still measured, or killed"
    return numbers.seconds(result.seconds)


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


def originated_by_place(case: Case) -> list[Originated]:
    """Packets that functions made in all valid trials of a case, summed by place, most first."""
    sums: dict[str, int] = {}
    for trial in measured(case):
        for one in trial.originated if trial.valid else ():
            sums[one.place] = sums.get(one.place, 0) + one.packets
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [Originated(place=place, packets=packets) for place, packets in ordered]


def fidelity(result: Result) -> list[tuple[str, list[str]]]:
    """Each fidelity sentence once, with the setups ("direct PVP") that it is for; [] means all of them."""
    built = [setup for setup in result.setups if setup.refused is None]
    where: dict[str, list[str]] = {}
    for setup in built:
        for sentence in (*setup.fidelity, *setup_clocks(setup)):
            where.setdefault(sentence, []).append(setup.title)
    return [(sentence, [] if len(names) == len(built) else names) for sentence, names in where.items()]


OUTPUTS = "What programs said"
"""In files in the run's folder."""


def outputs(result: Result) -> list[str]:
    """Files beside the reports, with what programs of the user's said."""
    return [
        f"{one.node} of {setup.title}: {one.file}, {one.kept_bytes:,} bytes"
        + (f", the last of {one.said_bytes:,}" if one.said_bytes > one.kept_bytes else "")
        for setup in result.setups
        for one in setup.outputs
    ]


N4 = "Sessions by N4"
"""What control plane functions did."""


def n4(result: Result) -> list[str]:
    """A sentence for each function and deployment."""
    return [
        f"{one.function} of {setup.title}: {one.sessions:,} at the end, of {one.associations}"
        f" association{'' if one.associations == 1 else 's'}; {one.established:,} established,"
        f" {one.modified:,} modified, {one.deleted:,} deleted; requests: {one.accepted:,} accepted,"
        f" {one.refused:,} refused{_causes(one.refused_by)}, {one.repeated:,} repeated; ignored:"
        f" {one.not_associated:,} of peers not associated, {one.malformed:,} malformed"
        for setup in result.setups
        for one in setup.n4
    ]


def _causes(refused_by: Mapping[str, int]) -> str:
    listed = ", ".join(f"{cause.replace('_', ' ')} {count:,}" for cause, count in refused_by.items())
    return f" ({listed})" if listed else ""


LEFT_OUT_NAMED = 4
"""Cases of which it is said how many rounds they lack; of more only the number."""


def left_out(result: Result) -> str | None:
    """ "7 of 12 points (a case in one round) were left out: direct PVP 64, 2 of 3 rounds; …"; None: none. Of
    one host's part of a campaign: what nobody has measured."""
    campaign = result.campaign
    if campaign is None or not campaign.left_out:
        return None
    named = [
        f"{one.name} {one.chain} {one.frame}, {one.left_out} of {one.measured + one.left_out}"
        f" {'round' if campaign.rounds == 1 else 'rounds'}"
        for one in campaign.left_out[:LEFT_OUT_NAMED]
    ]
    rest = len(campaign.left_out) - LEFT_OUT_NAMED
    more = [f"and {counted(rest, 'case')} more"] if rest > 0 else []
    why = (
        f" when the budget of {numbers.seconds(campaign.budget_s)} ended"
        if campaign.budget_s and not result.interrupted
        else ""
    )
    whose = " of the campaign over all hosts" if campaign.shared is not None else ""
    points = f"{campaign.left_out_points} of {campaign.points_of_all} points{whose} (a case in one round)"
    return f"{points} were left out{why}: {'; '.join([*named, *more])}"


def refusals(result: Result) -> list[tuple[str, str]]:
    """Each refused technology once, with what is missing."""
    return list(dict.fromkeys((s.name, s.refused) for s in result.setups if s.refused is not None))


def setup_clocks(setup: Setup) -> list[str]:
    """Of all its cases, each sentence once."""
    physical = setup.topology is not None and setup.topology.wire == "physical"
    said = (sentence for case in setup.cases for sentence in timing(case.clocks, physical=physical))
    return list(dict.fromkeys(said))


def timing(clocks: Sequence[ArrivalClock], *, physical: bool) -> list[str]:
    """One sentence for each direction that differs. `physical`: a card's clock might have done it."""
    told: dict[str, list[str]] = {}
    for clock in clocks:
        told.setdefault(_sentence(clock, physical=physical), []).append(clock.direction.replace("-", " "))
    return [
        sentence if len(told) == 1 else f"{' and '.join(directions).capitalize()}: {sentence}"
        for sentence, directions in told.items()
    ]


def floors(result: Result) -> Iterator[str]:
    """For each setup the latency of the tester wired to itself, over its frame sizes."""
    for setup in result.setups:
        ceilings = [case.ceiling for case in setup.cases if case.ceiling is not None]
        found = [one.latency_floor_us for one in ceilings if one.latency_floor_us is not None]
        if not found:
            continue
        least, most = numbers.us(min(found)), numbers.us(max(found))
        coarsest_ns = max(one.timestamp_resolution_ns for one in ceilings)
        yield (
            f"{setup.title}: latency floor {least if least == most else f'{least} to {most}'}; "
            f"timestamps resolve {coarsest_ns:.2g} ns."
        )


def _sentence(clock: ArrivalClock, *, physical: bool) -> str:
    if clock.clock == "card":
        return (
            f"Arrivals by the network card's clock ({clock.driver}), which resolves "
            f"{clock.resolution_ns:.2g} ns and is known within {clock.uncertainty_ns:.0f} ns; times of "
            "sending by the time-stamp counter, before the card has the packet. This part of Weir was "
            "never run on hardware before."
        )
    why = f" The network card's own clock does not: {clock.why}." if physical and clock.why else ""
    return f"Software timestamps by the time-stamp counter, one for each burst.{why}"
