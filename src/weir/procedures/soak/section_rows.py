# SPDX-License-Identifier: Apache-2.0
"""What reports say of a soak, as rows and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from weir.base.packet_rate import unit_of
from weir.base.words import counted
from weir.procedures.soak.section_away import away_text, unknown_text
from weir.procedures.soak.section_events import events_text
from weir.procedures.soak.section_times import since, span
from weir.report import numbers, summary
from weir.results.result import Case, Result, Setup
from weir.results.soak import (
    BrokenLimit,
    Drift,
    Soak,
    SoakInterval,
    SoakPrefix,
    SoakStep,
    SoakStream,
)
from weir.results.trial import HELD

PREFIX_HEAD = ("P50", "P99", "P99.9", "P99.99", "max", "jitter max")
DROPS_SHOWN = 5
UNITS = {"us": "µs", "KiB": "KiB"}
MEANING = (
    "First part: what a run of that length would have shown. Windows: the greatest delay in each of the "
    "soak's parts of that length, one behind the other: least, median, most. After [vCPE], figure 10."
)


@dataclass(frozen=True)
class SoakRow:
    """A soak with the setup and case that it belongs to."""

    setup: Setup
    case: Case
    soak: Soak
    floors: int = 0
    """Throughput limits of the lab's service level, which no soak can judge."""


def soaks(result: Result) -> list[SoakRow]:
    """All of a run."""
    floors = len((result.spec.get("sla") or {}).get("throughput") or ())
    cases = ((setup, case, case.soak) for setup, case in result.cases())
    return [SoakRow(setup, case, soak, floors) for setup, case, soak in cases if soak is not None]


def lost_text(packets: int) -> str:
    """ "nothing lost", "12 lost"."""
    return "nothing lost" if packets == 0 else f"{numbers.count(packets)} lost"


def greatest_us(interval: SoakInterval) -> float | None:
    """Of any stream's latency; None while the load settles."""
    return max((one.latency.max_us for one in interval.streams if one.latency is not None), default=None)


def load_text(soak: Soak) -> str:
    """ "1.500 Mpps (50% PDR)", "0 to 1.500 Mpps (a schedule of 3 loads, again every 20 min 00 s)"."""
    if not soak.schedule:
        return f"{numbers.rate(soak.load_pps)} ({soak.load})"
    least_pps = min(step.load_pps for step in soak.schedule)
    unit = unit_of((soak.load_pps,))
    least = unit.text(least_pps) if least_pps else "0"
    round_s = sum(step.duration_s for step in soak.schedule)
    return (
        f"{least} to {unit.text(soak.load_pps)} {unit.label} (a schedule of {len(soak.schedule)} loads,"
        f" again every {span(round_s)})"
    )


SHORT_OF = 0.98
"""Of a load: less was sent where the tester lacked time, as where others have its core for long."""


def sent_pps(soak: Soak) -> float | None:
    """What was sent where that was less than the load; None: it was not, or loads followed each other."""
    if soak.schedule or not soak.measured_s or not soak.offered:
        return None
    pps = soak.offered / soak.measured_s
    return pps if pps < SHORT_OF * soak.load_pps else None


def facts(soak: Soak) -> Iterator[tuple[str, str]]:
    """Name and value, most important first."""
    short = sent_pps(soak)
    less = f"; {numbers.rate(short)} were sent" if short else ""
    yield "load", f"{load_text(soak)}{less}"
    yield "under load", f"{span(soak.measured_s)} of {span(soak.duration_s)}"
    counts = f"{numbers.count(soak.offered)} offered, {numbers.count(soak.delivered)} delivered"
    yield "packets", f"{counts}, {lost_text(soak.lost)}" if soak.offered else "none were sent"
    drops = _drops(soak)
    if drops:
        yield "dropped", drops
    yield "ledger", _ledger(soak)
    yield "packet buffers", _buffers(soak)
    worst = max(soak.intervals, key=lambda one: greatest_us(one) or 0.0, default=None)
    if worst is not None and greatest_us(worst) is not None:
        yield (
            "worst interval",
            f"number {worst.number}: {numbers.us(greatest_us(worst))} at {worst.at[11:19]} UTC",
        )
    yield "events", events_text(soak)
    yield "cores away", away_text(soak)
    looks = [one.look_ms for one in soak.intervals]
    if looks:
        yield "cost of a look", f"{sum(looks) / len(looks):.1f} ms, {max(looks):.1f} ms at most"


def findings(result: Result) -> Iterator[str]:
    """How long which load was carried and what it lost, and the slowest packets of the slower direction."""
    for row in soaks(result):
        soak = row.soak
        whole = f"of {span(soak.duration_s)} " if soak.measured_s < soak.duration_s - soak.interval_s else ""
        short = sent_pps(soak)
        load = load_text(soak).split(" (")[0]
        had = f"{numbers.rate(short)} of the {load} asked for" if short else load
        said = (
            f"{row.setup.title} had {had} for "
            f"{span(soak.measured_s)} {whole}at {summary.sizes(row.case.frame)}: {lost_text(soak.lost)} of "
            f"{numbers.count(soak.offered)} packets"
        )
        worst = worst_stream(soak.prefixes[-1]) if soak.prefixes else None
        if worst is not None and worst.latency is not None:
            delay = worst.latency
            seen = [one.latency.max_us for one in soak.prefixes[-1].streams if one.latency is not None]
            said += f"; P99 of the delay {numbers.us(delay.p99_us)}, at most {numbers.us(max(seen))}"
        yield f"{said}."
        faults = len(soak.faults)
        if faults:
            yield f"It fails for {faults} reason{'s' if faults > 1 else ''}: {soak.faults[0]}"
        yield f"Cores were away for {away_text(soak)}."


def _drops(soak: Soak) -> str:
    """By place and reason, most first, of the segments whose ledger was closed."""
    found: Counter[str] = Counter()
    for segment in soak.segments:
        for drop in segment.trial.drops if segment.trial is not None else ():
            if drop.reason != HELD:
                found[f"{drop.place} {drop.reason}"] += drop.packets
    said = [f"{name} {numbers.count(packets)}" for name, packets in found.most_common(DROPS_SHOWN)]
    return ", ".join([*said, *(["…"] if len(found) > DROPS_SHOWN else [])])


def _ledger(soak: Soak) -> str:
    if soak.unaccounted is None:
        return "not closed"
    text = "balanced to the packet" if soak.unaccounted == 0 else f"{soak.unaccounted} packets unaccounted"
    unclosed = sum(one.trial is None for one in soak.segments)
    return text + (f"; {unclosed} of {len(soak.segments)} segments not closed" if unclosed else "")


def _buffers(soak: Soak) -> str:
    if soak.buffers_lost is None:
        return "not compared"
    if soak.buffers_lost == 0:
        return "all back in their pools"
    most = max(one.buffers_kept_most for one in soak.segments)
    return f"{soak.buffers_lost} fewer in their pools than before; queues may keep {most}"


def remarks(row: SoakRow) -> Iterator[str]:
    """What to know first: faults, what was read late, what nobody knows, gaps, segments that are not whole,
    limits that are not judged."""
    soak = row.soak
    yield from soak.faults
    yield from (said for said in (_late(soak), unknown_text(soak)) if said is not None)
    if row.floors:
        limits = "limit on throughput is" if row.floors == 1 else "limits on throughput are"
        yield f"{row.floors} {limits} not judged: a soak keeps one load; `weir run` searches for rates."
    for was, segment in zip(soak.segments, soak.segments[1:], strict=False):
        if was.to_s is not None:
            gap_s = segment.from_s - was.to_s
            at = since(was.to_s)
            if was.ended == "killed":  # the load may have gone on for a while
                yield f"Nothing is known of the {span(gap_s)} before segment {segment.number}, from {at} on."
            else:
                yield f"A gap of {span(gap_s)} without load before segment {segment.number}, at {at}."
        yield from (f"Segment {segment.number}: {sentence}" for sentence in segment.differs)
    for segment in soak.segments:
        if segment.ended == "killed":
            yield (
                f"Segment {segment.number} was killed, or its store went away: what was under way then is "
                "not counted."
            )
        elif segment.ended == "open":
            yield "The last segment is open: the soak goes on, or was killed (then: `weir soak --resume`)."


def prefix_cells(prefix: SoakPrefix) -> list[str]:
    """Direction with the higher P99, in the order of PREFIX_HEAD; then least, median, most of windows."""
    worst = worst_stream(prefix)
    latency = worst.latency if worst else None
    jitter = worst.jitter if worst else None
    values: list[float | None] = (
        [latency.p50_us, latency.p99_us, latency.p999_us, latency.p9999_us, latency.max_us]
        if latency
        else [None, None, None, None, None]
    )
    values += [jitter.max_us if jitter else None]
    values += [prefix.max_us_least, prefix.max_us_median, prefix.max_us_most]
    return [numbers.in_us(value) for value in values]


STEP_HEAD = ("Mpps", "time", "offered", "lost", "loss", "P50", "P99", "P99.9", "max")
STEP_MEANING = "An interval belongs to the load in whose time its middle lies. Delay of the slower direction."


def step_lines(soak: Soak) -> Iterator[list[str]]:
    """A line for each load of a schedule: as it was asked for, then as STEP_HEAD says; none of one load."""
    for number, step in enumerate(soak.schedule, 1):
        offered = sum(stream.offered for stream in step.streams)
        lost = sum(stream.lost for stream in step.streams)
        worst = worst_stream(step)
        latency = worst.latency if worst else None
        delays = [latency.p50_us, latency.p99_us, latency.p999_us, latency.max_us] if latency else [None] * 4
        yield [
            f"{number}: {step.load}",
            numbers.mpps(step.load_pps) if step.load_pps else "0",
            span(step.seconds),
            numbers.count(offered),
            numbers.count(lost),
            numbers.share(lost / offered) if offered else "",
            *map(numbers.in_us, delays),
        ]


def worst_stream(prefix: SoakPrefix | SoakStep) -> SoakStream | None:
    """The direction with the highest P99."""
    measured = [one for one in prefix.streams if one.latency is not None]
    return max(measured, key=lambda one: one.latency.p99_us if one.latency else 0.0, default=None)


def drift_cells(drift: Drift) -> list[str]:
    """Subject, what, start, change with its interval, share. Nothing of it is below 0: a line that begins
    there does not fit, and has no start."""
    unit = UNITS.get(drift.unit, drift.unit)
    share = "" if drift.share is None else f"{drift.share:+.2%}"
    return [
        numbers.ARROWS.get(drift.subject, drift.subject),
        f"{drift.what}, {unit}" if unit else drift.what,
        _figure(drift.start) if drift.start >= 0 else "–",
        f"{_figure(drift.change, sign=True)} ({_figure(drift.change_low, sign=True)} … "
        f"{_figure(drift.change_high, sign=True)})",
        share,
    ]


def broken_text(one: BrokenLimit) -> str:
    """ "latency P99 →: 3 intervals broke 100 µs, the worst is 17: 153.2 µs (12, 17, 18)"."""
    arrow = numbers.ARROWS.get(one.direction or "", "")
    limit, worst = (
        (numbers.us(one.limit), numbers.us(one.worst))
        if one.unit == "us"
        else (numbers.share(one.limit), numbers.share(one.worst))
    )
    named = ", ".join(map(str, one.first_intervals)) + (
        ", …" if one.intervals > len(one.first_intervals) else ""
    )
    word = "interval" if one.intervals == 1 else "intervals"
    return (
        f"{one.criterion} {arrow}: {one.intervals} {word} broke {limit}; the worst is {one.worst_interval}:"
        f" {worst} ({named})"
    )


def _figure(value: float, *, sign: bool = False) -> str:
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 3
    return f"{value:+,.{digits}f}" if sign else f"{value:,.{digits}f}"


LATE_SHARE = 0.6
"""Of an interval, by which one is longer than the rest of a soak that does not divide makes its last one."""


def _late(soak: Soak) -> str | None:
    """That intervals are longer than asked for."""
    seconds = [one.to_s - one.from_s for one in soak.intervals]
    late = [one for one in seconds if one > (1 + LATE_SHARE) * soak.interval_s]
    if not late:
        return None
    of = f"{len(late)} of {counted(len(seconds), 'interval')} lasted"
    return (
        f"{of} longer than the {soak.interval_s:g} s asked for, up to {span(max(late))}: the machine was too "
        "busy to read counters when they were due. What is plotted is a second's, or a share."
    )
