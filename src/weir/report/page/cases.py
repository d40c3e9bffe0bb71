# SPDX-License-Identifier: Apache-2.0
"""The evidence: for each setup and frame its trials, what counted of them, drops by place and reason, and
where the time went: in areas in and outside weir-dp, and on the cores as the kernel counts.

The lists of trials are long, so the page's script writes them from the embedded data when a case is opened.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from weir.report import numbers, rates, summary
from weir.report.page.markup import sheet, tag
from weir.results.result import AreaLoad, Case, CoreLoad, Result, Setup, Throughput, Trial
from weir.results.rounds import given_up, why_not_whole
from weir.results.trial import left_out_s


def cases(result: Result) -> Markup:
    """One fold for each setup, in it one for each frame size."""
    order = summary.technologies(result)
    folds = [
        _setup(setup, index, order.index(setup.name), result.fingerprint.tsc_hz)
        for index, setup in enumerate(result.setups)
        if setup.refused is None
    ]
    return tag("div", folds, class_="cases")


def _setup(setup: Setup, index: int, colour: int, tsc_hz: int) -> Markup:
    seconds = sum(case.seconds for case in setup.cases)
    trials = sum(len(summary.measured(case)) for case in setup.cases)
    facts = [summary.switch(setup), f"{trials} trials", numbers.seconds(seconds)]
    if setup.bring_up_s is not None:
        facts.insert(1, f"built in {setup.bring_up_s:.2f} s")
    line = tag(
        "summary",
        tag("i", class_=f"key k{colour % 6}"),
        tag("b", setup.title),
        tag("span", " · ".join(facts), class_="dim"),
    )
    return tag(
        "details",
        line,
        [_case(case, index, place, tsc_hz) for place, case in enumerate(setup.cases)],
        class_="fold",
    )


def _case(case: Case, setup_index: int, case_index: int, tsc_hz: int) -> Markup:
    every = summary.measured(case)
    invalid = sum(not trial.valid for trial in every)
    slower = sum(trial.slower_times is not None for trial in every)
    out_s, whole_s = left_out_s(every)
    facts = [f"{found.goal} {rates.said(found)}" for found in case.throughput]
    facts.append(f"{len(every)} trials")
    facts += [
        f"{count} {word}" for count, word in ((invalid, "invalid"), (slower, "in a slower state")) if count
    ]
    if out_s:
        facts.append(f"{numbers.time_s(out_s)} of {numbers.time_s(whole_s)} left out")
    line = tag(
        "summary",
        tag("b", summary.sizes(case.frame)),
        tag("span", " · ".join(facts), class_="dim"),
    )
    trials = tag(
        "div",
        tag("p", "The list of trials needs JavaScript.", class_="dim"),
        class_="trials",
        data_setup=setup_index,
        data_case=case_index,
    )
    body = [
        _problem(case),
        _found(case),
        _rounds(case),
        _ceiling(case),
        _drops(case),
        _originated(case),
        areas(case, tsc_hz),
        trials,
    ]
    return tag("details", line, body, class_="fold case")


def _problem(case: Case) -> Markup | None:
    if (why := why_not_whole(case)) is None:
        return None
    return tag("p", f"{'Given up' if given_up(case) else 'Not finished'}: {why}", class_="why")


def _found(case: Case) -> Markup | None:
    """Goals with what the summary table leaves out: the loss ratio that was measured, L1, repeats."""
    if not case.throughput:
        return None
    head = (
        "goal",
        "status",
        "Mpps",
        "L2 Gbit/s",
        "L1 Gbit/s",
        "bounds, Mpps",
        "goal loss ratio",
        "measured",
        "left out",
        "repeats",
    )
    lines = [
        [
            found.goal,
            _status(found),
            rates.mpps(found),
            rates.gbps(found),
            numbers.gbps(None if found.out_of_time else found.l1_bps),
            numbers.span_mpps(found.lower_bound_pps, found.upper_bound_pps),
            numbers.share(found.goal_loss_ratio),
            numbers.share(found.loss_ratio),
            numbers.percent(found.left_out_share),
            str(found.repeats),
        ]
        for found in case.throughput
    ]
    return sheet("What the search found", head, lines, text_columns=2)


def _status(found: Throughput) -> str:
    """With its state of the machine and what else to bear in mind."""
    said: str = "out of time" if found.out_of_time else found.status
    worse = rates.worse_state(found)
    if worse:
        said += f", cores {worse}"
    return said if found.why is None else f"{said}: {found.why}"


def _rounds(case: Case) -> Markup | None:
    """What each round found, and in which state of the machine."""
    lines = [
        [found.goal, rates.worse_state(one) or "best", str(one.round + 1), numbers.mpps(one.load_pps)]
        for found in case.throughput
        for one in found.rounds
    ]
    if not lines:
        return None
    return sheet("What each round found", ("goal", "state of the machine", "round", "Mpps"), lines, 2)


def _ceiling(case: Case) -> Markup | None:
    ceiling = case.ceiling
    if ceiling is None:
        return None
    text = (
        f"Tester alone: {numbers.rate(ceiling.max_pps)}. {ceiling.limited_by} "
        f"Latency floor {numbers.us(ceiling.latency_floor_us)}; "
        f"timestamps resolve {ceiling.timestamp_resolution_ns:.2g} ns."
    )
    return tag("p", " ".join((text, *summary.timing(case.clocks, physical=False))))


def _drops(case: Case) -> Markup:
    drops = summary.drops_by_place(case)
    if not drops:
        return tag("p", "No packet was dropped in a valid trial.")
    total = sum(drop.packets for drop in drops)
    lines = [
        [drop.place, drop.reason, numbers.count(drop.packets), f"{drop.packets / total:.1%}"]
        for drop in drops
    ]
    return sheet(
        "Where packets were dropped, all valid trials", ("place", "reason", "packets", "share"), lines, 2
    )


def _originated(case: Case) -> Markup | None:
    made = summary.originated_by_place(case)
    if not made:
        return None
    arrived = sum(trial.originated_arrived for trial in summary.measured(case) if trial.valid)
    lines = [[one.place, numbers.count(one.packets)] for one in made]
    title = f"Packets that functions made, all valid trials; {numbers.count(arrived)} reached the tester"
    return sheet(title, ("place", "packets"), lines, 1)


_OFFLOADED = "offloaded"
_AREAS = ("area", "kind", "core", "busy", "cycles a packet", "packets", _OFFLOADED, "dropped")
"""Cycles are of packets that the area handled itself."""
_CORES = (
    "core",
    "user",
    "system",
    "softirq",
    "stolen",
    "idle",
    "frames",
    "backlog full",
    "squeezed",
    "accounted",
)


def areas(case: Case, tsc_hz: int) -> list[Markup]:
    """Of the trial at the highest load that has a ledger; none without one."""
    ledgered = [trial for trial in case.ledgered if trial.duration_s]
    if not ledgered or not tsc_hz:
        return []
    trial = max(ledgered, key=lambda one: one.intended_load_pps)
    load = numbers.rate(trial.offered / trial.duration_s)
    title = f"Where the time went, {load} offered"
    offloads = any(area.offloaded for area in trial.areas)
    columns = tuple(one for one in _AREAS if offloads or one != _OFFLOADED)
    lines = [list(_area(area, trial, tsc_hz, offloads=offloads)) for area in trial.areas]
    found = [sheet(title, columns, lines, 2)]
    if trial.cores:
        found.append(sheet("The cores meanwhile", _CORES, [_core(core) for core in trial.cores], 0))
    return found


def _area(area: AreaLoad, trial: Trial, tsc_hz: int, *, offloads: bool) -> Iterator[str]:
    yield area.name
    yield area.kind
    yield str(area.core)
    yield f"{min(1.0, area.own_cycles / (trial.duration_s * tsc_hz)):.0%}"
    yield f"{area.own_cycles / area.handled:.0f}" if area.handled else numbers.NONE
    yield numbers.count(area.packets) if area.packets else numbers.NONE
    if offloads:
        yield numbers.count(area.offloaded) if area.offloaded else numbers.NONE
    yield numbers.count(area.dropped)


def _core(core: CoreLoad) -> list[str]:
    seconds = (core.user_s, core.system_s, core.softirq_s, core.steal_s, core.idle_s)
    return [
        str(core.core),
        *(f"{one / core.window_s:.0%}" for one in seconds),
        *(numbers.count(one) for one in (core.frames, core.dropped, core.squeezed)),
        f"{core.accounted:.0%}",
    ]
