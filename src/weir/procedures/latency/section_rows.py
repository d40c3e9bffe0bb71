# SPDX-License-Identifier: Apache-2.0
"""Rows for tables: delay at given loads (worst direction, worst repeat), verdicts on a service level, how
variants change the baseline's delays, what was tuned for it, and what stayed out of reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from weir.lab.frames import frame_label
from weir.report import numbers, summary
from weir.report.sections import PlainTable
from weir.results.result import (
    Case,
    DelayMeasure,
    DelayPoint,
    HostSetting,
    Outcome,
    Reduction,
    Result,
    Setup,
    StreamCount,
    Verdict,
)

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
HEAD = ("min", "mean", "P50", "P99", "P99.9", "max", "PDV P99.9", "IPDV P99", "jitter", "late P99")
MEANING = (
    "Delays in µs, one way, from when a packet was due, of the direction with the higher P99 (the arrow); "
    "of repeats all from the one valid trial with the highest P99. PDV: above the least delay (RFC 5481). "
    "IPDV: from one packet to the next, without sign (RFC 5481). jitter: RFC 3550, its highest value. late: "
    "how late the tester sent, which is part of the delay."
)

REDUCED_HEAD: dict[DelayMeasure, str] = {
    "mean": "mean",
    "p99": "P99",
    "max": "max",
    "ipdv_mean": "IPDV mean",
    "ipdv_max": "IPDV max",
    "jitter_max": "jitter",
}
REDUCED_MEANING = (
    "Change of the delay of the worse direction against the baseline in the round next to it: the median, "
    "and the least and greatest of the rounds. -50% is half the delay. IPDV, what many call jitter, is the "
    "change from one packet to the next (RFC 5481); jitter is RFC 3550's, its highest value."
)
UNSURE = "?: the rounds do not agree on more or less, or there is only one."


@dataclass(frozen=True)
class DelayRow:
    """One load of one case."""

    setup: Setup
    case: Case
    point: DelayPoint
    stream: StreamCount | None
    """Of the valid trials, or of the invalid ones if there are no others; None: none measured a delay."""
    valid: int
    """How many of its trials are."""

    @property
    def load(self) -> str:
        """ "50% PDR →", "first packets, 50% PDR →"."""
        text = self.what[-1]
        return f"{text} {numbers.ARROWS[self.stream.direction]}" if self.stream is not None else text

    @property
    def load_text(self) -> str:
        """The same, and what of its trials is invalid."""
        trials = len(self.point.trials)
        if not self.valid:
            return f"{self.load} (invalid)"
        return (
            self.load if self.valid == trials else f"{self.load} ({trials - self.valid} of {trials} invalid)"
        )

    @property
    def what(self) -> tuple[str, str, str]:
        """Chain, frame and load, without the direction: rows that have the same compare."""
        return self.setup.chain, self.case.frame, self.point.label

    @property
    def p99_us(self) -> float | None:
        """None where no delay was measured."""
        return self.stream.latency.p99_us if self.stream is not None and self.stream.latency else None

    def cells(self) -> list[str]:
        """In the order of HEAD."""
        stream = self.stream
        if stream is None or stream.latency is None:
            return [numbers.NONE] * len(HEAD)
        latency, pdv, ipdv, jitter = stream.latency, stream.pdv, stream.ipdv, stream.jitter
        return [
            *(
                numbers.in_us(value)
                for value in (
                    latency.min_us,
                    latency.mean_us,
                    latency.p50_us,
                    latency.p99_us,
                    latency.p999_us,
                    latency.max_us,
                    pdv.p999_us if pdv else None,
                    ipdv.p99_size_us if ipdv else None,
                    jitter.max_us if jitter else None,
                    stream.lateness.p99_us if stream.lateness else None,
                )
            )
        ]


def delay_rows(result: Result) -> Iterator[DelayRow]:
    """All loads of all cases, in their order."""
    for setup, case in result.cases():
        for point in case.delays:
            yield DelayRow(setup, case, point, point.worst, sum(trial.valid for trial in point.trials))


def delay_table(result: Result) -> PlainTable | None:
    """One row a technology, chain, frame and load; None where the lab asked for none."""
    lines = [
        [
            row.setup.name,
            row.setup.chain,
            frame_label(row.case.frame),
            row.load_text,
            *row.cells(),
        ]
        for row in delay_rows(result)
    ]
    head = (summary.way_title(result).lower(), "chain", "frame", "load", *(f"{name}, µs" for name in HEAD))
    return PlainTable("Delay at given loads", head, lines, 4, MEANING) if lines else None


def verdict_table(result: Result) -> PlainTable | None:
    """One row a limit, worst first; None where the lab promises nothing."""
    every = list(verdicts(result))
    lines = [
        [setup.name, setup.chain, frame_label(case.frame), *verdict_cells(verdict)]
        for setup, case, verdict in every
    ]
    way = summary.way_title(result).lower()
    head = (way, "chain", "frame", "limit on", "load", "found", "limit", "used", "verdict")
    why = not_judged(every)
    note = f"Not judged: {' '.join(why)}" if why else ""
    return PlainTable("Service level", head, lines, 5, note) if lines else None


def not_judged(every: Iterable[tuple[Setup, Case, Verdict]]) -> list[str]:
    """Why: a sentence for all that lack the same."""
    cases: dict[str, dict[str, None]] = {}
    for setup, case, verdict in every:
        if verdict.why is not None:
            name = f"{setup.title}, frame {frame_label(case.frame)}"
            cases.setdefault(verdict.why, {})[name] = None
    return [f"{'; '.join(names)}: {why}" for why, names in cases.items()]


def change_table(result: Result) -> PlainTable | None:
    """One row a chain, frame, load and way, each cell with its spread; None where nothing is compared."""
    lines = [
        [row.chain, row.frame, ", ".join(part for part in (row.load, row.remark()) if part), row.way]
        + [
            f"{change} ({of})" if of else change
            for change, of in zip(row.changes(), row.spreads(), strict=True)
        ]
        for row in reduction_rows(result)
    ]
    head = ("chain", "frame", "load", "variant", *REDUCED_HEAD.values())
    title = f"Change of the delay to {result.baseline}"
    return PlainTable(title, head, lines, 4, f"{REDUCED_MEANING} {UNSURE}") if lines else None


def judged(result: Result) -> str | None:
    """ "Service level: 2 of 8 limits MISSED; most of all latency P99 at …"; None without any."""
    every = list(verdicts(result))
    if not every:
        return None
    said = level([verdict for *_, verdict in every])
    missed = [each for each in every if each[2].outcome == "missed"]
    if not missed:
        return f"Service level: {said}{'' if said != 'met' else f', {len(every)} of {len(every)} limits'}."
    setup, case, worst = max(missed, key=lambda each: each[2].share or 0.0)
    what, where, value, limit, *_ = verdict_cells(worst)
    place = f"{f' at {where}' if where else ''} under {setup.title}, {summary.sizes(case.frame)}"
    return f"Service level: {said}; farthest off is {what}{place}: {value}, where the limit is {limit}."


def verdicts(result: Result) -> Iterator[tuple[Setup, Case, Verdict]]:
    """All of a run, those missed first, then those that could not be judged."""
    every = [(setup, case, verdict) for setup, case in result.cases() for verdict in case.verdicts]
    yield from sorted(every, key=lambda each: OUTCOMES.index(each[2].outcome))


def level(verdicts: Sequence[Verdict]) -> str:
    """ "met", "2 of 8 limits MISSED, 1 not judged"."""
    missed, unknown = (sum(one.outcome == what for one in verdicts) for what in ("missed", "not judged"))
    if missed:
        return f"{missed} of {len(verdicts)} limits MISSED" + (f", {unknown} not judged" if unknown else "")
    return f"{unknown} of {len(verdicts)} limits not judged" if unknown else "met"


def verdict_cells(verdict: Verdict) -> list[str]:
    """Limit on what, where, found, limit, share of it, met."""
    where = f"{verdict.load or ''} {numbers.ARROWS.get(verdict.direction or '', '')}".strip()
    return [
        verdict.criterion,
        where,
        "< " * verdict.below + _value(verdict.found, verdict.unit),
        _value(verdict.limit, verdict.unit),
        numbers.NONE if verdict.share is None else "> " * verdict.below + f"{verdict.share:.0%}",
        "MISSED" if verdict.outcome == "missed" else verdict.outcome,
    ]


def _value(value: float | None, unit: str) -> str:
    if unit == "us":
        return numbers.us(value)
    if unit == "pps":
        return numbers.rate(value)
    return numbers.share(value)


@dataclass(frozen=True)
class ReductionRow:
    """One frame size and load of one way."""

    chain: str
    frame: str
    load: str
    way: str
    found: dict[DelayMeasure, Reduction]

    def remark(self) -> str:
        """What hinders the comparison; empty: nothing."""
        same_load = all(one.same_load for one in self.found.values())
        loss_ratio = max(one.loss_ratio for one in self.found.values())
        said = [] if same_load else ["each at its own load"]
        if loss_ratio:
            said.append(f"loss {numbers.share(loss_ratio)}")
        return ", ".join(said)

    def changes(self) -> list[str]:
        """ "-63%", "+4%?", in the order of REDUCED_HEAD."""
        return [_change(self.found.get(measure)) for measure in REDUCED_HEAD]

    def spreads(self) -> list[str]:
        """ "-70 to -55%", likewise; empty of a single round."""
        return [_spread(self.found.get(measure)) for measure in REDUCED_HEAD]

    def values(self) -> list[str]:
        """ "24.1 → 9.0", in µs, likewise."""
        known = [self.found.get(measure) for measure in REDUCED_HEAD]
        return [
            numbers.NONE
            if one is None
            else f"{numbers.in_us(one.baseline_us)} → {numbers.in_us(one.found_us)}"
            for one in known
        ]


def reduction_rows(result: Result) -> Iterator[ReductionRow]:
    """Chain by chain, frame size by frame size; the ways at one load stand together."""
    rows: dict[tuple[str, str, str, str], dict[DelayMeasure, Reduction]] = {}
    for one in result.reductions:
        rows.setdefault((one.chain, one.frame, one.load, one.way), {})[one.measure] = one
    seen = [list(dict.fromkeys(key[at] for key in rows)) for at in range(4)]
    ordered = sorted(rows.items(), key=lambda item: [seen[at].index(one) for at, one in enumerate(item[0])])
    for (chain, frame, load, way), found in ordered:
        yield ReductionRow(chain, frame_label(frame), load, way, found)


def _change(one: Reduction | None) -> str:
    if one is None:
        return numbers.NONE
    agreed = one.rounds > 1 and (one.reduction_min > 0) == (one.reduction_max > 0)
    return numbers.change(-one.reduction) + ("" if agreed else "?")


def _spread(one: Reduction | None) -> str:
    if one is None or one.rounds < 2:
        return ""
    return f"{numbers.change(-one.reduction_max)} to {numbers.change(-one.reduction_min)}"


def host_of(result: Result) -> dict[str, list[HostSetting]]:
    """What became of `host`, of each way that was built; empty unless the ways differ in it."""
    built = {setup.name: setup.host for setup in result.setups if setup.host}
    different = {tuple((one.key, one.asked, one.applied) for one in each) for each in built.values()}
    return built if len(different) > 1 else {}


def applied(settings: list[HostSetting]) -> str:
    """ "pinning, hugepages, pmd_cores 1"; "nothing"."""
    done = [
        f"{one.key} {one.asked}" if one.key.endswith("cores") else one.key for one in settings if one.applied
    ]
    return ", ".join(done) or "nothing"


def out_of_reach(result: Result) -> list[str]:
    """What this machine cannot show: keys that were asked for in vain, and what no key changes."""
    hosts = host_of(result)
    why: dict[str, dict[str, list[str]]] = {}
    for name, settings in hosts.items():
        for one in settings:
            if one.why is not None:
                key = f"{one.key}, in part" if one.applied else one.key
                why.setdefault(key, {}).setdefault(one.why, []).append(name)
    said = [
        f"{key} ({', '.join(names)}): {reason}"
        for key, reasons in why.items()
        for reason, names in reasons.items()
    ]
    return said + [f"{one.subject}: {one.what}" for one in result.shortfalls if one.subject not in why]


def host_lines(result: Result) -> list[list[str]]:
    """A line for each key that any way asked for: the key, and what became of it in each."""
    hosts = host_of(result)
    every = [one for settings in hosts.values() for one in settings]
    keys = dict.fromkeys(one.key for one in every if one.asked is not None)
    return [
        [
            key,
            *(
                _became(next((one for one in settings if one.key == key), None))
                for settings in hosts.values()
            ),
        ]
        for key in keys
    ]


def _became(one: HostSetting | None) -> str:
    if one is None or one.asked is None:
        return numbers.NONE
    if one.applied:
        return one.asked if one.key.endswith("cores") else "yes" if one.why is None else "in part"
    return f"{one.asked}: no" if one.why else "no"
