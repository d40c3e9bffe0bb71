# SPDX-License-Identifier: Apache-2.0
"""When a trial must not be used, and why (rule 3 of docs/design/method.md).

A fault is of one of eight kinds, because each asks for something else:

- *tester*: the tester could not keep up. A search takes the load as too high for the tester, never for the
  system under test, and a throughput bounded by it is tester-bound.
- *altered*: an interface of the system under test is not what was built, so that something else was measured.
  A throughput bounded by it is irregular.
- *held*: the system under test was not empty: packets still came when the trial was given up, or those of an
  earlier one came in it. Likewise.
- *accounting*: packets are missing or too many, so that the counters cannot be believed. Likewise.
- *pacing*: a capture's gaps made another load due than was asked for. Likewise.
- *host*: other programs took a polling core away for much of the trial. Likewise.
- *frames_changed*: a frame arrived with another payload than it was sent with. Likewise.
- *gone*: a port disappeared; nothing more can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.base.si import MS_PER_S, NS_PER_S, US_PER_S
from weir.measure.accounting import RECEIVER_REASONS, Balance
from weir.measure.counting import ENOUGH_SHARE, Counting
from weir.measure.emptied import LONGEST_S
from weir.measure.tester import Stream
from weir.protocol.traffic_results import TrafficResult
from weir.results import slices
from weir.results.slices import ITSELF, QUOTA, SLOWED, SLOWED_HOW
from weir.results.trial import Doubted, Trial, behind_earlier

SHORTFALL_RATIO = 0.001
STRETCH_RATIO = 0.01
UNTIMED_RATIO = 0.001
EARLIER_RATIO = 0.01
"""With more of earlier packets losses may be theirs. Fewer may be those that flows were learned with."""
# One stall of the host is no stretch: gaps of up to 1 ms are usual on a virtual machine.
STRETCH_FLOOR_S = 0.002
SAID_IN_MS_BELOW_S = 0.1
UNEVEN_RATIO, UNEVEN_PACKETS = 0.05, 2
"""Of what a load asks for, and more than that: a capture's gaps may make so many more or fewer due."""
_ADVICE = {
    ITSELF: "let trials last longer (`duration_s`), or leave a core that the lab does not use",
    QUOTA: "run it without that limit (`weir doctor` tells how)",
}
_SHORTER = "Give it shorter queues, or send less: lower loads, or a lower `measure.max_load_pps`."
_LONGER = (
    "If it holds each packet for so long, wait longer for the next one: `measure.trial.drain_ms`, of RFC 2544"
    " `measure.rfc2544.residual_s`."
)
_HELD = (
    f"Packets still came {LONGEST_S:.0f} s after its end: the system under test holds more than it forwards"
    f" in that time, or sends it again and again. {_SHORTER}"
)


FaultKind = Literal["tester", "altered", Doubted, "pacing", "host", "gone"]


@dataclass(frozen=True)
class Fault:
    """Why a trial is invalid: a sentence with the number and what to do."""

    kind: FaultKind
    sentence: str


def faults(
    counts: Balance,
    result: TrafficResult,
    streams: Sequence[Stream],
    duration_s: float,
    *,
    counted: Counting | None = None,
    wanted_s: float | None = None,
    asked: Mapping[int, float] | None = None,
    gone_ports: Sequence[str] = (),
    altered: Sequence[str] = (),
    was_empty: bool = True,
    is_empty: bool = True,
    as_fast_as_possible: bool = False,
    reset: bool = False,
) -> list[Fault]:
    """All that is wrong with a trial, worst first.

    `counted`: what of it counts, of which there should be `wanted_s`; None: all. `asked`: packets that the
    load asks for, by stream, where gaps are a capture's. `gone_ports`: those of the
    system under test. `altered`: what of its interfaces changed. `was_empty`, `is_empty`: nothing came any
    more when the account of the trial before it, and its own, was closed. A trial `as_fast_as_possible` has
    no schedule to miss. `reset`: something of the system under test was reset in the trial, and its counters
    with it: what nobody has counted is lost, and only packets too many are a fault.
    """
    found: list[Fault] = []
    gone = sorted({*result.gone_ports, *gone_ports})
    if gone:
        names = ", ".join(gone)
        found.append(Fault("gone", f"Port {names} disappeared during the trial: deploy the chain again."))
    if altered:
        found.append(
            Fault(
                "altered",
                f"{'; '.join(altered)}: that is not the chain that was built. Look at what the function, or"
                " somebody else, does to it.",
            )
        )
    unbalanced = counts.unaccounted < 0 or (counts.unaccounted > 0 and not reset)
    earlier = sum(stream.late_from_earlier_run for stream in result.streams)
    behind = earlier > counts.offered * EARLIER_RATIO and counts.delivered < counts.offered
    if earlier and (unbalanced or behind or not was_empty or not is_empty):
        # Its packets came out in place of this one's, of which no account can tell what became.
        found.append(Fault("held", f"{behind_earlier(earlier)}. {_SHORTER} {_LONGER}"))
    elif not is_empty:
        found.append(Fault("held", _HELD))  # the account is not closed, and need not balance
    elif unbalanced:
        found.append(_unaccounted(counts))
    duplicates = sum(stream.duplicates for stream in result.streams)
    if duplicates:
        found.append(
            Fault(
                "accounting",
                f"{duplicates} packets arrived more than once: look for a loop or for flooding in the system"
                " under test.",
            )
        )
    found += _changed(result, streams)
    found += _uneven(result, streams, asked or {})
    if counted is not None and wanted_s is not None:
        found += _disturbed(counted, wanted_s, duration_s)
    if not as_fast_as_possible:
        found += _late(counts, result, duration_s, counted)
    found += _receiver(counts, streams)
    found += _card_clocks(result, streams)
    found += _before_sending(result, streams)
    return found


def _unaccounted(counts: Balance) -> Fault:
    if counts.unaccounted > 0:
        said = f"{counts.unaccounted} of {counts.offered} packets were neither delivered nor counted lost"
    else:
        said = f"{-counts.unaccounted} more packets than the {counts.offered} offered were delivered or lost"
    return Fault("accounting", f"{said}: a place that drops is not counted, or other traffic runs there.")


def _changed(result: TrafficResult, streams: Sequence[Stream]) -> list[Fault]:
    """Frames on the wire that are not those that were sent."""
    to = {stream.id: stream.to for stream in streams}
    found: list[Fault] = []
    for stream in result.streams:
        sample = stream.frame_sample
        if sample is None or sample.first is None:
            continue
        first = sample.first
        what = {
            "length": f"a payload of {first.received} bytes, not {first.expected}",
            "payload": f"{first.received:#04x} in place of {first.expected:#04x} at byte"
            f" {first.offset_bytes} of its payload",
            "trailer": f"{first.received} bytes behind its IP packet, from byte {first.offset_bytes} of its"
            " payload on",
        }[first.what]
        found.append(
            Fault(
                "frames_changed",
                f"{sample.changed} of {sample.sampled} sampled frames reached {to[stream.id]} changed (packet"
                f" {first.sequence}: {what}): look for a function or a driver that pads, cuts, joins or"
                " rewrites frames.",
            )
        )
    return found


def _uneven(result: TrafficResult, streams: Sequence[Stream], asked: Mapping[int, float]) -> list[Fault]:
    """Each trial begins with a file's first frame: the rate of the file's beginning need not be its mean."""
    direction = {stream.id: stream.direction for stream in streams}
    return [
        Fault(
            "pacing",
            f"By the capture's gaps {stream.intended:,} packets were due {direction[stream.id]}, not the"
            f" {asked[stream.id]:,.0f} of the load: the file does not begin at its mean rate. Let trials last"
            " for many times the file (`duration_s`), at the lowest load too (`measure.min_load`), or leave"
            " `pacing: recorded` out.",
        )
        for stream in result.streams
        if stream.id in asked
        and abs(stream.intended - asked[stream.id]) > UNEVEN_RATIO * asked[stream.id] + UNEVEN_PACKETS
    ]


def sent_all(trial: Trial) -> bool:
    """Whether its tester sent what was asked for, in the time that counts."""
    return trial.counted_short <= SHORTFALL_RATIO * trial.counted_due


def _late(counts: Balance, result: TrafficResult, duration_s: float, counted: Counting | None) -> list[Fault]:
    """Not what the tester could not send since its core was away."""
    found: list[Fault] = []
    short = counts.intended - counts.offered if counted is None else counted.short
    away_s = counted.away_s if counted is not None else 0.0
    due = counts.intended if counted is None else counted.record.offered + short
    if short > due * SHORTFALL_RATIO:
        found.append(
            Fault(
                "tester",
                f"The tester sent {short} of {due} packets too few"
                f" ({short / due:.2%}; at most {SHORTFALL_RATIO:.1%} is allowed): lower the load"
                " or give the tester a core of its own.",
            )
        )
    took_s = result.tx_duration_ns / NS_PER_S
    if took_s - duration_s > max(duration_s * STRETCH_RATIO, STRETCH_FLOOR_S) + away_s:
        found.append(
            Fault(
                "tester",
                f"Sending took {took_s:.4f} s instead of {duration_s:.4f} s: lower the load or give the"
                " tester a core of its own.",
            )
        )
    return found


def _disturbed(counted: Counting, wanted_s: float, lasted_s: float) -> list[Fault]:
    """Too little time in which every core was there."""
    seconds = counted.record.seconds
    behind = counted.short_recovering
    if seconds >= ENOUGH_SHARE * wanted_s and behind <= SHORTFALL_RATIO * max(1, counted.record.offered):
        return []
    due_pps = (counted.record.offered + counted.short + behind) / lasted_s
    if seconds >= ENOUGH_SHARE * wanted_s and behind > due_pps * counted.away_s:
        return [
            Fault(
                "tester",
                f"The tester was {behind} packets behind at the end, more than were due while its core was"
                " away: lower the load, or give the tester a core of its own.",
            )
        ]
    if seconds >= ENOUGH_SHARE * wanted_s:
        return [
            Fault(
                "tester",
                f"The tester's core was away, and it was still {behind} packets behind at the end: lower the"
                " load, or end what else runs there.",
            )
        ]
    by = slices.takers(counted.left_out, lasted_s * US_PER_S)
    enough_s = ENOUGH_SHARE * wanted_s
    undisturbed = f"Only {seconds:.3f} of {lasted_s:.3f} s were undisturbed ({enough_s:.3f} s would do)"
    if not by:
        return [Fault("host", f"{undisturbed}, and nothing says who had the cores: end what else runs.")]
    (core, most), had = max(by.items(), key=lambda item: item[1].us)
    slowed = f"core {core} was {SLOWED_HOW}"
    who = slowed if most == SLOWED else f"{slices.named(most, had.threads)} had core {core}"
    advice = _ADVICE.get(most, "end what else runs there")
    return [Fault("host", f"{undisturbed}: {who} for {_short(had.us / US_PER_S)}: {advice}.")]


def _short(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds >= SAID_IN_MS_BELOW_S else f"{seconds * MS_PER_S:.2f} ms"


def _receiver(counts: Balance, streams: Sequence[Stream]) -> list[Fault]:
    ports = {stream.to for stream in streams}
    dropped = [drop for drop in counts.drops if drop.place in ports and drop.reason in RECEIVER_REASONS]
    return [
        Fault(
            "tester",
            f"The tester's receiver lost {drop.packets} packets at {drop.place} ({drop.reason}): lower the"
            " load, or give the tester a core of its own or longer receive queues.",
        )
        for drop in dropped
    ]


def _before_sending(result: TrafficResult, streams: Sequence[Stream]) -> list[Fault]:
    """Delays below zero: the clocks of sending and of arrival do not fit together."""
    to = {stream.id: stream.to for stream in streams}
    return [
        Fault(
            "host",
            f"{stream.negative} of {stream.delivered} packets reached {to[stream.id]} before they were sent,"
            " by more than the clocks are uncertain: where a network card times arrivals, say"
            " `tester: {timestamps: counter}`; else the time-stamp counters of the cores differ"
            " (`dmesg | grep -i tsc`).",
        )
        for stream in result.streams
        if stream.negative
    ]


def _card_clocks(result: TrafficResult, streams: Sequence[Stream]) -> list[Fault]:
    """Delays by a network card's clock that are not those of all packets, or that a set clock made wrong."""
    delivered = {stream.id: stream.delivered for stream in result.streams}
    found: list[Fault] = []
    for receiver in result.receivers:
        packets = sum(delivered.get(stream.id, 0) for stream in streams if stream.to == receiver.port)
        if receiver.untimed > UNTIMED_RATIO * packets:
            found.append(
                Fault(
                    "tester",
                    f"{receiver.untimed} of {packets} packets reached {receiver.port} without a stamp of the"
                    " network card that can be true: say `tester: {timestamps: counter}`.",
                )
            )
        if receiver.clock_steps:
            found.append(
                Fault(
                    "host",
                    f"The clock of the network card at {receiver.port} was set during the trial, or could not"
                    " be read: end what sets it (ptp4l, phc2sys), or say `tester: {timestamps: counter}`.",
                )
            )
    return found
